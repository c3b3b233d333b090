/** The tokens of one run of a model, special tokens included, without padding. */
export class Row {
  /**
   * @param {Int32Array} ids the token ids
   * @param {Int32Array} types 0 for the tokens of the first text, and the tokenizer's second type for those of the second one
   */
  constructor(ids, types) {
    if (ids.length !== types.length) throw new RangeError(`expected a type for each of ${ids.length} tokens, received ${types.length}`);
    this.ids = ids;
    this.types = types;
  }

  /** The number of tokens. */
  get size() {
    return this.ids.length;
  }
}

/** The outputs of one run. */
export class Outputs {
  #values;

  /**
   * @param {Map<string, Float32Array>} values the values of each output by name
   * @param {number} length tokens of the run, padding included
   * @param {number | null} layers the layers that ran; null for a file without exits
   */
  constructor(values, length, layers = null) {
    this.#values = values;
    this.length = length;
    this.layers = layers;
  }

  /** The values of an output of the whole row. */
  get(name) {
    return this.#values.get(name);
  }

  /** The values of an output at one token. */
  at(name, token) {
    const all = this.#values.get(name);
    const width = all.length / this.length;
    return all.subarray(token * width, (token + 1) * width);
  }
}
