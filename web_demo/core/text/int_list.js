/** A growing list of whole numbers. */
export class IntList {
  #values;
  size = 0;

  /** @param {number} [capacity] a first guess of the number of values. */
  constructor(capacity = 16) {
    this.#values = new Int32Array(capacity);
  }

  get(index) {
    return this.#values[index];
  }

  set(index, value) {
    this.#values[index] = value;
  }

  add(value) {
    if (this.size === this.#values.length) this.#grow();
    this.#values[this.size++] = value;
  }

  /** Removes all values from `count` on. */
  truncate(count) {
    this.size = count;
  }

  /** @returns {Int32Array} */
  toArray() {
    return this.#values.slice(0, this.size);
  }

  #grow() {
    const values = new Int32Array(Math.max(16, 2 * this.size));
    values.set(this.#values);
    this.#values = values;
  }
}
