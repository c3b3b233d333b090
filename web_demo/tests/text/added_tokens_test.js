import assert from "node:assert/strict";
import { test } from "node:test";

import { tokenizerOf } from "../../core/text/tokenizer_of.js";

// The expected tokens are those of Python, where nothing else is said.
const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];

function tokenizerWith(...tokens) {
  return tokenizerOf({ added_tokens: tokens }, [...SPECIAL, "wake", "me", ...tokens.map((token) => token.content)]);
}

function assertTokens(tokenizer, text, expected) {
  const { ids, starts, ends } = tokenizer.tokens(text);
  assert.deepEqual(Array.from(ids, (id, token) => [tokenizer.vocabulary[id], starts[token], ends[token]]), expected, text);
}

test("white space between two tokens belongs to the first one that takes it", () => {
  const tokenizer = tokenizerWith({ content: "<left>", lstrip: true }, { content: "<right>", rstrip: true }, { content: "\u3000" });
  assertTokens(tokenizer, "me <right>  <left> me", [["me", 0, 2], ["<right>", 3, 12], ["<left>", 12, 18], ["me", 19, 21]]);
  assertTokens(tokenizer, "<right> \u3000 me", [["<right>", 0, 10], ["\u3000", 8, 9], ["me", 10, 12]]);
});

test("a token that is only white space may be taken by the one before", () => {
  const tokenizer = tokenizerWith({ content: "<right>", rstrip: true }, { content: "\u3000", lstrip: true });
  assertTokens(tokenizer, "<right>\u3000[SEP]\u3000me", [["<right>", 0, 8], ["[SEP]", 8, 13], ["\u3000", 13, 14], ["me", 14, 16]]);
});

test("of two tokens with the same normalized text, the first one is found", () => {
  // In Python it is one of them, and another one in another process.
  const tokens = [{ content: "M\u00c9X", normalized: true }, { content: "mex", normalized: true }];
  for (const listed of [tokens, tokens.toReversed()]) {
    const tokenizer = tokenizerOf({ added_tokens: listed }, [...SPECIAL, "M\u00c9X", "mex"]);
    assertTokens(tokenizer, "MEX mex M\u00c9X", [["M\u00c9X", 0, 3], ["M\u00c9X", 4, 7], ["M\u00c9X", 8, 11]]);
  }
});

test("a single word has no letter beside it, of one UTF-16 unit or two", () => {
  const tokenizer = tokenizerWith({ content: "now", single_word: true });
  assertTokens(tokenizer, "\u{1F600}now\u{1F600}", [["[UNK]", 0, 2], ["now", 2, 5], ["[UNK]", 5, 7]]);
  for (const text of ["\u{10400}now", "now\u{10400}", "snow"]) assertTokens(tokenizer, text, [["[UNK]", 0, text.length]]);
  assertTokens(tokenizer, "now\u0301", [["[UNK]", 0, 3]]);
});
