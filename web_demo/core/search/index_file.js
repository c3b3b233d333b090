import { KerasBertError } from "../error.js";
import { crc32 } from "../file/crc32.js";
import { SentenceSearch } from "./sentence_search.js";
import { Int8Vector } from "./vector_index.js";

const MAGIC = 0x4b425349; // "KBSI"
const VERSION = 1;
const MOST_NAME = 1 << 10;
const MOST_TEXT = 1 << 24;
const NUMBER = 4; // bytes

/**
 * Texts with their vectors as bytes.
 *
 * The form, with big-endian numbers: `KBSI`, version, fingerprint of the model (length and UTF-8), dimensions, number of texts; for each
 * text its length and UTF-8, its scale (float32) and its vector (int8); CRC-32 of all before it. The Android demo has the same.
 */
export const IndexFile = Object.freeze({
  /**
   * Writes texts with their vectors.
   *
   * @param {SentenceSearch} search
   * @returns {Uint8Array}
   */
  write(search) {
    const encoder = new TextEncoder();
    const [model, ...texts] = [search.model, ...search.texts].map((text) => encoder.encode(text));
    const size = texts.reduce((sum, text) => sum + text.length + search.dimensions + 2 * NUMBER, model.length + 6 * NUMBER);
    const out = new Writer(size);
    out.number(MAGIC);
    out.number(VERSION);
    out.text(model);
    out.number(search.dimensions);
    out.number(search.size);
    for (const [number, text] of texts.entries()) {
      const { scale, values } = search.storedVector(number);
      out.text(text);
      out.float(scale);
      out.bytes(values);
    }
    return out.close();
  },

  /**
   * Reads what `write` wrote.
   *
   * @param {Uint8Array} bytes
   * @param {string | null} model the fingerprint of the model that will encode queries; null to read the texts of any model's index
   * @returns {SentenceSearch}
   * @throws {KerasBertError} when it is another file, damaged, or of another model
   */
  read(bytes, model) {
    const input = new Reader(bytes);
    if (input.number() !== MAGIC) throw damaged("another file");
    const version = input.number();
    if (version !== VERSION) throw damaged(`one of version ${version}, where this program reads ${VERSION}`);
    const writer = input.text(MOST_NAME);
    if (model !== null && writer !== model) throw damaged("one of another model");
    const search = new SentenceSearch(writer, input.number());
    const count = input.number();
    if (count < 0) throw damaged("a damaged one");
    for (let number = 0; number < count; number++) {
      const text = input.text(MOST_TEXT);
      const scale = input.float();
      if (!(scale >= 0 && scale < Infinity)) throw damaged("a damaged one");
      search.addStored(text, new Int8Vector(new Int8Array(input.bytes(search.dimensions)), scale));
    }
    input.checkEnd();
    return search;
  },
});

class Writer {
  #bytes;
  #view;
  #at = 0;

  constructor(size) {
    this.#bytes = new Uint8Array(size);
    this.#view = new DataView(this.#bytes.buffer);
  }

  number(value) {
    this.#view.setInt32(this.#move(NUMBER), value);
  }

  float(value) {
    this.#view.setFloat32(this.#move(NUMBER), value);
  }

  bytes(values) {
    this.#bytes.set(values, this.#move(values.length));
  }

  text(content) {
    this.number(content.length);
    this.bytes(content);
  }

  close() {
    this.number(crc32(this.#bytes.subarray(0, this.#at)));
    return this.#bytes;
  }

  #move(size) {
    const at = this.#at;
    this.#at += size;
    return at;
  }
}

class Reader {
  #bytes;
  #view;
  #at = 0;

  constructor(bytes) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  number() {
    return this.#view.getInt32(this.#move(NUMBER));
  }

  float() {
    return this.#view.getFloat32(this.#move(NUMBER));
  }

  bytes(count) {
    const at = this.#move(count);
    return this.#bytes.slice(at, at + count);
  }

  text(most) {
    const length = this.number();
    if (length < 0 || length > most) throw damaged("a damaged one");
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.bytes(length));
  }

  checkEnd() {
    const expected = crc32(this.#bytes.subarray(0, this.#at));
    if (this.number() >>> 0 !== expected) throw damaged("a damaged one");
  }

  #move(size) {
    const at = this.#at;
    if (at + size > this.#bytes.length) throw damaged("one that was cut short");
    this.#at += size;
    return at;
  }
}

function damaged(received) {
  return new KerasBertError(`expected a search index of this model, received ${received}; build the index again`);
}
