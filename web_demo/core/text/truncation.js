import { KerasBertError } from "../error.js";

/** The text that loses tokens when a sequence is too long; see `kerasbert.text.truncation` in Python. */
export class Truncation {
  /** The longer text, then both. */
  static LONGEST_FIRST = new Truncation("longest_first");

  /** The first text. */
  static ONLY_FIRST = new Truncation("only_first");

  /** The second text. */
  static ONLY_SECOND = new Truncation("only_second");

  static #all = [Truncation.LONGEST_FIRST, Truncation.ONLY_FIRST, Truncation.ONLY_SECOND];

  /** @param {string} label its name in Python and in settings. */
  constructor(label) {
    this.label = label;
  }

  /**
   * Returns the member with a label.
   *
   * @param {string} label
   * @returns {Truncation}
   * @throws {KerasBertError} when there is none.
   */
  static of(label) {
    const member = Truncation.#all.find((each) => each.label === label);
    if (member !== undefined) return member;
    const labels = Truncation.#all.map((each) => each.label).join(", ");
    throw new KerasBertError(`expected truncation to be one of ${labels}, received '${label}'`);
  }

  /**
   * Returns the tokens of both texts that remain.
   *
   * @param {number} first tokens of the first text.
   * @param {number} second tokens of the second text.
   * @param {number} room the most tokens of both.
   * @returns {[number, number]}
   * @throws {KerasBertError} when the text that must not be truncated leaves no room for the other.
   */
  lengths(first, second, room) {
    if (first + second <= room) return [first, second];
    if (this === Truncation.LONGEST_FIRST) {
      const short = Math.min(first, second, Math.floor(room / 2));
      // Of two equally long texts, the second one keeps the odd token.
      return first > second ? [room - short, short] : [short, room - short];
    }
    const kept = this === Truncation.ONLY_FIRST ? second : first;
    if (kept >= room) {
      throw new KerasBertError(
        `expected truncation ${this.label} to leave tokens of both texts, received another text of ${kept} tokens where there is room ` +
          `for ${room}; raise the maximum length, or use longest_first`,
      );
    }
    return this === Truncation.ONLY_FIRST ? [room - kept, kept] : [kept, room - kept];
  }
}
