import { WordCharacters } from "./characters.js";

/**
 * A token that is found before a text is split into words; see `AddedToken` of `tokenizers`.
 *
 * @typedef {object} AddedToken
 * @property {number} id its id.
 * @property {string} content the token.
 * @property {boolean} lstrip whether it includes the white space before it.
 * @property {boolean} rstrip whether it includes the white space behind it.
 * @property {boolean} singleWord whether it is found only between white space and punctuation.
 * @property {boolean} normalized whether it is looked for in the normalized text.
 */

/** Finds tokens in a text: the leftmost one, of several there the longest (the matches of `tokenizers`). */
export class TokenFinder {
  #tokens = new Map(); // by pattern; of equal patterns, the first one
  #patterns;

  /**
   * @param {AddedToken[]} tokens
   * @param {string[]} patterns the texts by which they are found, none of them empty.
   */
  constructor(tokens, patterns) {
    tokens.forEach((token, number) => {
      if (!this.#tokens.has(patterns[number])) this.#tokens.set(patterns[number], token);
    });
    // A regular expression takes the leftmost match, and there the first alternative.
    const longestFirst = [...this.#tokens.keys()].sort((one, other) => other.length - one.length);
    this.#patterns = new RegExp(longestFirst.map(escaped).join("|"), "g");
  }

  get isEmpty() {
    return this.#tokens.size === 0;
  }

  /**
   * Calls `action` with the parts of a text between tokens (id -1) and with the tokens, white space that they include too.
   *
   * @param {string} text
   * @param {(id: number, from: number, to: number) => void} action
   */
  split(text, action) {
    let partStart = 0;
    let end = 0;
    let pattern;
    while ((pattern = this.#next(text, end)) !== null) {
      const token = this.#tokens.get(pattern[0]);
      const at = pattern.index;
      end = at + pattern[0].length;
      if (token.singleWord && !isSingleWord(text, at, end)) continue;
      const tokenStart = token.lstrip ? Math.max(spaceBefore(text, at), partStart) : at;
      const tokenEnd = token.rstrip ? spaceBehind(text, end) : end;
      if (partStart < tokenStart) action(-1, partStart, tokenStart);
      if (tokenStart < tokenEnd) action(token.id, tokenStart, tokenEnd); // the token before may have taken all of its white space
      partStart = tokenEnd;
    }
    if (partStart !== text.length) action(-1, partStart, text.length);
  }

  #next(text, from) {
    if (this.isEmpty) return null;
    this.#patterns.lastIndex = from;
    return this.#patterns.exec(text);
  }
}

/** A pattern that finds the UTF-16 units of a text, and no others. */
function escaped(text) {
  return text.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function isSingleWord(text, start, end) {
  return (
    (start === 0 || !WordCharacters.isWord(codePointBefore(text, start))) &&
    (end === text.length || !WordCharacters.isWord(text.codePointAt(end)))
  );
}

function spaceBefore(text, start) {
  let at = start;
  while (at > 0 && WordCharacters.isWhiteSpace(text.charCodeAt(at - 1))) at--;
  return at;
}

function spaceBehind(text, end) {
  let at = end;
  while (at < text.length && WordCharacters.isWhiteSpace(text.charCodeAt(at))) at++;
  return at;
}

function codePointBefore(text, at) {
  const pair = at > 1 ? text.codePointAt(at - 2) : 0;
  return pair > 0xffff ? pair : text.charCodeAt(at - 1);
}
