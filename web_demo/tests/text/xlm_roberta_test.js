import assert from "node:assert/strict";
import { test } from "node:test";

import { tokenizerOf } from "../../core/text/tokenizer_of.js";
import { assertRefused } from "../assert_refused.js";
import { GoldenFolder, SMALL } from "./golden_folder.js";

const golden = new GoldenFolder(SMALL).case("xlm-roberta");
const { settings, vocabulary } = golden;
const tokenizer = golden.tokenizer();

function tokensOf(text) {
  return [...tokenizer.tokens(text).ids].map((id) => vocabulary[id]);
}

test("a pair has two separators, and types of 0", () => {
  const encoded = tokenizer.encode("the film", "good", 32);
  const [first, second] = ["the film", "good"].map((text) => [...tokenizer.tokens(text).ids]);
  assert.deepEqual([...encoded.ids], [0, ...first, 2, 2, ...second, 2]);
  assert.deepEqual(new Set(encoded.typeIds), new Set([0]));
  assert.equal(encoded.texts.at(-2), 1);
  assert.throws(() => tokenizer.encode("a", "b", 3), /at least 4, the special tokens/);
});

test("the mask takes the space before it", () => {
  assert.deepEqual(tokensOf("the <mask> film"), ["\u2581the", "<mask>", "\u2581film"]);
  const { starts, ends } = tokenizer.tokens("the  <mask>");
  assert.deepEqual([[...starts], [...ends]], [[0, 3], [3, 11]]);
});

test("characters are normalized, and places stay those of the text", () => {
  assert.deepEqual(tokensOf("the\u00a0\u{1d7d9}\u2460"), ["\u2581the", "\u2581", "1", "1"]);
  const { starts, ends } = tokenizer.tokens("cafe\u0301 \ufb01lm");
  assert.equal(ends.at(-1), 9);
  assert.ok([...starts].every((start, token) => start <= ends[token]));
});

test("a lone surrogate is as a replacement character", () => {
  assert.deepEqual(tokenizer.tokens("a\ud800b"), tokenizer.tokens("a\ufffdb"));
});

test("unknown characters in a row are one token", () => {
  assert.deepEqual(tokensOf("\u{13000}\u{13001}\u{13002} film"), ["\u2581", "<unk>", "\u2581film"]);
});

test("damaged models are refused with one sentence", () => {
  const refuse = (part, changes, tokens = vocabulary) => assertRefused(part, () => tokenizerOf({ ...settings, ...changes }, tokens));
  refuse("SentencePiece model in base64, received another text", { model: "?" });
  refuse("SentencePiece model in base64, received none", { model: "" });
  refuse("SentencePiece model in base64, received the first part of one", { model: settings.model.slice(0, 4000) });
  refuse("vocabulary of the SentencePiece model", {}, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]);
  refuse("settings of a xlm_roberta tokenizer, received 'lowercase'", { lowercase: true });
  refuse("the normalized 'qzq'", { added_tokens: [{ content: "<mask>" }, { content: "qzq", normalized: true }] }, [...vocabulary, "qzq"]);
  const bytes = Buffer.from(settings.model, "base64");
  for (let at = 7; at < bytes.length; at += 9973) {
    const damaged = Buffer.from(bytes);
    damaged[at] ^= 0x55;
    try {
      tokenizerOf({ ...settings, model: damaged.toString("base64") }, vocabulary).tokens("the caf\u00e9 \ufb01lm");
    } catch (error) {
      assert.equal(error.name, "KerasBertError", error.stack);
    }
  }
});
