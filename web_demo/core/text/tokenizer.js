import { KerasBertError } from "../error.js";
import { Encoded } from "./encoded.js";
import { Truncation } from "./truncation.js";

/** The tokens of one text, without special tokens around it. */
export class Tokens {
  /**
   * @param {Int32Array} ids the token ids.
   * @param {Int32Array} starts the first UTF-16 unit of each token in the text as it was passed.
   * @param {Int32Array} ends the UTF-16 unit after each token's last one.
   */
  constructor(ids, starts, ends) {
    this.ids = ids;
    this.starts = starts;
    this.ends = ends;
  }

  /** The number of tokens. */
  get size() {
    return this.ids.length;
  }

  /**
   * Returns the tokens from `start` up to but not including `end`; their places stay those in the whole text.
   *
   * @param {number} start
   * @param {number} end
   * @returns {Tokens}
   */
  slice(start, end) {
    return new Tokens(this.ids.slice(start, end), this.starts.slice(start, end), this.ends.slice(start, end));
  }
}

/** A tokenizer whose ids equal those of kerasbert in Python, see `kerasbert.text.Tokenizer`. `tokenizerOf` makes one. */
export class Tokenizer {
  /** @param {import("./tokenizer_settings.js").TokenizerSettings} settings */
  constructor(settings) {
    /** @type {string[]} the tokens in the order of their ids. */
    this.vocabulary = settings.vocabulary;

    /** Id of the padding token. */
    this.padId = settings.specialId("pad_token");

    /** Id of the unknown token. */
    this.unkId = settings.specialId("unk_token");

    /** Id of the token at the start of a sequence. */
    this.clsId = settings.specialId("cls_token");

    /** Id of the token after each text. */
    this.sepId = settings.specialId("sep_token");

    /** Id of the mask token. */
    this.maskId = settings.specialId("mask_token");

    /** @type {number | null} the longest sequence of the checkpoint in tokens, special tokens included. */
    this.maxLength = settings.maxLength;
  }

  /** The number of separators between the texts of a pair. */
  separators = 1;

  /** The token type of the second text. */
  secondType = 1;

  /**
   * Returns the number of special tokens in a sequence of one text, or of two.
   *
   * @param {boolean} paired
   * @returns {number}
   */
  specialTokens(paired) {
    return paired ? 2 + this.separators : 2;
  }

  /**
   * Splits a text into tokens. A lone surrogate is treated as a character that the tokenizer drops.
   *
   * @abstract
   * @param {string} text
   * @returns {Tokens}
   */
  tokens(text) {
    throw new Error(`expected a class that splits texts, received ${this.constructor.name} for ${text}`);
  }

  /**
   * Converts a text, or a pair of texts, to one sequence.
   *
   * @param {string} text the first text.
   * @param {string | null} pair the second text.
   * @param {number} maxLength the most tokens, special ones included. Tokens are removed from the end of a text.
   * @param {Truncation} [truncation] the text that is truncated.
   * @returns {Encoded}
   * @throws {KerasBertError} when `maxLength` is too small for the special tokens or for the text that must not be truncated, or there is
   *   no second text to truncate.
   */
  encode(text, pair, maxLength, truncation = Truncation.LONGEST_FIRST) {
    return this.join(this.tokens(text), pair === null ? null : this.tokens(pair), maxLength, truncation);
  }

  /**
   * As `encode`, of texts that are tokens already.
   *
   * @param {Tokens} first
   * @param {Tokens | null} second
   * @param {number} maxLength
   * @param {Truncation} [truncation]
   * @returns {Encoded}
   */
  join(first, second, maxLength, truncation = Truncation.LONGEST_FIRST) {
    const special = this.specialTokens(second !== null);
    if (second === null && truncation === Truncation.ONLY_SECOND) {
      throw new KerasBertError("expected a pair for truncation only_second, received a single text; pass the second text");
    }
    if (!(maxLength >= special)) {
      throw new KerasBertError(`expected a maximum length of at least ${special}, the special tokens, received ${maxLength}; raise it`);
    }
    const room = maxLength - special;
    const kept = second === null ? [Math.min(first.size, room), 0] : truncation.lengths(first.size, second.size, room);
    return this.#assemble([first, second], kept);
  }

  #assemble([first, second], [kept, keptOfSecond]) {
    const truncated = kept < first.size || keptOfSecond < (second?.size ?? 0);
    const encoded = new Encoded(kept + keptOfSecond + this.specialTokens(second !== null), truncated);
    encoded.ids[0] = this.clsId;
    encoded.put(first, kept, 1, 0);
    encoded.ids[kept + 1] = this.sepId;
    if (second !== null) {
      const start = kept + 1 + this.separators;
      encoded.ids.fill(this.sepId, kept + 1, start);
      encoded.put(second, keptOfSecond, start, 1);
      encoded.ids[encoded.size - 1] = this.sepId;
      encoded.typeIds.fill(this.secondType, start);
    }
    return encoded;
  }
}
