import assert from "node:assert/strict";
import { test } from "node:test";

import { windows } from "../../core/text/windows.js";
import { Words } from "../../core/text/words.js";
import { GoldenFolder, SMALL } from "./golden_folder.js";
import { randomNumbers } from "./random_numbers.js";

// Texts of a million UTF-16 units that a person may paste: no error, and time in proportion to the length.
const UNITS = 1_000_000;
const MOST_SECONDS = 20; // processor time on a slow machine; quadratic time would be hours
const NAMES = ["small-en", "characters-accents", "characters-uncased", "japanese", "mediapipe"];
const golden = new GoldenFolder(SMALL);
const tokenizers = NAMES.map((name) => golden.case(name).tokenizer());

const UNITS_OF_TEXTS = {
  "ordinary words": "The quick brown fox, don't jump! ",
  "only emoji": "\u{1F469}\u200d\u{1F469}\u200d\u{1F467}\u{1F600}\u{1F44D}\u{1F3FD}",
  "right-to-left": "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd \u202e\u0627\u200f",
  "lone surrogates": "\ud83d\ud83d\ude00\ude00a\udc00\ud800",
  "zero-width joiners": "\u200d\u200c\ufeff\u2060\u200b",
  "one word": "supercalifragilistic",
  "unknown ideographs": "\ud840\udc0b\u4e00\u9fa5",
  "only marks": "\u0301\u0323\u302e\u0f73\u093c\u3099",
  "letters with marks": "e\u0301\u1112\u1161\u11ab\uff76\uff9e\uac00\u11a8",
  "vowels that may compose": "\u1161",
  "open brackets": "[",
  "special tokens": "[MASK] ",
  "spaces before an added token": " \t\n\u3000",
};

for (const [name, unit] of Object.entries(UNITS_OF_TEXTS)) {
  test(`a million units of ${name}`, () => check(unit.repeat(UNITS / unit.length + 1)));
}

test("a million random units", () => {
  const draw = randomNumbers(2);
  const parts = Array.from({ length: UNITS / 1000 }, () => {
    return String.fromCharCode(...Array.from({ length: 1000 }, () => draw() & 0xffff));
  });
  check(parts.join(""));
});

function check(text) {
  const before = process.cpuUsage();
  for (const tokenizer of tokenizers) {
    const tokens = tokenizer.tokens(text);
    checkPlaces(tokens, text, tokenizer.vocabulary.length);
    assert.ok(tokenizer.join(tokens, tokens, 128).size <= 128);
    assert.equal(windows(tokens.size, 100, 50).at(-1).end, tokens.size);
  }
  const words = Words.of(text);
  assert.equal(words.firstTokens(tokenizers[0].tokens(text)).length, words.owners.length);
  const { user, system } = process.cpuUsage(before);
  assert.ok((user + system) / 1e6 < MOST_SECONDS, `expected at most ${MOST_SECONDS} s, received ${(user + system) / 1e6}`);
}

function checkPlaces({ size, ids, starts, ends }, text, vocabularySize) {
  const isInsidePair = (place) => place > 0 && place < text.length && text.codePointAt(place - 1) > 0xffff;
  for (let token = 0; token < size; token++) {
    const isRight =
      ids[token] >= 0 && ids[token] < vocabularySize &&
      starts[token] >= (token > 0 ? starts[token - 1] : 0) && starts[token] < ends[token] && ends[token] <= text.length &&
      !isInsidePair(starts[token]) && !isInsidePair(ends[token]);
    if (!isRight) assert.fail(`token ${token} has id ${ids[token]} and the place ${starts[token]} to ${ends[token]}`);
  }
}
