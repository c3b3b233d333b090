import { CodePointFlagsBuilder } from "./code_point_tables.js";
import * as UnicodeData from "./unicode_tables.js";

const JOINED = 1;
const CONTROL = 2;
const PREPENDED = 4;
const CARRIAGE_RETURN = 0xd;
const LINE_FEED = 0xa;

let flags = null; // made when first needed: WordPiece has no use for them

/**
 * Returns the end of the grapheme cluster that begins at a place, as far as clusters of fewer than six bytes in UTF-8 need it: Hangul
 * syllables of parts, flags and joined emoji are longer.
 *
 * @param {ArrayLike<number>} codePoints
 * @param {number} from
 * @param {number} to the end of the text.
 * @returns {number}
 */
export function clusterEnd(codePoints, from, to) {
  let end = from + 1;
  if (codePoints[from] === CARRIAGE_RETURN && codePoints[end] === LINE_FEED && end < to) return end + 1;
  if (is(CONTROL, codePoints[from])) return end;
  while (end < to && is(PREPENDED, codePoints[end - 1]) && !is(CONTROL, codePoints[end])) end++;
  while (end < to && is(JOINED, codePoints[end])) end++;
  return end;
}

function is(flag, codePoint) {
  flags ??= new CodePointFlagsBuilder()
    .addRanges(JOINED, UnicodeData.JOINED)
    .addRanges(CONTROL, UnicodeData.CONTROLS)
    .addRanges(PREPENDED, UnicodeData.PREPENDED)
    .build();
  return (flags.get(codePoint) & flag) !== 0;
}
