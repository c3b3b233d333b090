import assert from "node:assert/strict";
import { test } from "node:test";

import { Tokens } from "../../core/text/tokenizer.js";
import { Words } from "../../core/text/words.js";

test("words of a text", () => {
  const words = Words.of("Hi, U.S. \u6771\u4eac\u30bf\u30ef\u30fc\u{1F600}x");
  const expected = ["Hi", ",", "U", ".", "S", ".", "\u6771", "\u4eac", "\u30bf", "\u30ef", "\u30fc", "\u{1F600}x"];
  assert.deepEqual(words.words, expected);
  assert.equal(words.size, expected.length);
  assert.deepEqual(Array.from(words.starts, (start, number) => words.text.slice(start, words.ends[number])), expected);
  assert.equal(Words.of("").size, 0);
  assert.equal(Words.of(" \u3000").size, 0);
});

test("given words keep their pieces", () => {
  const words = Words.of(["U.S.", "", "don't"]);
  assert.equal(words.text, "U.S.  don't");
  assert.deepEqual([...words.starts], [0, 5, 6]);
  assert.deepEqual([...words.ends], [4, 5, 11]);
  assert.deepEqual([...words.owners], [0, 0, 0, 0, 2, 2, 2]);
});

test("first tokens of pieces", () => {
  const words = Words.of("ab cd \u200b ef");
  const tokens = new Tokens(new Int32Array(3), Int32Array.of(0, 1, 8), Int32Array.of(1, 4, 10));
  assert.deepEqual([...words.firstTokens(tokens)], [0, 1, -1, 2]);
  assert.deepEqual([...words.firstTokens(tokens.slice(0, 0))], [-1, -1, -1, -1]);
});
