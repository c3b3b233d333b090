import * as Characters from "./characters.js";
import { IntList } from "./int_list.js";

const SPACE = 0x20;
const CHUNK = 8192; // arguments of one call

/** A normalized text with the place of each of its UTF-16 units in the original text. */
export class NormalizedText {
  #units;
  #starts;
  #ends;

  /**
   * @param {import("./bert_normalizer.js").BertNormalizer} normalizer
   * @param {string} text
   * @param {number} [from]
   * @param {number} [to]
   */
  constructor(normalizer, text, from = 0, to = text.length) {
    this.#units = new IntList(to - from);
    this.#starts = new IntList(to - from);
    this.#ends = new IntList(to - from);
    normalizer.normalize(text, from, to, this);
  }

  toString() {
    const units = this.#units.toArray();
    let text = "";
    for (let at = 0; at < units.length; at += CHUNK) text += String.fromCharCode(...units.subarray(at, at + CHUNK));
    return text;
  }

  /** The start in the original text of the character at a place. */
  start(from) {
    return this.#starts.get(from);
  }

  /** The end in the original text of the character before a place. */
  end(to) {
    return this.#ends.get(to - 1);
  }

  /** Passes a part of the text on. */
  replay(from, to, sink) {
    for (let at = from; at < to; at++) {
      const start = this.#starts.get(at);
      const end = this.#ends.get(at);
      let codePoint = this.#units.get(at);
      if (codePoint >= 0xd800 && codePoint < 0xe000) codePoint = ((codePoint - 0xd800) << 10) + this.#units.get(++at) - 0xdc00 + 0x10000;
      const flags = Characters.flagsOf(codePoint);
      if (flags & Characters.SPACE) sink.space(start, end);
      else if (flags & Characters.PUNCTUATION) sink.punctuation(codePoint, start, end);
      else sink.letter(codePoint, start, end);
    }
  }

  letter(codePoint, start, end) {
    if (codePoint < 0x10000) {
      this.#add(codePoint, start, end);
    } else {
      this.#add(0xd7c0 + (codePoint >> 10), start, end);
      this.#add(0xdc00 + (codePoint & 0x3ff), start, end);
    }
  }

  punctuation(codePoint, start, end) {
    this.letter(codePoint, start, end);
  }

  space(start, end) {
    this.letter(SPACE, start, end);
  }

  #add(unit, start, end) {
    this.#units.add(unit);
    this.#starts.add(start);
    this.#ends.add(end);
  }
}
