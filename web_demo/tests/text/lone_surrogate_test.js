import assert from "node:assert/strict";
import { test } from "node:test";

import { GoldenFolder, SMALL } from "./golden_folder.js";
import { randomNumbers } from "./random_numbers.js";

// A lone surrogate is as a character that the tokenizer drops.
const golden = new GoldenFolder(SMALL);

for (const name of ["small-en", "characters-cased", "characters-accents", "characters-uncased"]) {
  test(`${name} drops a lone surrogate as a replacement character`, () => {
    const tokenizer = golden.case(name).tokenizer();
    const draw = randomNumbers(1);
    for (const text of golden.texts) {
      const at = placeOutsideOfPairs(text, draw);
      const expected = tokenizer.tokens(`${text.slice(0, at)}\ufffd${text.slice(at)}`);
      assert.deepEqual(tokenizer.tokens(`${text.slice(0, at)}\ud800${text.slice(at)}`), expected, JSON.stringify(text));
    }
  });
}

for (const [name, text] of [["japanese", "\u4e00\udc00\u4e01"], ["mediapipe", "wa\udc00ke"]]) {
  test(`${name} drops a lone surrogate`, () => {
    const tokenizer = golden.case(name).tokenizer();
    const received = tokenizer.tokens(text);
    assert.deepEqual(received.ids, tokenizer.tokens(text.replace("\udc00", "")).ids);
    assert.equal(received.ends.at(-1), text.length);
  });
}

function placeOutsideOfPairs(text, draw) {
  const at = draw() % (text.length + 1);
  return at > 0 && text.codePointAt(at - 1) > 0xffff ? at - 1 : at;
}
