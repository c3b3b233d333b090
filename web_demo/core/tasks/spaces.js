const SPACE = /[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;
const NO_SPACE = new RegExp(SPACE.source.replace("[", "[^"));

/**
 * Whether Python's `str.isspace` holds for a character. All white space is in the first plane, so a UTF-16 unit suffices.
 *
 * @param {string} character one UTF-16 unit
 */
export function isSpace(character) {
  return SPACE.test(character);
}

/**
 * Whether a text has nothing but white space.
 *
 * @param {string} text
 */
export function isBlank(text) {
  return !NO_SPACE.test(text);
}
