const MEGABYTE = 1e6;
const KILOBYTE = 1e3;

// Probabilities between these are not shown as 0 or 100 percent.
const LEAST = 0.0005;
const MOST = 0.9995;

/** Numbers as a person reads them, in the language of a locale. */
export class Numbers {
  #locale;
  #formats = new Map();

  /** @param {string} locale such as "en" */
  constructor(locale) {
    this.#locale = locale;
  }

  /**
   * A probability in percent, without the sign.
   *
   * @param {number} probability from 0 to 1
   * @returns {string}
   */
  percent(probability) {
    return this.#format(100 * probability, probability >= LEAST && probability <= MOST ? 1 : 0);
  }

  /**
   * A time in milliseconds, without the unit, in three digits or so.
   *
   * @param {number} time
   * @returns {string}
   */
  milliseconds(time) {
    if (time < 10) return this.#format(time, 2);
    return this.#format(time, time < 100 ? 1 : 0);
  }

  /**
   * A similarity.
   *
   * @param {number} cosine
   * @returns {string}
   */
  similarity(cosine) {
    return this.#format(cosine, 2);
  }

  /**
   * A whole number.
   *
   * @param {number} number
   * @returns {string}
   */
  whole(number) {
    return this.#format(number, 0);
  }

  /**
   * A size in megabytes or kilobytes, as kerasbert prints it.
   *
   * @param {number} size in bytes
   * @returns {string}
   */
  bytes(size) {
    return size < MEGABYTE ? `${this.#format(size / KILOBYTE, 0)} kB` : `${this.#format(size / MEGABYTE, 1)} MB`;
  }

  #format(number, digits) {
    if (!this.#formats.has(digits)) {
      const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
      this.#formats.set(digits, new Intl.NumberFormat(this.#locale, options));
    }
    return this.#formats.get(digits).format(number);
  }
}
