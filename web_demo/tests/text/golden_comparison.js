import { KerasBertError } from "../../core/error.js";
import { CodePoints } from "../../core/text/code_points.js";
import { Truncation } from "../../core/text/truncation.js";
import { defaultStride, windows } from "../../core/text/windows.js";
import { Words } from "../../core/text/words.js";

const MAX_EXAMPLES = 5;
const EXCERPT = 120;
const SHOWN = 8;
const LONGEST_QUESTION = 64; // tokens

/** Compares a tokenizer with the golden vectors of one case, and counts what differs. */
export class GoldenComparison {
  #case;
  #texts;
  #tokenizer;
  #finalSigma; // depends on MeCab's words; see JapaneseCharacters
  #sigma;

  /** What differs, of each kind: nothing where all is equal. */
  mismatches = {};

  /** The number of compared rows of each file. */
  rows = {};

  /** The number of tokens of all texts. */
  tokenCount = 0;

  /** Escaped texts of the first differences. */
  examples = [];

  /**
   * @param {GoldenCase} golden
   * @param {string[]} texts
   * @param {Tokenizer} [tokenizer] another one than that of the case.
   */
  constructor(golden, texts, tokenizer = golden.tokenizer()) {
    this.#case = golden;
    this.#texts = texts;
    this.#tokenizer = tokenizer;
    this.#finalSigma = golden.lowersWords ? tokenizer.vocabulary.indexOf("\u03c2") : -1;
    this.#sigma = tokenizer.vocabulary.indexOf("\u03c3");
  }

  /** Compares all files. */
  all() {
    this.#tokens();
    this.#pairs();
    this.#windows();
    this.#words();
    return this;
  }

  toString() {
    const counts = `${this.#case.name}: ${JSON.stringify(this.rows)}, mismatches ${JSON.stringify(this.mismatches)}`;
    return [counts, ...this.examples].join("\n  ");
  }

  #tokens() {
    this.#compare("tokens", (row, number) => {
      const text = this.#texts[number];
      const tokens = this.#tokenizer.tokens(text);
      this.tokenCount += tokens.size;
      this.#check("ids", text, this.#comparable(row.ids), this.#comparable(tokens.ids));
      this.#check("offsets", text, row.offsets, offsetsOf(text, tokens));
    });
  }

  #pairs() {
    this.#compare("pairs", (row) => {
      const first = this.#texts[row.first];
      const second = row.second === null ? null : this.#texts[row.second];
      const encoded = this.#encoded(first, second, row);
      this.#check("errors", first, "error" in row, encoded === null);
      if (encoded !== null && !("error" in row)) this.#checkPair(encoded, row, first, second);
    });
  }

  #encoded(first, second, row) {
    try {
      return this.#tokenizer.encode(first, second, row.max_length, Truncation.of(row.truncation));
    } catch (error) {
      if (error instanceof KerasBertError) return null;
      throw error;
    }
  }

  #checkPair(encoded, row, first, second) {
    const points = [new CodePoints(first), new CodePoints(second ?? "")];
    const offsets = Array.from(encoded.ids.keys()).flatMap((token) => {
      const text = Math.max(0, encoded.texts[token]);
      return [points[text].ofUnit(encoded.starts[token]), points[text].ofUnit(encoded.ends[token])];
    });
    this.#check("ids of pairs", first, this.#comparable(row.ids), this.#comparable(encoded.ids));
    this.#check("types of pairs", first, row.types, encoded.typeIds);
    this.#check("texts of pairs", first, row.texts, encoded.texts);
    this.#check("offsets of pairs", first, row.offsets, offsets);
    this.#check("truncation of pairs", first, row.truncated, encoded.truncated);
  }

  #windows() {
    this.#compare("windows", (row) => {
      const question = this.#tokenizer.tokens(this.#texts[row.question]);
      const context = this.#tokenizer.tokens(this.#texts[row.context]);
      const longest = Math.min(LONGEST_QUESTION, Math.floor((row.length - this.#tokenizer.specialTokens(true)) / 2));
      const kept = question.slice(0, Math.min(longest, question.size));
      const room = row.length - kept.size - this.#tokenizer.specialTokens(true);
      const stride = row.stride === null ? defaultStride(row.length, room) : Math.min(row.stride, room);
      const received = windows(context.size, room, stride);
      const where = this.#texts[row.context];
      this.#check("windows", where, row.rows.flatMap(({ first, end }) => [first, end]), received.flatMap(({ start, end }) => [start, end]));
      received.slice(0, row.rows.length).forEach((window, number) => {
        const encoded = this.#tokenizer.join(kept, context.slice(window.start, window.end), row.length);
        this.#check("rows of windows", where, this.#comparable(row.rows[number].ids), this.#comparable(encoded.ids));
        this.#check("types of windows", where, row.rows[number].types, encoded.typeIds);
        this.#check("starts of windows", where, row.rows[number].begin, kept.size + 1 + this.#tokenizer.separators);
      });
    });
  }

  #words() {
    this.#compare("words", (row) => {
      const words = Words.of(row.words ?? this.#texts[row.text]);
      const points = new CodePoints(words.text);
      const places = { starts: words.starts, ends: words.ends, piece_starts: words.pieceStarts, piece_ends: words.pieceEnds };
      for (const [name, units] of Object.entries(places)) {
        this.#check(`${name} of words`, words.text, row[name], Array.from(units, (unit) => points.ofUnit(unit)));
      }
      this.#check("owners of words", words.text, row.owners, words.owners);
      this.#check("first tokens", words.text, row.first_tokens, words.firstTokens(this.#tokenizer.tokens(words.text)));
    });
  }

  #compare(name, action) {
    let number = 0;
    for (const row of this.#case.rows(name)) action(row, number++);
    this.rows[name] = number;
  }

  #comparable(ids) {
    return this.#finalSigma < 0 ? ids : ids.map((id) => (id === this.#finalSigma ? this.#sigma : id));
  }

  #check(what, text, expected, received) {
    if (isEqual(expected, received)) return;
    this.mismatches[what] = (this.mismatches[what] ?? 0) + 1;
    if (this.examples.length >= MAX_EXAMPLES) return;
    this.examples.push(`${what} of ${escaped(text)}: expected ${shown(expected, received)}, received ${shown(received, expected)}`);
  }
}

/** The offsets of tokens in code points, start and end of the first one, of the second one, and so on. */
function offsetsOf(text, tokens) {
  const points = new CodePoints(text);
  const offsets = new Int32Array(2 * tokens.size);
  for (let token = 0; token < tokens.size; token++) {
    offsets[2 * token] = points.ofUnit(tokens.starts[token]);
    offsets[2 * token + 1] = points.ofUnit(tokens.ends[token]);
  }
  return offsets;
}

function isEqual(expected, received) {
  if (typeof expected !== "object" || typeof received !== "object") return expected === received;
  if (expected.length !== received.length) return false;
  for (let place = 0; place < expected.length; place++) if (expected[place] !== received[place]) return false;
  return true;
}

/** A value, of two lists only from where they differ. */
export function shown(value, other) {
  if (typeof value !== "object") return String(value);
  let first = 0;
  while (first < value.length && value[first] === other[first]) first++;
  return `${value.length} with [${Array.from(value.slice(first, first + SHOWN))}] from ${first} on`;
}

/** The first characters of a text, in ASCII. */
export function escaped(text) {
  return text.slice(0, EXCERPT).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
