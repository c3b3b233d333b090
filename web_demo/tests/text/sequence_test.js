import assert from "node:assert/strict";
import { test } from "node:test";

import { CodePoints } from "../../core/text/code_points.js";
import { tokenizerOf } from "../../core/text/tokenizer_of.js";
import { Truncation } from "../../core/text/truncation.js";
import { defaultStride, maxContext, Window, windows } from "../../core/text/windows.js";
import { assertRefused } from "../assert_refused.js";

const tokenizer = tokenizerOf({}, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "c", "d"]);

test("a pair has types and places of its own texts", () => {
  const encoded = tokenizer.encode("a b", "\u{1F600} c", 16);
  assert.deepEqual([...encoded.ids], [2, 5, 6, 3, 1, 7, 3]);
  assert.deepEqual([...encoded.typeIds], [0, 0, 0, 0, 1, 1, 1]);
  assert.deepEqual([...encoded.starts], [0, 0, 2, 0, 0, 3, 0]);
  assert.deepEqual([...encoded.ends], [0, 1, 3, 0, 2, 4, 0]);
  assert.deepEqual([...encoded.texts], [-1, 0, 0, -1, 1, 1, -1]);
  assert.equal(encoded.truncated, false);
  assert.equal(encoded.size, 7);
});

test("an empty second text is a pair", () => {
  assert.deepEqual([...tokenizer.encode("a", "", 16).ids], [2, 5, 3, 3]);
  assert.deepEqual([...tokenizer.encode("a", null, 16).ids], [2, 5, 3]);
});

test("truncation takes the end of a text away", () => {
  const encoded = tokenizer.encode("a b c d", null, 4);
  assert.deepEqual([...encoded.ids], [2, 5, 6, 3]);
  assert.ok(encoded.truncated);
  assert.deepEqual(Truncation.LONGEST_FIRST.lengths(9, 2, 5), [3, 2]);
  assert.deepEqual(Truncation.LONGEST_FIRST.lengths(9, 9, 5), [2, 3]);
  assert.deepEqual(Truncation.LONGEST_FIRST.lengths(9, 8, 5), [3, 2]);
  assert.deepEqual(Truncation.ONLY_FIRST.lengths(9, 4, 5), [1, 4]);
  assert.deepEqual(Truncation.of("only_second").lengths(4, 9, 5), [4, 1]);
});

test("lengths that cannot be are refused", () => {
  assertRefused("at least 2", () => tokenizer.encode("a", null, 1));
  assertRefused("at least 2", () => tokenizer.encode("a", null, NaN));
  assertRefused("at least 3", () => tokenizer.encode("a", "b", 2));
  assertRefused("a pair for truncation only_second", () => tokenizer.encode("a", null, 9, Truncation.ONLY_SECOND));
  assertRefused("tokens of both texts", () => tokenizer.encode("a b", "c d", 5, Truncation.ONLY_FIRST));
  assertRefused("longest_first, only_first, only_second", () => Truncation.of("middle"));
  assertRefused("room for at least one", () => windows(5, 0, 1));
  assertRefused("a stride from 1 to 4", () => windows(5, 4, 5));
  assertRefused("a stride from 1 to 4", () => windows(5, 4, 0));
});

test("windows overlap and end with the text", () => {
  assert.deepEqual(windows(8, 4, 3), [new Window(0, 4), new Window(3, 7), new Window(6, 8)]);
  assert.deepEqual(windows(4, 4, 1), [new Window(0, 4)]);
  assert.deepEqual(windows(0, 4, 2), [new Window(0, 0)]);
  assert.deepEqual([2, 3, 4, 5, 6, 7].map((place) => maxContext(place, new Window(3, 7))), [-1, 0, 1, 1, 0, -1]);
  assert.equal(defaultStride(384, 378), 250);
  assert.equal(defaultStride(384, 10), 5);
});

test("code points are those of Python", () => {
  const points = new CodePoints("a\ud83d\ude00\ude00\ud83db");
  assert.deepEqual([0, 1, 2, 3, 4, 5, 6].map((unit) => points.ofUnit(unit)), [0, 1, 1, 2, 3, 4, 5]);
  assert.equal(points.size, 5);
  assert.equal(new CodePoints("abc").size, 3);
  assert.equal(new CodePoints("").size, 0);
});
