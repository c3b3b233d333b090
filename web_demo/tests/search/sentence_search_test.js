import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { KerasBertError } from "../../core/error.js";
import { IndexFile, OtherModelError } from "../../core/search/index_file.js";
import { SentenceSearch } from "../../core/search/sentence_search.js";
import { assertRefused, assertRejected } from "../assert_refused.js";
import { randomNumbers } from "../text/random_numbers.js";
import { randomVectors } from "./random_vectors.js";

const TEXTS = Array.from({ length: 20 }, (_, number) => `text ${number} \u{1F600}`);

/** A vector that depends on the text. */
function vectorOf(text) {
  const seed = [...text].reduce((sum, character) => (31 * sum + character.codePointAt(0)) % 99_991, 7);
  return randomVectors(seed, 16)();
}

const encode = async (text) => vectorOf(text);
const build = (report) => SentenceSearch.build("model", TEXTS, encode, report);

test("texts are found, and progress is told", async () => {
  const done = [];
  const search = await build((one, all, sofar) => done.push([one, all, sofar.search(vectorOf(TEXTS[0]), 3).length]));
  assert.deepEqual(done, TEXTS.map((_, number) => [number + 1, 20, Math.min(number + 1, 3)]));
  assert.equal(search.vectorBytes, 20 * (16 + 4));
  const matches = search.search(vectorOf(TEXTS[7]), 3);
  assert.equal(matches.length, 3);
  assert.equal(matches[0].index, 7);
  assert.equal(matches[0].text, TEXTS[7]);
  assert.ok(Math.abs(matches[0].score - 1) < 0.01);
});

test("building can be stopped", async () => {
  let done = 0;
  const search = await build(async (one) => {
    done = one;
    return one < 5;
  });
  assert.equal(search, null);
  assert.equal(done, 5);
  await assertRejected("at least one text", () => SentenceSearch.build("model", [], encode));
});

test("texts are added and removed", async () => {
  const search = await build();
  search.add("new", vectorOf("new"));
  search.removeAt(0);
  assert.equal(search.size, 20);
  const [best] = search.search(vectorOf("new"), 1);
  assert.deepEqual([best.index, best.text], [19, "new"]);
  assert.ok(search.search(vectorOf(TEXTS[0]), 20).every(({ text }) => text !== TEXTS[0]));
});

test("a saved index finds the same", async () => {
  const search = await build();
  const read = IndexFile.read(IndexFile.write(search), "model");
  assert.deepEqual(read.texts, search.texts);
  assert.equal(read.model, "model");
  for (const text of TEXTS) assert.deepEqual(read.search(vectorOf(text), 5), search.search(vectorOf(text), 5));
  const long = "more ".repeat(3000);
  for (let count = 0; count < 600; count++) read.add(count ? "more" : long, vectorOf("more"));
  assert.deepEqual(IndexFile.read(IndexFile.write(read), null).texts, [...TEXTS, long, ...Array(599).fill("more")]);
});

const GOLDEN = JSON.parse(readFileSync(new URL("../../../android_demo/testdata/index.json", import.meta.url), "utf-8"));

for (const [number, golden] of GOLDEN.entries()) {
  test(`index ${number} of Python is read, searched, added to and written as there`, () => {
    const bytes = Buffer.from(golden.file, "base64");
    const search = IndexFile.read(bytes, "0123456789abcdef");
    assert.ok(bytes.equals(IndexFile.write(search)));
    for (const [place, query] of golden.queries.entries()) {
      const found = search.search(Float32Array.from(query), 5);
      assert.deepEqual(found.map(({ index, text, document, start }) => [index, text, document, start]),
        golden.found[place].map(([index, , text, document, start]) => [index, text, document, start]));
      for (const [rank, { score }] of found.entries()) assert.ok(Math.abs(score - golden.found[place][rank][1]) < 1e-7);
    }
    const [text, vector] = golden.added;
    search.add(text, Float32Array.from(vector));
    assert.ok(Buffer.from(golden.file_after, "base64").equals(IndexFile.write(search)));
  });
}

test("an index of another model, version or kind is refused", async () => {
  const bytes = IndexFile.write(await build());
  assertRefused("one of another model, which it does not name; open its model,", () => IndexFile.read(bytes, "other"));
  const named = IndexFile.write(new SentenceSearch("model", 3, { openedAs: "search" }));
  assertRefused("one of another model, named 'search'; open that model,", () => IndexFile.read(named, "other"));
  assert.throws(() => IndexFile.read(named, "other"), OtherModelError);
  assertRefused("another file", () => IndexFile.read(Buffer.from("PK\u0003\u0004 and more"), "model"));
  assertRefused("one of version 7", () => IndexFile.read(bytes.slice().fill(7, 4, 5), "model"));
  assertRefused("cut short", () => IndexFile.read(new Uint8Array(0), "model"));
});

test("every damaged index is refused", async () => {
  const bytes = IndexFile.write(await build());
  const draw = randomNumbers(2);
  for (let place = 0; place < bytes.length; place++) {
    assertRefused("build the index again", () => IndexFile.read(bytes.subarray(0, place), "model"));
    const changed = bytes.slice();
    changed[place] += 1 + (draw() % 255);
    assert.throws(() => IndexFile.read(changed, "model"), KerasBertError, `a change of byte ${place} was not seen`);
  }
});

test("a length of 4 GB takes no memory", async () => {
  const bytes = IndexFile.write(await build());
  for (const place of [16, 20]) {
    const changed = Buffer.from(bytes);
    changed.writeInt32LE(2 ** 31 - 1, place);
    assertRefused("cut short", () => IndexFile.read(changed, "model"));
  }
});
