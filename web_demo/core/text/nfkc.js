import { IntList } from "./int_list.js";
import { NfkcData } from "./nfkc_data.js";

/** Unicode form NFKC with the place of each character in the original text; see `kerasbert.text.mecab` in Python. */
export class Nfkc {
  #data = NfkcData.get();

  /**
   * Calls `action` with each character of a part of a text in form NFKC, and its place in the text.
   *
   * The place of a character that stays as it is is its own. That of another one are all characters with which it was composed or
   * reordered. A lone surrogate is left out.
   *
   * @param {string} text
   * @param {number} from
   * @param {number} to
   * @param {(codePoint: number, start: number, end: number) => void} action
   */
  normalize(text, from, to, action) {
    const source = new Source(text, from, to);
    let first = 0;
    while (first < source.size) {
      let end = first + 1;
      while (end < source.size && this.#joins(source, first, end)) end++;
      const codePoint = source.codePoint(first);
      if (end === first + 1 && !this.#data.isChanged(codePoint)) action(codePoint, source.start(first), source.end(first));
      else this.#passOn(source, first, end, action);
      first = end;
    }
  }

  #passOn(source, first, end, action) {
    const normalized = this.#normalized(source, first, end);
    const isSame = source.equals(first, end, normalized);
    normalized.forEach((codePoint, number) => {
      const start = source.start(isSame ? first + number : first);
      action(codePoint, start, source.end(isSame ? first + number : end - 1));
    });
  }

  /** Whether normalization composes or reorders a character with those from `first` on before it. */
  #joins(source, first, number) {
    const codePoint = source.codePoint(number);
    if (this.#data.startsWithMark(codePoint)) return true;
    if (!this.#data.startsWithSecond(codePoint)) return false;
    const apart = [...this.#normalized(source, first, number), ...this.#normalized(source, number, number + 1)];
    const together = this.#normalized(source, first, number + 1);
    return together.length !== apart.length || together.some((part, place) => part !== apart[place]);
  }

  /** @returns {number[]} */
  #normalized(source, first, end) {
    const decomposed = [];
    for (let number = first; number < end; number++) {
      for (const part of this.#data.parts(source.codePoint(number))) decomposed.push(part);
    }
    this.#reorder(decomposed);
    return this.#compose(decomposed);
  }

  /** Sorts each run of marks by combining class; equal classes keep their order. */
  #reorder(text) {
    let first = 0;
    while (first < text.length) {
      let end = first;
      while (end < text.length && this.#data.combiningClass(text[end]) > 0) end++;
      if (end - first > 1) {
        const marks = text.slice(first, end).sort((one, other) => this.#data.combiningClass(one) - this.#data.combiningClass(other));
        for (let number = 0; number < marks.length; number++) text[first + number] = marks[number];
      }
      first = end + 1;
    }
  }

  /** Composes pairs (The Unicode Standard, definition D117). */
  #compose(text) {
    const composed = [];
    let starter = -1;
    let classBefore = -1; // of the character before, or -1 if that is the starter
    for (const codePoint of text) {
      const combiningClass = this.#data.combiningClass(codePoint);
      const composite = starter >= 0 && classBefore < combiningClass ? this.#data.compose(composed[starter], codePoint) : -1;
      if (composite >= 0) {
        composed[starter] = composite;
        continue;
      }
      classBefore = combiningClass;
      if (combiningClass === 0) {
        starter = composed.length;
        classBefore = -1;
      }
      composed.push(codePoint);
    }
    return composed;
  }
}

/** The characters of a part of a text. */
class Source {
  #codePoints;
  #starts;

  constructor(text, from, to) {
    this.#codePoints = new IntList(to - from);
    this.#starts = new IntList(to - from);
    for (let at = from; at < to; at++) {
      const codePoint = text.codePointAt(at);
      if (codePoint >= 0xd800 && codePoint <= 0xdfff) continue;
      this.#codePoints.add(codePoint);
      this.#starts.add(at);
      if (codePoint > 0xffff) at++;
    }
  }

  get size() {
    return this.#codePoints.size;
  }

  codePoint(number) {
    return this.#codePoints.get(number);
  }

  start(number) {
    return this.#starts.get(number);
  }

  end(number) {
    return this.#starts.get(number) + (this.#codePoints.get(number) > 0xffff ? 2 : 1);
  }

  equals(first, end, others) {
    return others.length === end - first && others.every((codePoint, number) => codePoint === this.codePoint(first + number));
  }
}
