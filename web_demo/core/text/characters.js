import { CodePointFlagsBuilder, CodePointMap, CodePointMappings, forEachValue } from "./code_point_tables.js";
import { Hangul } from "./hangul.js";
import * as UnicodeData from "./unicode_tables.js";

/** Is removed. */
export const DROPPED = 1;

/** Becomes a space. */
export const SPACE = 2;

/** Is a word of its own in the normalizer. */
export const IDEOGRAPH = 4;

/** Is a nonspacing mark. */
export const ACCENT = 8;

/** Is a word of its own in the pre-tokenizer. */
export const PUNCTUATION = 16;

/** Has a lower case. */
export const UPPER = 32;

/** Is decomposed by NFD, or may be reordered. */
export const DECOMPOSED = 64;

/** Mappings to lower case. */
export const lower = new CodePointMappings(UnicodeData.LOWER);

/** Mappings to Unicode form NFD, Hangul syllables left out. */
export const decompositions = new CodePointMappings(UnicodeData.DECOMPOSITIONS);

/** Canonical combining classes other than 0. */
export const combiningClasses = readCombiningClasses(UnicodeData.CLASSES);

const FLAGS = readFlags();

/** The flags of a code point: classes of BERT's normalizer and pre-tokenizer, in the version of Unicode of the Python side. */
export function flagsOf(codePoint) {
  return FLAGS.get(codePoint);
}

/**
 * Reads the combining classes of a table.
 *
 * @param {string} table
 * @returns {CodePointMap}
 */
export function readCombiningClasses(table) {
  let count = 0;
  forEachValue(table, () => count++);
  const classes = new CodePointMap(count);
  forEachValue(table, (codePoint, value) => classes.set(codePoint, value));
  return classes;
}

function readFlags() {
  const builder = new CodePointFlagsBuilder();
  builder.addRanges(DROPPED, UnicodeData.DROPPED);
  builder.addRanges(SPACE, UnicodeData.SPACE);
  builder.addRanges(IDEOGRAPH, UnicodeData.IDEOGRAPHS);
  builder.addRanges(ACCENT, UnicodeData.ACCENTS);
  builder.addRanges(PUNCTUATION, UnicodeData.PUNCTUATION);
  lower.forEach((codePoint) => builder.add(UPPER, codePoint));
  decompositions.forEach((codePoint) => builder.add(DECOMPOSED, codePoint));
  forEachValue(UnicodeData.CLASSES, (codePoint) => builder.add(DECOMPOSED, codePoint));
  Hangul.forEachSyllable((syllable) => builder.add(DECOMPOSED, syllable));
  return builder.build();
}

const WORD = 1;
const WHITE_SPACE = 2;
const ISOLATED = 4;

let wordFlags = null; // made when first needed: most texts have neither added tokens nor tags

/** The character classes at the edges of words that are found in a text before it is normalized. */
export const WordCharacters = {
  /** Whether a character is part of a word: a letter, digit, mark or connector. */
  isWord: (codePoint) => (wordFlagsOf(codePoint) & WORD) !== 0,

  /** Whether a character is white space. */
  isWhiteSpace: (codePoint) => (wordFlagsOf(codePoint) & WHITE_SPACE) !== 0,

  /** Whether a character is a word of its own: punctuation, an ideograph or a kana. */
  isIsolated: (codePoint) => (wordFlagsOf(codePoint) & ISOLATED) !== 0,
};

function wordFlagsOf(codePoint) {
  wordFlags ??= new CodePointFlagsBuilder()
    .addRanges(WORD, UnicodeData.WORD)
    .addRanges(WHITE_SPACE, UnicodeData.WHITE_SPACE)
    .addRanges(ISOLATED, UnicodeData.PUNCTUATION)
    .addRanges(ISOLATED, UnicodeData.UNSPACED)
    .build();
  return wordFlags.get(codePoint);
}
