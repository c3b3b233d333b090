/**
 * Positions of a text in code points, which Python counts, for those in UTF-16 units, which JavaScript counts.
 *
 * A lone surrogate is one code point.
 */
export class CodePoints {
  #before; // code points before each unit; null where both counts are equal
  #length;

  /** @param {string} text */
  constructor(text) {
    this.#length = text.length;
    this.#before = /[\ud800-\udfff]/.test(text) ? counts(text) : null;
  }

  /** The number of code points. */
  get size() {
    return this.ofUnit(this.#length);
  }

  /**
   * Returns the number of code points before a UTF-16 unit. The second half of a pair counts as its first half.
   *
   * @param {number} unit from 0 to the length of the text.
   * @returns {number}
   */
  ofUnit(unit) {
    return this.#before === null ? unit : this.#before[unit];
  }
}

function counts(text) {
  const before = new Int32Array(text.length + 1);
  let count = 0;
  for (let unit = 0; unit < text.length; unit++) {
    before[unit] = count;
    if (text.codePointAt(unit) <= 0xffff) count++;
  }
  before[text.length] = count;
  return before;
}
