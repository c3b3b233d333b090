import assert from "node:assert/strict";
import { test } from "node:test";

import { tokenizerOf } from "../../core/text/tokenizer_of.js";
import { assertRefused } from "../assert_refused.js";

const VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "wake", "me", "##up", "\u6771", "\u4eac"];

function idsOf(tokenizer, text) {
  return [...tokenizer.tokens(text).ids];
}

test("the default is an uncased WordPiece", () => {
  const tokenizer = tokenizerOf({}, VOCABULARY);
  assert.deepEqual(idsOf(tokenizer, "WAKEUP m\u00e9 [MASK]"), [5, 7, 6, 4]);
  assert.deepEqual([tokenizer.padId, tokenizer.unkId, tokenizer.clsId, tokenizer.sepId, tokenizer.maskId], [0, 1, 2, 3, 4]);
  assert.equal(tokenizer.maxLength, null);
  assert.deepEqual(tokenizer.vocabulary, VOCABULARY);
});

test("settings of a file", () => {
  const settings = {
    kind: "wordpiece",
    lowercase: false,
    strip_accents: null,
    tokenize_chinese_chars: true,
    unk_token: "[MASK]",
    model_max_length: 512,
  };
  const tokenizer = tokenizerOf(settings, VOCABULARY);
  assert.deepEqual(idsOf(tokenizer, "wake Me\u6771\u4eac"), [5, 4, 8, 9]);
  assert.equal(tokenizer.maxLength, 512);
  assert.equal(tokenizerOf({ model_max_length: 1e30 }, VOCABULARY).maxLength, null);
});

test("faults are one sentence that says what was expected and received", () => {
  const refuse = (part, settings, vocabulary = VOCABULARY) => assertRefused(part, () => tokenizerOf(settings, vocabulary));
  refuse("kind wordpiece, client_wordpiece, japanese or xlm_roberta", { kind: "elmo" });
  refuse("kind sentencepiece", { kind: "sentencepiece" });
  refuse("kind byte_level_bpe", { kind: "byte_level_bpe" });
  refuse("need MeCab", { kind: "japanese" });
  refuse("need MeCab", { kind: "japanese", subwords: "wordpiece" });
  refuse("received 'subwords'", { subwords: "character" });
  refuse("kind of a tokenizer as a text, received 5", { kind: 5 });
  refuse("lowercase of a tokenizer as true or false, received yes", { lowercase: "yes" });
  refuse("unk_token of a tokenizer as a text, received {\"a\":1}", { unk_token: { a: 1 } });
  refuse("the cls_token in the vocabulary", { cls_token: "<s>" });
  refuse("model_max_length of a tokenizer as a positive number", { model_max_length: 0 });
  refuse("mediapipe or task-library", { kind: "client_wordpiece" });
  refuse("mediapipe or task-library", { kind: "client_wordpiece", tokenize_as: "constructor" });
  refuse("unk_token [UNK]", { kind: "client_wordpiece", tokenize_as: "mediapipe", unk_token: "me" });
  refuse("an empty token", { kind: "client_wordpiece", tokenize_as: "mediapipe" }, ["", ...VOCABULARY]);
  refuse("list of objects with content", { added_tokens: "me" });
  refuse("list of objects with content", { added_tokens: ["me"] });
  refuse("list of objects with content", { added_tokens: [null] });
  refuse("list of objects with content", { added_tokens: [{ content: "me", lstrip: 1 }] });
  refuse("list of objects with content", { added_tokens: [{ content: "me", greedy: true }] });
  refuse("every added token in the vocabulary", { added_tokens: [{ content: "you" }] });
});

test("faults of the vocabulary", () => {
  const refuse = (part, vocabulary, settings = {}) => assertRefused(part, () => tokenizerOf(settings, vocabulary));
  refuse("expected a vocabulary, received none", []);
  refuse("'me' as tokens 6 and 10", [...VOCABULARY, "me"]);
  refuse("the mask_token in the vocabulary", VOCABULARY.filter((token) => token !== "[MASK]"));
  const accent = { added_tokens: [{ content: "\u0301", normalized: true }] };
  refuse("at least one character after normalization", [...VOCABULARY, "\u0301"], accent);
});

test("an empty token keeps its id", () => {
  assert.deepEqual(idsOf(tokenizerOf({}, ["", ...VOCABULARY]), "wake"), [6]);
});

test("names of Object.prototype are ordinary settings, tokens and words", () => {
  assertRefused("received 'toString'", () => tokenizerOf({ toString: 1 }, VOCABULARY));
  const tokenizer = tokenizerOf({}, [...VOCABULARY, "constructor", "__proto__"]);
  assert.deepEqual(idsOf(tokenizer, "constructor valueOf __proto__"), [10, 1, 1, 1, 1, 1, 1]);
  assertRefused("without '__proto__'", () => tokenizerOf({ unk_token: "__proto__" }, VOCABULARY));
});

test("a tokenizer has no memory of the texts before", () => {
  const tokenizer = tokenizerOf({}, VOCABULARY);
  const first = tokenizer.tokens("wakeup me");
  assert.deepEqual(idsOf(tokenizer, "me"), [6]);
  assert.deepEqual([...first.ids], [5, 7, 6]);
  assert.deepEqual([...first.starts], [0, 4, 7]);
  assert.deepEqual(idsOf(tokenizer, ""), []);
});

test("a mark that stays, of a character that is decomposed, has the place of the whole character", () => {
  // A half note is a note head and a stem, and the stem is no nonspacing mark.
  const { ids, starts, ends } = tokenizerOf({}, VOCABULARY).tokens("me \u{1d15e} \u{1d160}\u0301");
  assert.deepEqual([[...ids], [...starts], [...ends]], [[6, 1, 1], [0, 3, 6], [2, 5, 8]]);
});

test("an error leaves nothing behind for the next text", () => {
  const failing = (text) => ({
    length: text.length + 1,
    toString: () => text,
    charCodeAt: (at) => codeOf(text, at),
    codePointAt: (at) => codeOf(text, at),
  });
  const settings = [{}, { kind: "client_wordpiece", tokenize_as: "mediapipe" }, { kind: "japanese", subwords: "character" }];
  for (const tokenizer of settings.map((each) => tokenizerOf(each, VOCABULARY))) {
    const expected = tokenizer.tokens("me up");
    assert.throws(() => tokenizer.tokens(failing("wake up\u302e")), /at its end/); // a tone mark, which waits for others
    assert.deepEqual(tokenizer.tokens("me up"), expected);
  }
});

function codeOf(text, at) {
  if (at === text.length) throw new Error("at its end");
  return text.charCodeAt(at);
}
