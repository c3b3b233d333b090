import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { KerasBertError } from "../core/error.js";

export const USAGE = `usage: node web_demo/run.mjs COMMAND MODEL.tflite [OPTIONS] < INPUT

  tokenize MODEL           token ids and characters of each line
  predict MODEL            predictions of each line, in the form of \`kerasbert predict --json\`
  search MODEL TEXTS       the texts of a .txt or .csv file that are most similar to each line
  inspect MODEL            what the file says about itself; reads no input

A line is a text or a pair {"text": ..., "pair": ...}; for predict also a question {"question": ..., "context": ...} or a
prompt {"prompt": ..., "choices": [...]}. MODEL is a file, or the name of one in zoo/files.

  --top N         search: texts that are found for a line (10)
  --column NAME   search: the column of a table (the one with the longest texts)`;

const OPTIONS = ["--top", "--column"];
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

  /** The path of the model: the word as it is, or a file of the zoo with that name. A path that exists is never a name. */
  model() {
    const word = this.#values[1];
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
