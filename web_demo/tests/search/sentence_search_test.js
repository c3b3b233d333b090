import assert from "node:assert/strict";
import { test } from "node:test";

import { KerasBertError } from "../../core/error.js";
import { IndexFile } from "../../core/search/index_file.js";
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
  read.add("more", vectorOf("more"));
  assert.equal(IndexFile.read(IndexFile.write(read), null).size, 21);
});

test("the bytes are those of the Android demo", () => {
  const search = new SentenceSearch("m", 2);
  search.add("a\u00e9", Float32Array.of(1, 0));
  const bytes = Buffer.from(IndexFile.write(search)).toString("hex");
  const parts = ["4b425349", "00000001", "00000001", "6d", "00000002", "00000001", "00000003", "61c3a9", "3c010204", "7f00"];
  assert.equal(bytes.slice(0, -8), parts.join(""));
});

test("an index of another model, version or kind is refused", async () => {
  const bytes = IndexFile.write(await build());
  assertRefused("one of another model", () => IndexFile.read(bytes, "other"));
  assertRefused("another file", () => IndexFile.read(Buffer.from("PK\u0003\u0004 and more"), "model"));
  assertRefused("one of version 7", () => IndexFile.read(bytes.slice().fill(7, 7, 8), "model"));
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
  for (const place of [8, 17, 21, 25]) {
    const changed = Buffer.from(bytes);
    changed.writeInt32BE(2 ** 31 - 1, place);
    assertRefused("expected", () => IndexFile.read(changed, "model"));
  }
});
