import { KerasBertError } from "../error.js";

/** A part of a text that is too long for one row. */
export class Window {
  /**
   * @param {number} start its first token.
   * @param {number} end the token after its last one.
   */
  constructor(start, end) {
    this.start = start;
    this.end = end;
  }
}

/**
 * Splits a text into overlapping windows. The last one ends with the text; a text without tokens has one empty window.
 *
 * @param {number} tokens tokens in the text.
 * @param {number} room the most tokens in a window.
 * @param {number} stride tokens between the starts of two windows: BERT's `doc_stride`, not the overlap that Hugging Face calls stride.
 * @returns {Window[]}
 * @throws {KerasBertError} when `room` is below 1, or `stride` is not from 1 to `room`.
 */
export function windows(tokens, room, stride) {
  if (!(room >= 1)) throw new KerasBertError(`expected room for at least one token in a window, received ${room}`);
  if (!(stride >= 1 && stride <= room)) {
    throw new KerasBertError(`expected a stride from 1 to ${room}, the tokens of a window, received ${stride}`);
  }
  const all = [];
  for (let start = 0; ; start += stride) {
    all.push(new Window(start, Math.min(start + room, tokens)));
    if (start + room >= tokens) return all;
  }
}

/**
 * Returns the number of context tokens on the shorter side of a token; below 0 outside of the window.
 *
 * Of several windows, the one with the maximum is used for a token (Devlin et al. 2018, "max context").
 *
 * @param {number} position the token's position in the text.
 * @param {Window} window
 * @returns {number}
 */
export function maxContext(position, window) {
  return Math.min(position - window.start, window.end - 1 - position);
}

/**
 * Returns the default number of tokens between the starts of two windows.
 *
 * Windows overlap by a third of the row, for example 128 of 384 tokens, but at most by half of `room`.
 *
 * @param {number} length the most tokens in a row.
 * @param {number} room the most tokens in a window.
 * @returns {number}
 */
export function defaultStride(length, room) {
  return room - Math.min(Math.floor(length / 3), Math.floor(room / 2));
}
