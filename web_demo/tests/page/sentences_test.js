import assert from "node:assert/strict";
import { test } from "node:test";

import { sentencesOf } from "../../page/worker/sentences.js";

const textsOf = (text) => sentencesOf(text).map(({ start, end }) => text.slice(start, end));

test("sentences and lines end a sentence, white space is left out", () => {
  assert.deepEqual(textsOf("The cat sat.  The dog ran!\r\n\n  The end "), ["The cat sat.", "The dog ran!", "The end"]);
});

test("a text without letters has no sentences, or strange ones, and does not fail", () => {
  assert.deepEqual(textsOf(" \n\t "), []);
  assert.deepEqual(textsOf("😀\u200d😀"), ["😀\u200d😀"]);
  assert.deepEqual(textsOf("\ud83d"), ["\ud83d"]);
});

test("where a browser has no rules for sentences, lines are sentences", (context) => {
  const { Segmenter } = Intl;
  context.after(() => (Intl.Segmenter = Segmenter));
  Intl.Segmenter = undefined;
  assert.deepEqual(textsOf("One. Two.\nThree."), ["One. Two.", "Three."]);
});
