import { TopScores } from "../top_scores.js";
import { isSpace } from "./spaces.js";

/** The tokens of a context, special ones not included. */
export class ContextTokens {
  /**
   * @param {Int32Array} ids the token ids
   * @param {Int32Array} starts the first UTF-16 unit of each token, white space left out
   * @param {Int32Array} ends the unit after each token's last one, white space left out
   */
  constructor(ids, starts, ends) {
    this.ids = ids;
    this.starts = starts;
    this.ends = ends;
  }

  /**
   * Tokens without the white space that some tokens include.
   *
   * @param {string} text
   * @param {import("../text/tokenizer.js").Tokenizer} tokenizer
   */
  static of(text, tokenizer) {
    const tokens = tokenizer.tokens(text);
    const [starts, ends] = [tokens.starts.slice(), tokens.ends.slice()];
    for (let token = 0; token < tokens.size; token++) {
      while (starts[token] < ends[token] && isSpace(text[starts[token]])) starts[token]++;
      while (ends[token] > starts[token] && isSpace(text[ends[token] - 1])) ends[token]--;
    }
    return new ContextTokens(tokens.ids, starts, ends);
  }
}

/**
 * Tokens of a context in a row.
 *
 * @typedef {object} SpanWindow
 * @property {ContextTokens} context
 * @property {import("../text/windows.js").Window} tokens
 * @property {number} begin the position in the row of the first of them
 * @property {import("../model/row.js").Row} row
 */

/**
 * A span of UTF-16 units of a context, with the sum of both logits.
 *
 * @typedef {{start: number, end: number, score: number}} ScoredSpan
 */

/**
 * The best spans over all windows of a context, and the score of no answer.
 *
 * A span that is in several windows has its highest score. No answer, the sum of both logits of `[CLS]`, has its lowest one: a window with
 * an answer decides (Devlin et al. 2018, section 4.3, and the authors' code). Scores that are not finite are ignored.
 */
export class SpanSearch {
  #longest;
  #count;
  #spans = new Map();
  #lowest = Infinity;

  /**
   * @param {number} longest tokens in the longest span
   * @param {number} count the number of spans to find
   */
  constructor(longest, count) {
    this.#longest = longest;
    this.#count = count;
  }

  /** The score of no answer; 0 where no window has a finite one. */
  get noAnswerScore() {
    return this.#lowest === Infinity ? 0 : this.#lowest;
  }

  /**
   * Takes the logits of a window into account, one for each token of the row.
   *
   * @param {SpanWindow} window
   * @param {Float32Array} startLogits
   * @param {Float32Array} endLogits
   */
  add(window, startLogits, endLogits) {
    const none = Math.fround(startLogits[0] + endLogits[0]);
    if (Number.isFinite(none)) this.#lowest = Math.min(this.#lowest, none);
    const size = window.tokens.end - window.tokens.start;
    const width = Math.max(Math.min(this.#longest, size), 1);
    const start = sides(window, startLogits);
    const end = sides(window, endLogits);
    const best = new TopScores(this.#count);
    for (let first = 0; first < size; first++) {
      for (let last = first; last < Math.min(first + width, size); last++) {
        const score = start[first] + end[last];
        if (Number.isFinite(score)) best.offer(first * width + last - first, score);
      }
    }
    for (const number of best.best()) {
      const first = Math.floor(number / width);
      const last = first + (number % width);
      this.#keep(window, first, last, start[first] + end[last]);
    }
  }

  /**
   * The best spans, best first.
   *
   * @returns {ScoredSpan[]}
   */
  best() {
    const spans = [...this.#spans.values()];
    spans.sort((one, other) => other.score - one.score || one.start - other.start || one.end - other.end);
    return spans.slice(0, this.#count);
  }

  #keep({ context, tokens }, first, last, score) {
    const start = context.starts[tokens.start + first];
    const end = context.ends[tokens.start + last];
    const known = this.#spans.get(`${start} ${end}`);
    this.#spans.set(`${start} ${end}`, { start, end, score: Math.max(score, known?.score ?? score) });
  }
}

/** The logits of the context's tokens; minus infinity for tokens without characters. */
function sides({ context, tokens, begin }, logits) {
  return Float64Array.from({ length: tokens.end - tokens.start }, (_, place) => {
    const token = tokens.start + place;
    return context.ends[token] > context.starts[token] ? logits[begin + place] : -Infinity;
  });
}
