import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { KerasBertError } from "../core/error.js";

export const USAGE = `usage: node web_demo/run.mjs COMMAND MODEL.tflite [OPTIONS] < INPUT

  tokenize MODEL           token ids and characters of each line
  predict MODEL            predictions of each line, in the form of \`kerasbert predict --json\`
  search MODEL TEXTS       the texts of a .txt, .csv or .kbindex file that are most similar to each line
  inspect MODEL            what the file says about itself; reads no input

A line is a text or a pair {"text": ..., "pair": ...}; for predict also a question {"question": ..., "context": ...} or a
prompt {"prompt": ..., "choices": [...]}. MODEL is a file, or the name of one in zoo/files.

  --top N             search: texts that are found for a line (10)
  --column NAME       search: the column of a table (the one with the longest texts)
  --rerank MODEL      search: a model of pairs, which scores the first texts too
  --candidates N      search: texts that it scores (20)
  --rerank-weight X   search: the weight of its scores, from 0 to 1; the cosines have the rest (0.5)`;

const OPTIONS = ["--top", "--column", "--rerank", "--candidates", "--rerank-weight"];
const ZOO = new URL("../../zoo/files/", import.meta.url);

/** The words of a command line. */
export class Arguments {
  #values = [];
  #options = new Map();

  /**
   * @param {string[]} words
   * @throws {KerasBertError} when an option is unknown or has no value.
   */
  constructor(words) {
    for (let at = 0; at < words.length; at++) {
      if (!words[at].startsWith("--")) this.#values.push(words[at]);
      else this.#readOption(words[at], words[++at]);
    }
  }

  /** The number of words that are no options. */
  get size() {
    return this.#values.length;
  }

  /** @returns {string} a word that is no option. */
  get(index) {
    return this.#values[index];
  }

  /** @returns {string | null} the value of an option. */
  text(name) {
    return this.#options.get(name) ?? null;
  }

  /**
   * Returns the value of an option that is a number from 1 on.
   *
   * @param {string} name
   * @param {number} absent the value without the option.
   * @returns {number}
   * @throws {KerasBertError} when it is none.
   */
  count(name, absent) {
    const text = this.text(name);
    if (text === null) return absent;
    const count = /^\+?\d+$/.test(text) ? Number(text) : 0;
    if (count >= 1 && count < 2 ** 31) return count;
    throw new KerasBertError(`expected ${name} of at least 1, received ${text}; correct it`);
  }

  /**
   * Returns the value of an option that is a number from 0 to 1.
   *
   * @param {string} name
   * @param {number} absent the value without the option.
   * @returns {number}
   * @throws {KerasBertError} when it is none.
   */
  share(name, absent) {
    const text = this.text(name);
    if (text === null) return absent;
    const share = /^\d*\.?\d+$/.test(text) ? Number(text) : -1;
    if (share >= 0 && share <= 1) return share;
    throw new KerasBertError(`expected ${name} from 0 to 1, received ${text}; correct it`);
  }

  /** The path of the model. */
  model() {
    return this.path(this.#values[1]);
  }

  /** The path of a model: the word as it is, or a file of the zoo with that name. A path that exists is never a name. */
  path(word) {
    if (existsSync(word) || /[/\\]/.test(word)) return word;
    const zoo = fileURLToPath(new URL(`${encodeURIComponent(word)}.tflite`, ZOO));
    return existsSync(zoo) ? zoo : word;
  }

  #readOption(name, value) {
    if (!OPTIONS.includes(name)) {
      throw new KerasBertError(`expected an option among ${OPTIONS.join(", ")}, received ${name}; correct it`);
    }
    if (value === undefined) throw new KerasBertError(`expected a value after ${name}, received none; add it`);
    this.#options.set(name, value);
  }
}
