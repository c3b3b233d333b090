import { KerasBertError } from "../error.js";
import { crc32 } from "../file/crc32.js";
import { SentenceSearch } from "./sentence_search.js";
import { Int8Vector, VectorForm } from "./vector_index.js";

const MAGIC = "KBSI";
const VERSION = 2;
const NUMBER = 4; // bytes
const ALIGNMENT = 8;
const START = 8; // bytes before the first section
const HEAD = 16; // bytes of a section before its content
const MOST_ROWS = 1 << 16; // of a section
const MOST_BYTES = 1 << 27;
const WORD = 2 ** 32;
const BITS = new Map([[VectorForm.INT8, 8], [VectorForm.BIT, 1]]);
const LONGEST_NAME = 200; // UTF-16 units of a model's name in a message
const UTF_8 = new TextEncoder();

/** An index has vectors of another model than the one that will encode queries. */
export class OtherModelError extends KerasBertError {}

/**
 * Texts with their vectors as bytes: `.kbindex`, which Python and the Android demo read and write too. `docs/concepts/index-file.md` has
 * its form.
 */
export const IndexFile = Object.freeze({
  /**
   * Writes texts with their vectors.
   *
   * @param {SentenceSearch} search
   * @returns {Uint8Array}
   */
  write(search) {
    const out = new Writer();
    out.bytes(UTF_8.encode(MAGIC));
    out.number(VERSION);
    out.section("INFO", infoOf(search));
    if (search.projection) out.section("PROJ", bytesOf(search.projection));
    for (const rows of parts(search)) out.section("ROWS", rowsOf(search, rows));
    out.section("DONE", new Writer().number(search.size).number(0).close());
    return out.close();
  },

  /**
   * Reads an index.
   *
   * @param {Uint8Array} bytes
   * @param {string | null} model the name of the vectors of the model that will encode queries; null to read the texts of any model's index
   * @returns {SentenceSearch}
   * @throws {KerasBertError} when it is another file or damaged; `OtherModelError` when it is of another model
   */
  read(bytes, model) {
    const start = new Reader(bytes);
    if (start.ascii() !== MAGIC) throw damaged("another file");
    const version = start.number();
    if (version !== VERSION) throw damaged(`one of version ${version}, where this program reads ${VERSION}`);
    let search = null;
    let rows = 0;
    for (let at = START; ; ) {
      const { tag, content, end } = sectionAt(bytes, at);
      at = end;
      const input = new Reader(content);
      if ((tag === "INFO") !== (search === null)) throw damaged("a damaged one");
      if (search === null) {
        search = readInfo(input, model);
      } else if (tag === "PROJ" && search.projection === null && rows === 0) {
        readProjection(input, search);
      } else if (tag === "ROWS" && (search.projection || search.dimensions === search.modelDimensions)) {
        rows += readRows(input, search);
      } else if (tag === "DONE") {
        if (input.number() + WORD * input.number() !== rows || at !== bytes.length) throw damaged("a damaged one");
        return search;
      } else {
        throw damaged("a damaged one");
      }
    }
  },
});

/** Ranges of rows, none too large for a section. */
function* parts(search) {
  for (let start = 0; start < search.size; ) {
    let [end, size] = [start, 0];
    while (end < search.size && end - start < MOST_ROWS) {
      size += 3 * search.texts[end].length; // at most
      if (size > MOST_BYTES && end > start) break;
      end++;
    }
    yield [start, end];
    start = end;
  }
}

function infoOf(search) {
  const out = new Writer();
  for (const text of [search.model, search.openedAs]) {
    const bytes = UTF_8.encode(text);
    out.number(bytes.length).bytes(bytes);
  }
  const { modelDimensions, dimensions, form, chunk, overlap } = search;
  for (const value of [modelDimensions, dimensions, BITS.get(form), chunk, overlap]) out.number(value);
  return out.close();
}

