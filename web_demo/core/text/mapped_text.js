import { bytesOf, isShort } from "./character_map.js";
import { clusterEnd } from "./grapheme_clusters.js";
import { IntList } from "./int_list.js";

/** Stands for the space before a word. */
export const MARK = 0x2581;

const SPACE = 0x20;
const REPLACEMENT = 0xfffd;

/** The code points of a text with the place of each of them in the original text. */
export class MappedText {
  #codePoints;
  #starts;
  #ends;

  constructor(codePoints, starts, ends) {
    this.#codePoints = codePoints;
    this.#starts = starts;
    this.#ends = ends;
  }

  /**
   * A part of a text as it is. A lone surrogate is as a replacement character.
   *
   * @param {string} text
   * @param {number} from
   * @param {number} to
   * @returns {MappedText}
   */
  static of(text, from, to) {
    const [codePoints, starts, ends] = lists(to - from);
    for (let at = from; at < to; ) {
      const codePoint = text.codePointAt(at);
      const end = at + (codePoint > 0xffff ? 2 : 1);
      codePoints.add(codePoint >= 0xd800 && codePoint < 0xe000 ? REPLACEMENT : codePoint);
      starts.add(at);
      ends.add(end);
      at = end;
    }
    return new MappedText(codePoints.toArray(), starts.toArray(), ends.toArray());
  }

  get size() {
    return this.#codePoints.length;
  }

  codePoint(place) {
    return this.#codePoints[place];
  }

  start(place) {
    return this.#starts[place];
  }

  end(place) {
    return this.#ends[place];
  }

  /**
   * The text with its characters, and short clusters of them, replaced.
   *
   * Places are those of `tokenizers`, which counts the characters that a replacement adds or leaves out: a new character has the place of
   * the one before it.
   *
   * @param {import("./character_map.js").CharacterMap} map
   * @returns {MappedText}
   */
  mapped(map) {
    const [codePoints, changes] = this.#replaced(map);
    const [starts, ends] = lists(codePoints.size);
    let place = 0; // in this text
    for (let number = 0; number < codePoints.size; number++) {
      const change = changes.get(number);
      const from = change > 0 ? place - 1 : place;
      starts.add(from < 0 ? 0 : this.#starts[from]);
      ends.add(from < 0 ? 0 : this.#ends[from]);
      if (change <= 0) place += 1 - change;
    }
    return new MappedText(codePoints.toArray(), starts.toArray(), ends.toArray());
  }

  /** The text with one space in place of several, which has the place of the last one. */
  withSingleSpaces() {
    const [codePoints, starts, ends] = lists(this.size);
    for (let place = 0; place < this.size; place++) {
      const isSpace = this.#codePoints[place] === SPACE;
      if (isSpace && place + 1 < this.size && this.#codePoints[place + 1] === SPACE) continue;
      codePoints.add(this.#codePoints[place]);
      starts.add(this.#starts[place]);
      ends.add(this.#ends[place]);
    }
    return new MappedText(codePoints.toArray(), starts.toArray(), ends.toArray());
  }

  /** A part with marks in place of spaces, and one in front, which has the place of the first character. */
  marked(from, to) {
    const added = isMark(this.#codePoints[from]) ? 0 : 1;
    const [codePoints, starts, ends] = [this.#codePoints, this.#starts, this.#ends].map((values) => {
      const part = new Int32Array(to - from + added);
      part.set(values.subarray(from, to), added);
      part[0] = values[from];
      return part;
    });
    if (added) codePoints[0] = MARK;
    return new MappedText(codePoints.map((codePoint) => (codePoint === SPACE ? MARK : codePoint)), starts, ends);
  }

  /** The new code points, and of each the number of old ones that it stands for, less one: 1 for one that is added. */
  #replaced(map) {
    const [codePoints, changes] = lists(this.size);
    for (let place = 0; place < this.size; ) {
      const end = clusterEnd(this.#codePoints, place, this.size);
      const whole = isShort(this.#bytes(place, end)) ? map.replacement(this.#codePoints, place, end) : null;
      if (whole !== null) replace(codePoints, changes, whole, end - place);
      else for (let at = place; at < end; at++) this.#replaceOne(map, at, codePoints, changes);
      place = end;
    }
    return [codePoints, changes];
  }

  #replaceOne(map, place, codePoints, changes) {
    const found = map.replacement(this.#codePoints, place, place + 1);
    if (found !== null) {
      replace(codePoints, changes, found, 1);
    } else {
      codePoints.add(this.#codePoints[place]);
      changes.add(0);
    }
  }

  #bytes(from, to) {
    let bytes = 0;
    for (let place = from; place < to; place++) bytes += bytesOf(this.#codePoints[place]);
    return bytes;
  }
}

function isMark(codePoint) {
  return codePoint === SPACE || codePoint === MARK;
}

/** Adds a replacement of so many code points. */
function replace(codePoints, changes, replacement, count) {
  for (const codePoint of replacement) {
    codePoints.add(codePoint);
    changes.add(0);
  }
  const added = replacement.length - count;
  for (let number = 1; number <= added; number++) changes.set(changes.size - number, 1);
  if (added < 0 && changes.size > 0) changes.set(changes.size - 1, changes.get(changes.size - 1) + added);
}

function lists(size) {
  return [new IntList(size), new IntList(size), new IntList(size)];
}
