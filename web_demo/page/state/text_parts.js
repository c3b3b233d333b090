/**
 * A part of a text, which a mark may cover.
 *
 * @template M
 * @typedef {object} TextPart
 * @property {string} text
 * @property {M | null} mark what covers it; null for text between marks
 */

/**
 * Splits a text at the borders of marks.
 *
 * @template {{start: number, end: number}} M
 * @param {string} text
 * @param {M[]} marks in UTF-16 units, in the order of the text; of those that overlap the first one is kept
 * @returns {TextPart<M>[]}
 */
export function partsOf(text, marks) {
  const parts = [];
  let at = 0;
  for (const mark of marks) {
    if (mark.start < at || mark.end <= mark.start || mark.end > text.length) continue;
    if (mark.start > at) parts.push({ text: text.slice(at, mark.start), mark: null });
    parts.push({ text: text.slice(mark.start, mark.end), mark });
    at = mark.end;
  }
  if (at < text.length) parts.push({ text: text.slice(at), mark: null });
  return parts;
}

/**
 * The part of a long text around a place, so that a page need not lay out all of it.
 *
 * @param {string} text
 * @param {number} start the first UTF-16 unit of the place
 * @param {number} end the unit after its last one
 * @param {number} most the most units on each side of it
 * @returns {{start: number, end: number}} never between the halves of a surrogate pair
 */
export function passageAround(text, start, end, most) {
  let first = Math.max(0, start - most);
  let last = Math.min(text.length, end + most);
  if (first > 0 && isPair(text, first)) first -= 1;
  if (last < text.length && isPair(text, last)) last += 1;
  return { start: first, end: last };
}

function isPair(text, unit) {
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(unit - 1, unit + 1));
}
