import { isUtf8 } from "node:buffer";

import { KerasBertError } from "../core/error.js";
import { Json } from "../core/file/json.js";

const BUFFER = 1 << 16; // UTF-16 units
const BLANK = /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/; // as Python's `str.strip` removes it

/**
 * Reads the lines of the standard input, in UTF-8 with or without a byte order mark; blank ones are left out.
 *
 * @returns {Promise<string[]>}
 * @throws {KerasBertError} when it has no text, or is not UTF-8.
 */
export async function inputLines() {
  const chunks = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  const lines = decode(Buffer.concat(chunks)).replace(/^\ufeff/, "").split("\n").map((line) => line.replace(/\r$/, ""));
  const texts = lines.filter((line) => !BLANK.test(line));
  if (texts.length === 0) throw new KerasBertError("expected texts in stdin, one per line, received none");
  return texts;
}

/** The standard output, one JSON value a line. */
export class Output {
  #text = "";

  /**
   * Passes an output to `action`, and writes what is left when that has ended, well or not.
   *
   * @param {(output: Output) => Promise<void>} action
   */
  static async use(action) {
    const output = new Output();
    try {
      await action(output);
    } finally {
      await output.#flush();
    }
  }

  /** Writes a value that `Json` knows. */
  async write(value) {
    this.#text += `${Json.write(value)}\n`;
    if (this.#text.length >= BUFFER) await this.#flush();
  }

  async #flush() {
    const text = this.#text;
    this.#text = "";
    await printText(text);
  }
}

/** Writes a text to the standard output. Rejects with `code` EPIPE when its reader has stopped. */
export function printText(text) {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/** Prints a line for people. */
export function note(line) {
  process.stderr.write(`${line}\n`);
}

function decode(bytes) {
  const text = bytes.toString("utf8");
  if (isUtf8(bytes)) return text;
  const offset = invalidPlace(bytes, Buffer.from(text));
  const byte = `0x${bytes[offset].toString(16).padStart(2, "0")}`;
  throw new KerasBertError(`expected UTF-8 in stdin, received byte ${byte} at offset ${offset}; convert it to UTF-8`);
}

/** The first byte that is no UTF-8: in `repaired`, a replacement character stands in its place. */
function invalidPlace(bytes, repaired) {
  let place = 0;
  while (bytes[place] === repaired[place]) place++;
  while ((repaired[place] & 0xc0) === 0x80) place--;
  return place;
}
