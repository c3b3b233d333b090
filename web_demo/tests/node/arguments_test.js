import assert from "node:assert/strict";
import { test } from "node:test";

import { Arguments } from "../../node/arguments.js";
import { readPair } from "../../node/example_lines.js";
import { assertRefused } from "../assert_refused.js";

test("words and the values of options", () => {
  const given = new Arguments(["search", "m", "--top", "2", "t", "--column", "text"]);
  assert.deepEqual([given.size, given.get(0), given.get(1), given.get(2)], [3, "search", "m", "t"]);
  assert.equal(given.count("--top", 10), 2);
  assert.equal(given.text("--column"), "text");
  const plain = new Arguments(["search"]);
  assert.equal(plain.count("--top", 10), 10);
  assert.equal(plain.text("--column"), null);
});

test("counts are whole numbers from 1 on", () => {
  for (const text of ["0", "-1", "1.5", "1e3", "", "two", "3000000000"]) {
    assertRefused(`at least 1, received ${text}`, () => new Arguments(["--top", text]).count("--top", 1));
  }
});

test("shares are from 0 to 1", () => {
  for (const text of ["0", "1", "0.25", ".5", "1.0"]) {
    assert.equal(new Arguments(["--rerank-weight", text]).share("--rerank-weight", 0.5), Number(text));
  }
  assert.equal(new Arguments([]).share("--rerank-weight", 0.5), 0.5);
  for (const text of ["-0.1", "1.1", "", "half", "1e-1", "0x1"]) {
    assertRefused(`from 0 to 1, received ${text}`, () => new Arguments(["--rerank-weight", text]).share("--rerank-weight", 0.5));
  }
});

test("a pair has two texts and nothing else", () => {
  assert.deepEqual(readPair('{"pair": "b", "text": "a"}'), { text: "a", pair: "b" });
  for (const line of ["a", ' {"text": "a", "pair": "b"}', '{"text": "a"}', '{"text": "a", "pair": null}', "{", '{"text,pair": 1}']) {
    assert.equal(readPair(line), null, line);
  }
});
