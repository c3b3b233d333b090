const BUCKET = 16; // tokens; a resizable file runs at multiples of it
const DEFAULT_LENGTH = 128; // tokens, if neither file nor tokenizer has a limit

/** The lengths at which a file runs: each row at the shortest one that it fits. */
export class Lengths {
  #metadata;

  /**
   * @param {import("../file/metadata.js").Metadata} metadata
   * @param {number | null} tokenizerLimit the longest sequence of the tokenizer, in tokens
   */
  constructor(metadata, tokenizerLimit) {
    this.#metadata = metadata;
    /** Tokens of the longest row; longer texts are cut, or have several windows. */
    this.longest = metadata.sequenceLength ?? metadata.rowLength ?? Math.min(tokenizerLimit ?? DEFAULT_LENGTH, DEFAULT_LENGTH);
  }

  /** The length at which a row of some tokens runs. */
  of(tokens) {
    const { lengths, sequenceLength } = this.#metadata;
    if (lengths !== null) return lengths.find((length) => length >= tokens) ?? lengths.at(-1);
    return sequenceLength ?? Math.min(Math.ceil(tokens / BUCKET) * BUCKET, this.longest);
  }

  /** The signature of a length. */
  signature(length) {
    return this.#metadata.lengths === null ? this.#metadata.signature : `serve_${length}`;
  }

  /** The signatures that rows may need. */
  get signatures() {
    return this.#metadata.lengths?.map((length) => this.signature(length)) ?? [this.#metadata.signature];
  }
}
