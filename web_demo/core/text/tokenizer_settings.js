import { KerasBertError } from "../error.js";
import { SPECIAL_NAMES } from "./token_tables.js";

const UNLIMITED = 1_000_000_000; // Python writes a larger number for "no limit"
const EXCERPT = 100;
const COMMON = [...SPECIAL_NAMES.keys(), "kind", "added_tokens", "model_max_length"];
const ADDED_TOKEN_FLAGS = ["lstrip", "rstrip", "single_word", "normalized", "special"];

/** The vocabulary and the checked settings of a tokenizer that all kinds share. */
export class TokenizerSettings {
  #values;
  #ids = new Map();

  /**
   * @param {string[]} vocabulary the tokens in the order of their ids.
   * @param {Record<string, unknown>} values the settings of a file.
   */
  constructor(vocabulary, values) {
    this.vocabulary = vocabulary;
    this.#values = values;

    /** The name of the kind. */
    this.kind = this.#value("kind", "wordpiece", "a text", (value) => typeof value === "string");

    this.#readVocabulary();

    /** The special tokens by role. */
    this.specialTokens = this.#readSpecialTokens();

    /** @type {import("./token_finder.js").AddedToken[]} the tokens that the settings add. */
    this.addedTokens = this.#readAddedTokens();

    /** @type {number | null} the longest sequence. */
    this.maxLength = this.#readMaxLength();
  }

  /** The id of a token of the vocabulary. */
  id(token) {
    return this.#ids.get(token);
  }

  /** The id of a special token. */
  specialId(role) {
    return this.id(this.specialTokens[role]);
  }

  /**
   * The tokens that are found in a text before it is split, in the order of their ids: special and added ones.
   *
   * @returns {import("./token_finder.js").AddedToken[]}
   */
  foundTokens() {
    const byContent = new Map();
    for (const content of Object.values(this.specialTokens)) byContent.set(content, this.#addedToken({ content }));
    for (const token of this.addedTokens) byContent.set(token.content, token);
    return [...byContent.values()].filter((token) => token.content !== "").sort((one, other) => one.id - other.id);
  }

  /** The number of tokens that texts are split into: all but the added tokens at the end of the vocabulary. */
  modelSize() {
    const added = new Set(this.addedTokens.map((token) => token.content));
    for (const content of Object.values(this.specialTokens)) added.delete(content);
    let size = this.vocabulary.length;
    while (size > 0 && added.has(this.vocabulary[size - 1])) size--;
    return size;
  }

  /** A setting that is true, false or absent. */
  flag(name, absent) {
    return this.#value(name, absent, "true or false", (value) => typeof value === "boolean");
  }

  /** A setting that is a text; null for an absent or an empty one. */
  text(name) {
    return this.#value(name, null, "a text", (value) => typeof value === "string") || null;
  }

  /** Checks that there are no settings but those that all kinds share and `own`. */
  checkNames(...own) {
    const known = new Set([...COMMON, ...own]);
    const unknown = Object.keys(this.#values).filter((name) => !known.has(name)).sort();
    if (unknown.length > 0) {
      throw new KerasBertError(`expected settings of a ${this.kind} tokenizer, received '${unknown[0]}'; a newer version may know it`);
    }
  }

  #value(name, absent, expected, isRight) {
    const value = Object.hasOwn(this.#values, name) ? this.#values[name] : null;
    if (value === null || value === undefined) return absent;
    if (!isRight(value)) throw fault(name, expected, value);
    return value;
  }

  #readVocabulary() {
    if (this.vocabulary.length === 0) throw new KerasBertError("expected a vocabulary, received none; the file has no vocab.txt");
    this.vocabulary.forEach((token, id) => {
      const other = this.#ids.get(token);
      if (other !== undefined) throw new KerasBertError(`expected distinct tokens, received '${token}' as tokens ${other} and ${id}`);
      this.#ids.set(token, id);
    });
  }

  #readSpecialTokens() {
    const tokens = {};
    for (const [role, name] of SPECIAL_NAMES) {
      tokens[role] = this.text(role) ?? name;
      if (!this.#ids.has(tokens[role])) throw this.#missing(`the ${role}`, tokens[role]);
    }
    return tokens;
  }

  #readMaxLength() {
    const isPositive = (value) => typeof value === "number" && value > 0;
    const length = this.#value("model_max_length", null, "a positive number", isPositive);
    return length !== null && length < UNLIMITED ? Math.trunc(length) : null;
  }

  #readAddedTokens() {
    const expected = "a list of objects with content";
    return this.#value("added_tokens", [], expected, Array.isArray).map((entry) => {
      if (!isAddedToken(entry)) throw fault("added_tokens", expected, entry);
      if (!this.#ids.has(entry.content)) throw this.#missing("every added token", entry.content);
      return this.#addedToken(entry);
    });
  }

  #addedToken({ content, lstrip = false, rstrip = false, single_word: singleWord = false, normalized = false }) {
    return { id: this.id(content), content, lstrip, rstrip, singleWord, normalized };
  }

  #missing(what, token) {
    return new KerasBertError(`expected ${what} in the vocabulary, received ${this.vocabulary.length} tokens without '${token}'`);
  }
}

function isAddedToken(entry) {
  if (typeof entry !== "object" || entry === null || typeof entry.content !== "string") return false;
  const flags = Object.entries(entry).filter(([name]) => name !== "content");
  return flags.every(([name, flag]) => typeof flag === "boolean" && ADDED_TOKEN_FLAGS.includes(name));
}

function fault(name, expected, received) {
  const excerpt = (typeof received === "string" ? received : JSON.stringify(received)).slice(0, EXCERPT);
  return new KerasBertError(`expected ${name} of a tokenizer as ${expected}, received ${excerpt}`);
}
