import { KerasBertError } from "../error.js";
import { crc32 } from "../file/crc32.js";
import { VectorForm, VectorIndex } from "./vector_index.js";

/**
 * A text that was found.
 *
 * @typedef {object} Match
 * @property {number} index its number among the texts
 * @property {string} text the text
 * @property {number} score its cosine with the query
 * @property {string} document the name of its document
 * @property {number} start the character of its document at which it starts, in Unicode code points
 */

/**
 * A document, of which a text is a part or the whole.
 *
 * @typedef {object} Document
 * @property {string} name its name
 * @property {number} checksum the CRC-32 of its whole text
 */

/** Texts with their vectors, to be searched by meaning. */
export class SentenceSearch {
  #index;
  #texts = [];
  #places = []; // of the texts: document and start
  #documents = new Map(); // by name

  /**
   * No texts yet.
   *
   * @param {string} model the name of the model's vectors; those of another model cannot be compared with them
   * @param {number} modelDimensions the numbers in a vector of the model
   * @param {object} [options]
   * @param {number} [options.dimensions] the numbers in a vector that is kept; fewer need `projection`
   * @param {string} [options.form] a value of `VectorForm`
   * @param {string} [options.openedAs] the name under which Python opens the model, "" if unknown
   * @param {number} [options.chunk] the most tokens of a text, 0 for whole texts
   * @param {number} [options.overlap] the tokens with which a text repeats the one before it, at most
   */
  constructor(model, modelDimensions, options = {}) {
    this.model = model;
    this.modelDimensions = modelDimensions;
    this.form = options.form ?? VectorForm.INT8;
    this.openedAs = options.openedAs ?? "";
    this.chunk = options.chunk ?? 0;
    this.overlap = options.overlap ?? 0;
    /**
     * The matrix by which a vector of the model is multiplied, a row for each of its numbers; null for none.
     *
     * @type {Float32Array | null}
     */
    this.projection = null;
    this.#index = new VectorIndex(options.dimensions ?? modelDimensions);
  }

  /**
   * Encodes texts.
   *
   * @param {string} model the name of the model's vectors
   * @param {string[]} texts at least one text
   * @param {(text: string) => Promise<Float32Array>} encode returns the vector of a text
   * @param {(done: number, all: number, search: SentenceSearch) => unknown} [report] called with the texts done, all texts, and what can be
   *   searched so far; its result is awaited, and false stops
   * @returns {Promise<SentenceSearch | null>} the texts, or null if they were stopped
   */
  static async build(model, texts, encode, report = () => true) {
    if (texts.length === 0) throw new KerasBertError("expected at least one text to search, received none; choose another file");
    let search = null;
    for (const [number, text] of texts.entries()) {
      const vector = await encode(text);
      search ??= SentenceSearch.#reserved(model, vector.length, texts.length);
      search.add(text, vector);
      if ((await report(number + 1, texts.length, search)) === false) return null;
    }
    return search;
  }

  static #reserved(model, dimensions, count) {
    const search = new SentenceSearch(model, dimensions);
    search.#index.reserve(count);
    return search;
  }

  /** The texts in their order. */
  get texts() {
    return this.#texts;
  }

  /** The number of texts. */
  get size() {
    return this.#texts.length;
  }

  /** The numbers in a vector that is kept. */
  get dimensions() {
    return this.#index.dimensions;
  }

  /** Bytes of memory that the vectors take. */
  get vectorBytes() {
    return this.#index.bytes;
  }

  /**
   * Adds a text with the model's vector at the end. It is a document of its own, whose name is a number.
   *
   * @param {string} text
   * @param {Float32Array} vector
   */
  add(text, vector) {
    this.#index.add(this.#projected(vector), this.form);
    let number = this.#documents.size;
    while (this.#documents.has(String(number))) number++;
    this.#append(text, this.documentOf(String(number), crc32(new TextEncoder().encode(text))), 0);
  }

  /**
   * Adds a text with its vector as it is stored.
   *
   * @param {string} text
   * @param {import("./vector_index.js").Int8Vector} vector
   * @param {Document} document what `documentOf` returned
   * @param {number} start the character of its document at which the text starts
   */
  addStored(text, vector, document, start) {
    this.#index.addStored(vector);
    this.#append(text, document, start);
  }

  /**
   * The document of a name, which is a new one if there is none.
   *
   * @param {string} name
   * @param {number} checksum the CRC-32 of its whole text
   * @returns {Document}
   */
  documentOf(name, checksum) {
    if (!this.#documents.has(name)) this.#documents.set(name, Object.freeze({ name, checksum }));
    return this.#documents.get(name);
  }

  /**
   * The document of a text, and the character at which the text starts in it.
   *
   * @param {number} number
   * @returns {{document: Document, start: number}}
   */
  placeOf(number) {
    return this.#places[number];
  }

  /** The vector of a text as it is stored. */
  storedVector(number) {
    return this.#index.at(number);
  }

  /** Removes a text. The numbers of those behind it become smaller by one. */
  removeAt(number) {
    this.#index.removeAt(number);
    this.#texts.splice(number, 1);
    this.#places.splice(number, 1);
  }

  /**
   * Finds the texts with the largest cosines with a query, best first; of equal ones the first ones.
   *
   * @param {Float32Array} query
   * @param {number} top the most texts to find
   * @returns {Match[]}
   */
  search(query, top) {
    return this.#index.search(this.#projected(query), top).map(({ index, score }) => {
      const { document: { name }, start } = this.#places[index];
      return { index, text: this.#texts[index], score, document: name, start };
    });
  }

  #append(text, document, start) {
    this.#texts.push(text);
    this.#places.push({ document, start });
  }

  /** A vector of the model as it is compared: multiplied by the projection, if there is one. */
  #projected(vector) {
    if (this.projection === null) return vector;
    if (vector.length !== this.modelDimensions) {
      throw new KerasBertError(
        `expected a vector of ${this.modelDimensions} dimensions, received ${vector.length}; encode texts with the same model`,
      );
    }
    const projected = new Float64Array(this.dimensions);
    for (let row = 0; row < vector.length; row++) {
      for (let column = 0; column < projected.length; column++) {
        projected[column] += vector[row] * this.projection[row * projected.length + column];
      }
    }
    return projected;
  }
}
