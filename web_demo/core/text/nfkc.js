import * as Characters from "./characters.js";
import { CodePointFlagsBuilder, CodePointMappings, forEachRange, forEachValue } from "./code_point_tables.js";
import { Hangul } from "./hangul.js";
import { IntList } from "./int_list.js";
import * as UnicodeData from "./unicode_tables.js";

const CHANGED = 1;
const MARK = 2;
const SECOND = 4;
const NOT_LOWERED = 8;
const END = 0x110000; // of all code points

let shared = null; // made for the first Japanese tokenizer

/** What Unicode form NFKC knows of each character, in the version of Unicode of the Python side. */
export class NfkcData {
  #compatibility = new CodePointMappings(UnicodeData.COMPATIBILITY);
  #classes = Characters.readCombiningClasses(UnicodeData.NFKC_CLASSES);
  #compositions = this.#readCompositions();
  #flags = this.#readFlags();

  /** @returns {NfkcData} */
  static get() {
    shared ??= new NfkcData();
    return shared;
  }

  /** Whether a character is decomposed, Hangul syllables left out. */
  isChanged(codePoint) {
    return (this.#flags.get(codePoint) & CHANGED) !== 0;
  }

  /** Whether the first part of a character is a combining mark. */
  startsWithMark(codePoint) {
    return (this.#flags.get(codePoint) & MARK) !== 0;
  }

  /** Whether the first part of a character may be the second one of a composition. */
  startsWithSecond(codePoint) {
    return (this.#flags.get(codePoint) & SECOND) !== 0;
  }

  /** Whether Python knows the lower case that `Characters.lower` has of a character. */
  isLoweredByPython(codePoint) {
    return (this.#flags.get(codePoint) & NOT_LOWERED) === 0;
  }

  /** The canonical combining class of a character. */
  combiningClass(codePoint) {
    return Math.max(0, this.#classes.get(codePoint));
  }

  /** The parts of a character in form NFKD. */
  parts(codePoint) {
    if (Hangul.isSyllable(codePoint)) return Hangul.parts(codePoint);
    const mappings = this.#compatibility.find(codePoint) >= 0 ? this.#compatibility : Characters.decompositions;
    const place = mappings.find(codePoint);
    if (place < 0) return [codePoint];
    return Array.from({ length: mappings.count(place) }, (_, number) => mappings.part(place, number));
  }

  /** The character that is composed of two others, or -1. */
  compose(first, second) {
    const syllable = Hangul.compose(first, second);
    return syllable >= 0 ? syllable : (this.#compositions.get(key(first, second)) ?? -1);
  }

  #readCompositions() {
    const composed = [];
    forEachRange(UnicodeData.COMPOSED, (first, end) => {
      for (let codePoint = first; codePoint < end; codePoint++) composed.push({ codePoint, parts: this.parts(codePoint) });
    });
    const pairs = new Map();
    // A character of three parts is composed of one of two parts and the last one.
    composed.sort((one, other) => one.parts.length - other.parts.length);
    for (const { codePoint, parts } of composed) {
      const last = parts.pop();
      pairs.set(key(parts.reduce((first, part) => pairs.get(key(first, part))), last), codePoint);
    }
    return pairs;
  }

  #readFlags() {
    const builder = new CodePointFlagsBuilder();
    const seconds = new Set([...this.#compositions.keys()].map((pair) => pair % END));
    const addFirstPart = (codePoint) => {
      const [first] = this.parts(codePoint);
      if (this.combiningClass(first) > 0) builder.add(MARK, codePoint);
      if (seconds.has(first) || Hangul.isSecond(first)) builder.add(SECOND, codePoint);
    };
    for (const mappings of [Characters.decompositions, this.#compatibility]) {
      mappings.forEach((codePoint) => {
        builder.add(CHANGED, codePoint);
        addFirstPart(codePoint);
      });
    }
    forEachValue(UnicodeData.NFKC_CLASSES, addFirstPart);
    seconds.forEach((second) => addFirstPart(second));
    Hangul.forEachSecond(addFirstPart);
    return builder.addRanges(NOT_LOWERED, UnicodeData.NOT_LOWERED).build();
  }
}

function key(first, second) {
  return first * END + second;
}

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
