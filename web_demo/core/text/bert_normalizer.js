import * as Characters from "./characters.js";
import { Hangul } from "./hangul.js";
import { PendingMarks } from "./pending_marks.js";

const ASCII = 128;
const ASCII_DROPPED = 0;
const ASCII_SPACE = -1;
const ASCII_PUNCTUATION = -2;

/**
 * The normalizer of BERT as in `tokenizers`: it drops control characters, separates ideographs, strips accents (Unicode form NFD without
 * nonspacing marks), and lowercases each character alone.
 *
 * It passes the characters of a text on to a sink, each with its place in the original text: `letter(codePoint, start, end)`,
 * `punctuation(codePoint, start, end)` for a character that is a word of its own, and `space(start, end)`.
 */
export class BertNormalizer {
  #lowercase;
  #stripAccents;
  #splitIdeographs;
  #special; // flags of characters that need more than a look at their class
  #ascii; // the letter, or one of the constants
  #marks = new PendingMarks();
  #sink;
  #keepMark = (codePoint, start, end) => this.#keep(codePoint, start, end);

  /**
   * @param {boolean} lowercase whether letters are lowercased.
   * @param {boolean} stripAccents whether accents are removed.
   * @param {boolean} splitIdeographs whether each CJK ideograph is a word of its own.
   */
  constructor(lowercase, stripAccents, splitIdeographs) {
    this.#lowercase = lowercase;
    this.#stripAccents = stripAccents;
    this.#splitIdeographs = splitIdeographs;
    this.#special =
      Characters.DROPPED |
      Characters.SPACE |
      Characters.PUNCTUATION |
      (splitIdeographs ? Characters.IDEOGRAPH : 0) |
      (stripAccents ? Characters.DECOMPOSED | Characters.ACCENT : 0) |
      (lowercase ? Characters.UPPER : 0);
    this.#ascii = Int8Array.from({ length: ASCII }, (_, code) => this.#asciiAction(code));
  }

  /** Normalizes a part of a text. */
  normalize(text, from, to, sink) {
    this.#sink = sink;
    this.#marks.clear(); // an error may have left some
    let at = from;
    while (at < to) {
      const unit = text.charCodeAt(at);
      const start = at++;
      if (unit < ASCII) {
        this.#takeAscii(unit, start);
      } else if (unit < 0xd800 || unit > 0xdfff) {
        this.#take(unit, start, at);
      } else if (unit < 0xdc00 && at < to) {
        const next = text.charCodeAt(at);
        if (next < 0xdc00 || next > 0xdfff) continue;
        at++;
        this.#take(((unit - 0xd800) << 10) + (next - 0xdc00) + 0x10000, start, at);
      } // a lone surrogate is dropped
    }
    this.#flushMarks();
  }

  #asciiAction(code) {
    const flags = Characters.flagsOf(code);
    if (flags & Characters.DROPPED) return ASCII_DROPPED;
    if (flags & Characters.SPACE) return ASCII_SPACE;
    if (flags & Characters.PUNCTUATION) return ASCII_PUNCTUATION;
    return this.#lowercase && flags & Characters.UPPER ? code + 32 : code;
  }

  #takeAscii(code, at) {
    const action = this.#ascii[code];
    if (action === ASCII_DROPPED) return;
    this.#flushMarks();
    if (action > 0) this.#sink.letter(action, at, at + 1);
    else if (action === ASCII_SPACE) this.#sink.space(at, at + 1);
    else this.#sink.punctuation(code, at, at + 1);
  }

  #take(codePoint, start, end) {
    const flags = Characters.flagsOf(codePoint);
    if ((flags & this.#special) === 0) {
      this.#flushMarks();
      this.#sink.letter(codePoint, start, end);
    } else if (flags & Characters.DROPPED) {
      return;
    } else if (flags & Characters.SPACE) {
      this.#flushMarks();
      this.#sink.space(start, end);
    } else if (this.#splitIdeographs && flags & Characters.IDEOGRAPH) {
      this.#flushMarks();
      this.#sink.space(start, end);
      this.#decompose(codePoint, flags, start, end);
      this.#flushMarks();
      this.#sink.space(start, end);
    } else {
      this.#decompose(codePoint, flags, start, end);
    }
  }

  #decompose(codePoint, flags, start, end) {
    if (!this.#stripAccents || (flags & Characters.DECOMPOSED) === 0) {
      this.#flushMarks();
      this.#keep(codePoint, start, end);
    } else if (Hangul.isSyllable(codePoint)) {
      this.#flushMarks();
      for (const part of Hangul.parts(codePoint)) this.#keep(part, start, end);
    } else {
      this.#takeParts(codePoint, start, end);
    }
  }

  #takeParts(codePoint, start, end) {
    const place = Characters.decompositions.find(codePoint);
    if (place < 0) {
      this.#takePart(codePoint, true, start, end);
      return;
    }
    const count = Characters.decompositions.count(place);
    for (let number = 0; number < count; number++) {
      this.#takePart(Characters.decompositions.part(place, number), number === 0, start, end);
    }
  }

  /** Takes a character of the decomposed text; `begins`: whether it is the first one of an original character. */
  #takePart(codePoint, begins, start, end) {
    const combiningClass = Characters.combiningClasses.get(codePoint);
    if (combiningClass > 0) {
      const isKept = (Characters.flagsOf(codePoint) & Characters.ACCENT) === 0;
      this.#marks.add(codePoint, combiningClass, begins, isKept, start, end);
      return;
    }
    this.#flushMarks();
    this.#marks.lastStart = start;
    this.#marks.lastEnd = end;
    this.#keep(codePoint, start, end);
  }

  #flushMarks() {
    if (this.#marks.size !== 0) this.#marks.flush(this.#keepMark);
  }

  #keep(codePoint, start, end) {
    const flags = Characters.flagsOf(codePoint);
    if (this.#stripAccents && flags & Characters.ACCENT) return;
    if (!this.#lowercase || (flags & Characters.UPPER) === 0) {
      this.#put(codePoint, flags, start, end);
      return;
    }
    const place = Characters.lower.find(codePoint);
    const count = Characters.lower.count(place);
    for (let number = 0; number < count; number++) {
      const part = Characters.lower.part(place, number);
      this.#put(part, Characters.flagsOf(part), start, end);
    }
  }

  #put(codePoint, flags, start, end) {
    if (flags & Characters.PUNCTUATION) this.#sink.punctuation(codePoint, start, end);
    else this.#sink.letter(codePoint, start, end);
  }
}
