import { KerasBertError } from "../error.js";
import { VectorIndex } from "./vector_index.js";

/**
 * A text that was found.
 *
 * @typedef {object} Match
 * @property {number} index its number among the texts
 * @property {string} text the text
 * @property {number} score its cosine with the query
 */

/** Texts with their vectors, to be searched by meaning. */
export class SentenceSearch {
  #index;
  #texts = [];

  /**
   * No texts yet.
   *
   * @param {string} model the fingerprint of the model that makes the vectors; those of another model cannot be compared with them
   * @param {number} dimensions the numbers in a vector
   */
  constructor(model, dimensions) {
    this.model = model;
    this.#index = new VectorIndex(dimensions);
  }

  /**
   * Encodes texts.
   *
   * @param {string} model the fingerprint of the model
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

  /** The numbers in a vector. */
  get dimensions() {
    return this.#index.dimensions;
  }

  /** Bytes of memory that the vectors take. */
  get vectorBytes() {
    return this.#index.bytes;
  }

  /**
   * Adds a text with its vector at the end.
   *
   * @param {string} text
   * @param {Float32Array} vector
   */
  add(text, vector) {
    this.#index.add(vector);
    this.#texts.push(text);
  }

  /**
   * Adds a text with its vector as it is stored.
   *
   * @param {string} text
   * @param {import("./vector_index.js").Int8Vector} vector
   */
  addStored(text, vector) {
    this.#index.addStored(vector);
    this.#texts.push(text);
  }

  /** The vector of a text as it is stored. */
  storedVector(number) {
    return this.#index.at(number);
  }

  /** Removes a text. The numbers of those behind it become smaller by one. */
  removeAt(number) {
    this.#index.removeAt(number);
    this.#texts.splice(number, 1);
  }

  /**
   * Finds the texts with the largest cosines with a query, best first; of equal ones the first ones.
   *
   * @param {Float32Array} query
   * @param {number} top the most texts to find
   * @returns {Match[]}
   */
  search(query, top) {
    return this.#index.search(query, top).map(({ index, score }) => ({ index, text: this.#texts[index], score }));
  }
}
