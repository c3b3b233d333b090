import { KerasBertError } from "../error.js";
import { TopScores } from "../top_scores.js";

const LARGEST = 127;
const LARGEST_INT = 2 ** 31 - 1;
const MOST_DIMENSIONS = 1 << 14;
const FIRST_CAPACITY = 16;
const TO_EVEN = 1.5 * 2 ** 52; // added and taken away again, a small number is rounded, a half to the even neighbour

/**
 * A vector that was found.
 *
 * @typedef {object} Hit
 * @property {number} index its number
 * @property {number} score its cosine with the query, as 8-bit vectors give it
 */

/** How vectors are kept: in 8 bits a number, or in one, its sign. */
export const VectorForm = Object.freeze({ INT8: "int8", BIT: "bit" });

/** A vector in 8 bits: the numbers of a vector of norm 1, divided by the scale and rounded. A zero vector has the scale 0. */
export class Int8Vector {
  /**
   * @param {Int8Array} values
   * @param {number} scale a float
   */
  constructor(values, scale) {
    this.values = values;
    this.scale = scale;
  }

  /**
   * @param {ArrayLike<number>} vector
   * @param {string} [form] a value of `VectorForm`; `BIT` keeps -1 and 1
   * @returns {Int8Vector}
   * @throws {KerasBertError} when a number is NaN or infinite
   */
  static of(vector, form = VectorForm.INT8) {
    let squares = 0;
    let largest = 0;
    for (let place = 0; place < vector.length; place++) {
      const value = vector[place];
      if (!Number.isFinite(value)) {
        throw new KerasBertError(`expected a vector of finite numbers, received ${value}; the model is damaged, convert it again`);
      }
      squares += value * value;
      largest = Math.max(largest, Math.abs(value));
    }
    if (form === VectorForm.BIT) {
      const signs = Int8Array.from(vector, (value) => (value < 0 ? -1 : 1));
      return new Int8Vector(signs, largest === 0 ? 0 : Math.fround(1 / Math.sqrt(vector.length)));
    }
    if (largest === 0) return new Int8Vector(new Int8Array(vector.length), 0);
    // Rounding does not depend on the norm: both sides of value / (largest / 127) are divided by it.
    const step = largest / LARGEST;
    const values = Int8Array.from(vector, (value) => value / step + TO_EVEN - TO_EVEN);
    return new Int8Vector(values, Math.fround(step / Math.sqrt(squares)));
  }
}

/**
 * Vectors of one length in 8 bits, for exact search by cosine. A vector takes one byte a dimension and four for its scale.
 *
 * The products of two vectors are whole numbers, so a search has the same result on every device.
 */
export class VectorIndex {
  #values = new Int8Array(0);
  #scales = new Float32Array(0);
  #size = 0;

  /** @param {number} dimensions the numbers in a vector */
  constructor(dimensions) {
    if (!(dimensions >= 1 && dimensions <= MOST_DIMENSIONS)) {
      throw new KerasBertError(`expected vectors of 1 to ${MOST_DIMENSIONS} dimensions, received ${dimensions}; use another model`);
    }
    this.dimensions = dimensions;
  }

  /** The number of vectors. */
  get size() {
    return this.#size;
  }

  /** Bytes of memory that the vectors take. */
  get bytes() {
    return this.#values.byteLength + this.#scales.byteLength;
  }

  /**
   * Adds a vector of any norm at the end.
   *
   * @param {ArrayLike<number>} vector
   * @param {string} [form] a value of `VectorForm`
   * @throws {KerasBertError} when it has another length, or a number is not finite
   */
  add(vector, form = VectorForm.INT8) {
    this.addStored(Int8Vector.of(this.#checked(vector), form));
  }

  /**
   * Takes memory for some vectors at once, where their number is known.
   *
   * @param {number} count
   */
  reserve(count) {
    if (count <= this.#scales.length) return;
    const most = this.#most();
    if (count > most) {
      throw new KerasBertError(`expected at most ${most} vectors of ${this.dimensions} dimensions, received more; split the texts`);
    }
    const [values, scales] = [this.#values, this.#scales];
    this.#values = new Int8Array(count * this.dimensions);
    this.#scales = new Float32Array(count);
    this.#values.set(values);
    this.#scales.set(scales);
  }

  /**
   * Adds a vector that is in 8 bits already.
   *
   * @param {Int8Vector} vector
   */
  addStored(vector) {
    if (this.#size === this.#scales.length) {
      const half = Math.min(Math.floor((this.#size * 3) / 2), this.#most());
      this.reserve(Math.max(this.#size + 1, half, FIRST_CAPACITY));
    }
    this.#values.set(vector.values, this.#size * this.dimensions);
    this.#scales[this.#size++] = vector.scale;
  }

  /**
   * Removes a vector. The numbers of those behind it become smaller by one.
   *
   * @param {number} index
   */
  removeAt(index) {
    if (!(index >= 0 && index < this.#size)) {
      throw new KerasBertError(`expected a vector from 0 to ${this.#size - 1} to remove, received ${index}`);
    }
    this.#values.copyWithin(index * this.dimensions, (index + 1) * this.dimensions, this.#size * this.dimensions);
    this.#scales.copyWithin(index, index + 1, this.#size);
    this.#size--;
  }

  /**
   * Finds the vectors with the largest cosines.
   *
   * @param {ArrayLike<number>} query a vector of any norm
   * @param {number} top the most vectors to find
   * @returns {Hit[]} the best first; of equal ones, those with the smallest numbers
   */
  search(query, top) {
    if (!(top >= 1)) throw new KerasBertError(`expected at least 1 result to find, received ${top}; raise it`);
    const wanted = Int8Vector.of(this.#checked(query));
    const best = new TopScores(Math.min(top, this.#size));
    for (let index = 0; index < this.#size; index++) best.offer(index, this.#score(wanted, index));
    return best.best().map((index) => ({ index, score: Math.fround(this.#score(wanted, index) * wanted.scale) }));
  }

  /**
   * A vector as it is stored.
   *
   * @param {number} index
   * @returns {Int8Vector}
   */
  at(index) {
    return new Int8Vector(this.#values.slice(index * this.dimensions, (index + 1) * this.dimensions), this.#scales[index]);
  }

  #most() {
    return Math.floor(LARGEST_INT / this.dimensions) - 1;
  }

  /** The cosine, without the query's scale. It is exact: a product has 28 bits at most, and a float's fraction 24. */
  #score(query, index) {
    const [mine, theirs] = [query.values, this.#values];
    const start = index * this.dimensions;
    let product = 0;
    for (let place = 0; place < mine.length; place++) product = (product + mine[place] * theirs[start + place]) | 0;
    return product * this.#scales[index];
  }

  #checked(vector) {
    if (vector.length !== this.dimensions) {
      throw new KerasBertError(
        `expected a vector of ${this.dimensions} dimensions, received ${vector.length}; encode texts with the same model`,
      );
    }
    return vector;
  }
}
