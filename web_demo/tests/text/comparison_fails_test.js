import assert from "node:assert/strict";
import { test } from "node:test";

import { Tokenizer, Tokens } from "../../core/text/tokenizer.js";
import { GoldenComparison } from "./golden_comparison.js";
import { GoldenFolder, SMALL } from "./golden_folder.js";

// The golden vectors tell a tokenizer with a fault from the right one.
const golden = new GoldenFolder(SMALL);

function mismatches(name, tokenizer) {
  return new GoldenComparison(golden.case(name), golden.texts, tokenizer).all().mismatches;
}

function assertDiffers(what, name, changes) {
  assert.ok(mismatches(name, golden.case(name).tokenizer(changes))[what] > 10, what);
}

/** A tokenizer whose tokens are changed on their way. */
class Changed extends Tokenizer {
  #right;
  #change;

  constructor(right, change) {
    super({ vocabulary: right.vocabulary, maxLength: right.maxLength, specialId: () => right.unkId });
    Object.assign(this, { padId: right.padId, clsId: right.clsId, sepId: right.sepId, maskId: right.maskId });
    this.#right = right;
    this.#change = change;
  }

  tokens(text) {
    return this.#change(this.#right.tokens(text), text);
  }
}

function changed(name, change) {
  return new Changed(golden.case(name).tokenizer(), change);
}

test("a tokenizer that changes nothing has no mismatches", () => {
  assert.deepEqual(mismatches("small-en", changed("small-en", (tokens) => tokens)), {});
});

test("accents that stay are found", () => assertDiffers("ids", "characters-uncased", { strip_accents: false }));

test("ideographs that are not split are found", () => assertDiffers("ids", "characters-cased", { tokenize_chinese_chars: false }));

test("capitals that stay are found", () => assertDiffers("ids", "small-en", { lowercase: false }));

test("added tokens without their fields are found", () => assertDiffers("offsets", "characters-uncased", { added_tokens: [] }));

test("one changed id of one text is found", () => {
  const chosen = golden.texts[0];
  const tokenizer = changed("small-en", (tokens, text) => {
    if (text === chosen) tokens.ids[0]++;
    return tokens;
  });
  assert.equal(mismatches("small-en", tokenizer).ids, golden.texts.filter((text) => text === chosen).length);
});

test("one changed offset of one text is found", () => {
  const chosen = golden.texts[0];
  const tokenizer = changed("small-en", (tokens, text) => {
    if (text === chosen) tokens.ends[tokens.size - 1]--;
    return tokens;
  });
  assert.equal(mismatches("small-en", tokenizer).offsets, golden.texts.filter((text) => text === chosen).length);
});

test("offsets of UTF-16 units in place of code points are found", () => {
  const tokenizer = changed("characters-cased", (tokens, text) => {
    const extra = (unit) => text.slice(0, unit).replace(/[^\ud800-\udbff]/g, "").length;
    return new Tokens(tokens.ids, tokens.starts.map((unit) => unit + extra(unit)), tokens.ends);
  });
  assert.ok(mismatches("characters-cased", tokenizer).offsets > 10);
});

test("a last token that is left out is found", () => {
  const tokenizer = changed("japanese", (tokens) => tokens.slice(0, Math.max(0, tokens.size - 1)));
  assert.ok(mismatches("japanese", tokenizer).ids > 10);
});
