import * as Characters from "./characters.js";
import { CodePointFlagsBuilder, CodePointMappings, forEachRange, forEachValue } from "./code_point_tables.js";
import { Hangul } from "./hangul.js";
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
