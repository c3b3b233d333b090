import { KerasBertError } from "../error.js";
import { BertNormalizer } from "./bert_normalizer.js";
import { NormalizedText } from "./normalized_text.js";
import { PieceTable } from "./piece_table.js";
import { TokenBuffer } from "./token_buffer.js";
import { TokenFinder } from "./token_finder.js";
import { Tokenizer } from "./tokenizer.js";
import { WordBuffer } from "./word_buffer.js";

const LONGEST_WORD = 100; // characters

/**
 * WordPiece, the tokenizer of BERT (Devlin et al. 2019, arXiv:1810.04805).
 *
 * Ids and places equal those of `kerasbert.text.WordPiece`, and so those of Hugging Face's `BertTokenizerFast`.
 */
export class WordPiece extends Tokenizer {
  #normalizer;
  #finder;
  #normalizedFinder;
  #buffer = new TokenBuffer();
  #words;

  /** @param {import("./tokenizer_settings.js").TokenizerSettings} settings */
  constructor(settings) {
    super(settings);
    settings.checkNames("lowercase", "strip_accents", "tokenize_chinese_chars");
    const lowercase = settings.flag("lowercase", true);
    this.#normalizer = new BertNormalizer(
      lowercase,
      settings.flag("strip_accents", lowercase),
      settings.flag("tokenize_chinese_chars", true),
    );
    this.#words = new WordBuffer(new PieceTable(this.vocabulary, settings.modelSize()), this.unkId, this.#buffer, LONGEST_WORD);
    const found = settings.foundTokens();
    const plain = found.filter((token) => !token.normalized);
    const normalized = found.filter((token) => token.normalized);
    this.#finder = new TokenFinder(plain, plain.map((token) => token.content));
    this.#normalizedFinder = new TokenFinder(normalized, normalized.map((token) => this.#normalizedContent(token)));
  }

  tokens(text) {
    this.#buffer.truncate(0);
    this.#words.reset();
    this.#finder.split(text, (id, from, to) => {
      if (id >= 0) {
        this.#buffer.add(id, from, to);
      } else if (this.#normalizedFinder.isEmpty) {
        this.#normalizer.normalize(text, from, to, this.#words);
        this.#words.endWord();
      } else {
        this.#splitNormalized(new NormalizedText(this.#normalizer, text, from, to));
      }
    });
    return this.#buffer.toTokens();
  }

  #normalizedContent(token) {
    const content = new NormalizedText(this.#normalizer, token.content).toString();
    if (content !== "") return content;
    throw new KerasBertError(`expected added tokens of at least one character after normalization, received '${token.content}'`);
  }

  #splitNormalized(text) {
    this.#normalizedFinder.split(text.toString(), (id, from, to) => {
      if (id >= 0) {
        this.#buffer.add(id, text.start(from), text.end(to));
      } else {
        text.replay(from, to, this.#words);
        this.#words.endWord();
      }
    });
  }
}