function readInfo(input, model) {
  const name = input.text(input.number());
  const openedAs = input.text(input.number());
  if (model !== null && name !== model) throw otherModel(openedAs);
  const [modelDimensions, dimensions, bits, chunk, overlap] = Array.from({ length: 5 }, () => input.number());
  const form = [...BITS.keys()].find((each) => BITS.get(each) === bits);
  if (form === undefined || dimensions < 1 || dimensions > modelDimensions || !input.isAtEnd) throw damaged("a damaged one");
  return new SentenceSearch(name, modelDimensions, { dimensions, form, openedAs, chunk, overlap });
}

function readProjection(input, search) {
  const values = input.floats(search.modelDimensions * search.dimensions);
  if (!input.isAtEnd || !values.every(Number.isFinite)) throw damaged("a damaged one");
  search.projection = values;
}

function rowsOf(search, [start, end]) {
  const numbers = new Map(); // of the documents of these rows
  const rows = [];
  for (let row = start; row < end; row++) {
    const { document } = search.placeOf(row);
    if (!numbers.has(document)) numbers.set(document, numbers.size);
    rows.push({ place: search.placeOf(row), text: UTF_8.encode(search.texts[row]), vector: search.storedVector(row) });
  }
  const names = [...numbers.keys()].map(({ name }) => UTF_8.encode(name));
  const out = new Writer();
  out.number(rows.length).number(names.length);
  for (const { place } of rows) out.number(numbers.get(place.document));
  for (const { place } of rows) out.number(place.start);
  for (const value of ends(rows.map(({ text }) => text.length))) out.number(value);
  for (const { vector } of rows) out.float(vector.scale);
  for (const { checksum } of numbers.keys()) out.number(checksum);
  for (const value of ends(names.map((name) => name.length))) out.number(value);
  for (const { vector } of rows) out.bytes(search.form === VectorForm.INT8 ? bytesOf(vector.values) : packed(vector.values));
  for (const { text } of rows) out.bytes(text);
  for (const name of names) out.bytes(name);
  return out.close();
}

function readRows(input, search) {
  const [count, documents] = [input.number(), input.number()];
  const { dimensions, form } = search;
  const width = form === VectorForm.INT8 ? dimensions : Math.ceil(dimensions / 8);
  if (documents < 1 || documents > count || input.left < count * (16 + width) + 8 * documents) throw damaged("a damaged one");
  const [ofRow, starts, textEnds] = [input.numbers(count), input.numbers(count), input.numbers(count)];
  const scales = input.floats(count);
  const [checksums, nameEnds] = [input.numbers(documents), input.numbers(documents)];
  const values = input.bytes(count * width);
  if (!areRising(textEnds) || !areRising(nameEnds) || textEnds[count - 1] + nameEnds[documents - 1] !== input.left) {
    throw damaged("a damaged one");
  }
  if (!scales.every((scale) => scale >= 0 && scale < Infinity)) throw damaged("a damaged one");
  const texts = input.texts(textEnds);
  const names = input.texts(nameEnds);
  if (new Set(names).size < documents || ofRow.some((number) => number >= documents)) throw damaged("a damaged one");
  const known = names.map((name, number) => search.documentOf(name, checksums[number]));
  for (let row = 0; row < count; row++) {
    const stored = values.subarray(row * width, (row + 1) * width);
    const numbers = form === VectorForm.INT8 ? new Int8Array(stored) : unpacked(stored, dimensions);
    search.addStored(texts[row], new Int8Vector(numbers, scales[row]), known[ofRow[row]], starts[row]);
  }
  return count;
}

function sectionAt(bytes, at) {
  const head = new Reader(bytes.subarray(at, at + HEAD));
  const tag = head.ascii();
  const checksum = head.number();
  const size = head.number() + WORD * head.number();
  const content = bytes.subarray(at + HEAD, at + HEAD + size);
  const end = at + HEAD + Math.ceil(size / ALIGNMENT) * ALIGNMENT;
  if (content.length < size || end > bytes.length) throw damaged("one that was cut short");
  const isPadded = bytes.subarray(at + HEAD + size, end).every((byte) => byte === 0);
  if (!isPadded || crc32(content) !== checksum) throw damaged("a damaged one");
  return { tag, content, end };
}

