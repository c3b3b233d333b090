import { IntList } from "./int_list.js";

/**
 * The marks behind a letter, until they are sorted by combining class.
 *
 * Places follow the alignment of `tokenizers`: in sorted order, each mark that begins an original character takes the next original place,
 * and each other one shares the place before it.
 */
export class PendingMarks {
  #codePoints = new IntList();
  #classes = new IntList();
  #begins = new IntList();
  #starts = new IntList();
  #ends = new IntList();
  #keeps = false;

  /** The place of the original character before a mark that begins none. */
  lastStart = 0;
  lastEnd = 0;

  get size() {
    return this.#codePoints.size;
  }

  /**
   * Adds a mark.
   *
   * @param {number} codePoint
   * @param {number} combiningClass
   * @param {boolean} begins whether it is the first part of an original character.
   * @param {boolean} isKept whether it will remain in the text.
   * @param {number} start
   * @param {number} end
   */
  add(codePoint, combiningClass, begins, isKept, start, end) {
    this.#codePoints.add(codePoint);
    this.#classes.add(combiningClass);
    this.#begins.add(begins ? 1 : 0);
    this.#keeps ||= isKept;
    if (begins) {
      this.#starts.add(start);
      this.#ends.add(end);
    }
  }

  /** Calls `action(codePoint, start, end)` with each mark in sorted order and its place, unless no mark is kept, and forgets them. */
  flush(action) {
    if (this.#keeps) this.#forEachSorted(action);
    this.clear();
  }

  /** Forgets all marks. */
  clear() {
    for (const list of [this.#codePoints, this.#classes, this.#begins, this.#starts, this.#ends]) list.truncate(0);
    this.#keeps = false;
  }

  #forEachSorted(action) {
    let next = 0;
    for (const mark of this.#order()) {
      if (this.#begins.get(mark)) {
        this.lastStart = this.#starts.get(next);
        this.lastEnd = this.#ends.get(next);
        next++;
      }
      action(this.#codePoints.get(mark), this.lastStart, this.lastEnd);
    }
  }

  /** The numbers of the marks in stable order of their classes. */
  #order() {
    const order = new Int32Array(this.size);
    const places = new Int32Array(257);
    for (let mark = 0; mark < order.length; mark++) places[this.#classes.get(mark) + 1]++;
    for (let number = 1; number < places.length; number++) places[number] += places[number - 1];
    for (let mark = 0; mark < order.length; mark++) order[places[this.#classes.get(mark)]++] = mark;
    return order;
  }
}
