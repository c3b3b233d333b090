import { SPACES } from "../text/token_tables.js";

/**
 * Whether Python's `str.isspace` holds for a character. All white space is in the first plane, so a UTF-16 unit suffices.
 *
 * @param {string} character one UTF-16 unit
 */
export function isSpace(character) {
  return SPACES.has(character);
}

/**
 * Whether a text has nothing but white space.
 *
 * @param {string} text
 */
export function isBlank(text) {
  return [...text].every(isSpace);
}