/** The sums of the first lengths, of the first two, and so on. */
function ends(lengths) {
  let sum = 0;
  return lengths.map((length) => (sum += length));
}

function areRising(numbers) {
  return numbers.every((number, place) => place === 0 || number >= numbers[place - 1]);
}

/** The signs of numbers, eight to a byte, the first in the lowest bit. */
function packed(values) {
  const bytes = new Uint8Array(Math.ceil(values.length / 8));
  for (const [place, value] of values.entries()) if (value > 0) bytes[place >> 3] |= 1 << (place & 7);
  return bytes;
}

function unpacked(bytes, count) {
  return Int8Array.from({ length: count }, (_, place) => ((bytes[place >> 3] >> (place & 7)) & 1 ? 1 : -1));
}

function bytesOf(array) {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Writes little-endian numbers. Typed arrays are so on every device with WebAssembly. */
class Writer {
  #bytes = new Uint8Array(1 << 12);
  #view = new DataView(this.#bytes.buffer);
  #at = 0;

  number(value) {
    const at = this.#move(NUMBER); // which may make a new view
    this.#view.setUint32(at, value, true);
    return this;
  }

  float(value) {
    const at = this.#move(NUMBER);
    this.#view.setFloat32(at, value, true);
  }

  bytes(values) {
    const at = this.#move(values.length);
    this.#bytes.set(values, at);
    return this;
  }

  section(tag, content) {
    this.bytes(UTF_8.encode(tag));
    this.number(crc32(content));
    this.number(content.length).number(0);
    this.bytes(content);
    this.#move((ALIGNMENT - (content.length % ALIGNMENT)) % ALIGNMENT);
  }

  close() {
    return this.#bytes.slice(0, this.#at);
  }

  #move(size) {
    const at = this.#at;
    this.#at += size;
    if (this.#at > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#at, 2 * this.#bytes.length));
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
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

  /** The number of bytes that were not read. */
  get left() {
    return this.#bytes.length - this.#at;
  }

  get isAtEnd() {
    return this.left === 0;
  }

  number() {
    return this.#view.getUint32(this.#move(NUMBER), true);
  }

  numbers(count) {
    return new Uint32Array(this.#copy(NUMBER * count));
  }

  floats(count) {
    return new Float32Array(this.#copy(NUMBER * count));
  }

  bytes(count) {
    const at = this.#move(count);
    return this.#bytes.subarray(at, at + count);
  }

  /** Four letters; others where there are none. */
  ascii() {
    return String.fromCharCode(...this.bytes(NUMBER));
  }

  text(length) {
    return decoded(this.bytes(length));
  }

  texts(ends) {
    return Array.from(ends, (end, place) => this.text(end - (place ? ends[place - 1] : 0)));
  }

  #copy(size) {
    return new Uint8Array(this.bytes(size)).buffer; // a copy: `slice` of a Buffer of Node makes none
  }

  #move(size) {
    const at = this.#at;
    if (at + size > this.#bytes.length) throw damaged("one that was cut short");
    this.#at += size;
    return at;
  }
}

function decoded(bytes) {
  try {
    return new TextDecoder("utf-8", { ignoreBOM: true, fatal: true }).decode(bytes);
  } catch {
    throw damaged("a damaged one");
  }
}

function otherModel(openedAs) {
  const [named, wanted] = openedAs ? [`named '${openedAs.slice(0, LONGEST_NAME)}'`, "that model"] : ["which it does not name", "its model"];
  const received = `one of another model, ${named}`;
  return new OtherModelError(`expected a search index of this model, received ${received}; open ${wanted}, or build the index again`);
}

function damaged(received) {
  return new KerasBertError(`expected a search index of this model, received ${received}; build the index again`);
}
