import assert from "node:assert/strict";
import { test } from "node:test";

import { tokenizerOf } from "../../core/text/tokenizer_of.js";

// Words at the limit of their length, and letters at the limit of Python's version of Unicode. The expected tokens are those of Python.
const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
const BOLD_A = "\u{1d400}";
const UNK = 1;

function idsOf(settings, tokens, text) {
  return [...tokenizerOf(settings, [...SPECIAL, ...tokens]).tokens(text).ids];
}

function pieces(count) {
  return [5, ...new Array(count - 1).fill(6)];
}

test("a word has at most 100 characters", () => {
  for (const letter of ["e", BOLD_A]) {
    assert.deepEqual(idsOf({}, [letter, `##${letter}`], letter.repeat(100)), pieces(100));
    assert.deepEqual(idsOf({}, [letter, `##${letter}`], letter.repeat(101)), [UNK]);
  }
});

test("a word of a client has at most 100 bytes in UTF-8", () => {
  const settings = { kind: "client_wordpiece", tokenize_as: "mediapipe" };
  for (const [letter, most] of [["e", 100], ["\u00e9", 50], ["\u0e01", 33], [BOLD_A, 25]]) {
    assert.deepEqual(idsOf(settings, [letter, `##${letter}`], letter.repeat(most)), pieces(most));
    assert.deepEqual(idsOf(settings, [letter, `##${letter}`], letter.repeat(most + 1)), [UNK]);
  }
});

test("number signs are words, and no continuation", () => {
  assert.deepEqual(idsOf({}, ["##", "#"], "## #"), [6, 6, 6]);
});

test("a capital letter that Python does not know stays", () => {
  const settings = { kind: "japanese", subwords: "character", lowercase: true };
  assert.deepEqual(idsOf(settings, ["\ua7cb", "\u0264", "a"], "\ua7cbA"), [5, 7]);
});
