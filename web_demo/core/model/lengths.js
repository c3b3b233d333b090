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

  /** The signatures of a length: those of the exits, which run in turn, or the only one. */
  stages(length) {
    const { lengths, exits, signature } = this.#metadata;
    if (exits !== null) return exits.map((_, number) => `exit_${number + 1}${lengths === null ? "" : `_${length}`}`);
    return [lengths === null ? signature : `serve_${length}`];
  }

  /** The signatures that rows may need, those of each length. */
  get signatures() {
    return this.#metadata.lengths?.map((length) => this.stages(length)) ?? [this.stages(null)];
  }
}
