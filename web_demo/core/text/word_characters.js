import { CodePointFlagsBuilder } from "./code_point_tables.js";
import * as UnicodeData from "./unicode_tables.js";

const WORD = 1;
const WHITE_SPACE = 2;
const PUNCTUATION = 4;
const UNSPACED = 8;

let flags = null; // made when first needed: most texts have neither added tokens nor tags

/** The character classes at the edges of words that are found in a text before it is normalized. */
export const WordCharacters = {
  /** Whether a character is part of a word: a letter, digit, mark or connector. */
  isWord: (codePoint) => (flagsOf(codePoint) & WORD) !== 0,

  /** Whether a character is white space. */
  isWhiteSpace: (codePoint) => (flagsOf(codePoint) & WHITE_SPACE) !== 0,

  /** Whether a character is a word of its own: punctuation, an ideograph or a kana. */
  isIsolated: (codePoint) => (flagsOf(codePoint) & (PUNCTUATION | UNSPACED)) !== 0,
};

function flagsOf(codePoint) {
  flags ??= new CodePointFlagsBuilder()
    .addRanges(WORD, UnicodeData.WORD)
    .addRanges(WHITE_SPACE, UnicodeData.WHITE_SPACE)
    .addRanges(PUNCTUATION, UnicodeData.PUNCTUATION)
    .addRanges(UNSPACED, UnicodeData.UNSPACED)
    .build();
  return flags.get(codePoint);
}
