/** One sequence, such as `[CLS] a [SEP]` or `[CLS] a [SEP] b [SEP]`, without padding. */
export class Encoded {
  /**
   * @param {number} size the number of tokens.
   * @param {boolean} truncated whether a text lost tokens.
   */
  constructor(size, truncated) {
    /** The token ids. */
    this.ids = new Int32Array(size);

    /** 0 for the first text and its special tokens, the type of the second text for that and its `[SEP]`. */
    this.typeIds = new Int32Array(size);

    /** The first UTF-16 unit of each token in its own text; 0 for the special tokens around the texts. */
    this.starts = new Int32Array(size);

    /** The UTF-16 unit after each token's last one; 0 for the special tokens around the texts. */
    this.ends = new Int32Array(size);

    /** 0 for tokens of the first text, 1 for those of the second, -1 for the special tokens around the texts. */
    this.texts = new Int32Array(size).fill(-1);

    this.truncated = truncated;
  }

  /** The number of tokens. */
  get size() {
    return this.ids.length;
  }

  /** Copies the first `count` tokens of the text with number `text` to the places from `at` on. */
  put(tokens, count, at, text) {
    this.ids.set(tokens.ids.subarray(0, count), at);
    this.starts.set(tokens.starts.subarray(0, count), at);
    this.ends.set(tokens.ends.subarray(0, count), at);
    this.texts.fill(text, at, at + count);
  }
}
