/** Numbers of a FlatBuffer of unknown origin: every place is checked against the file's size. */

const MOST_NAME_BYTES = 1 << 16;
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Damage inside a FlatBuffer; the message describes it. */
export class DamagedError extends Error {}

/** The bytes of a file. */
export class FlatBuffer {
  #bytes;
  #view;

  /** @param {Uint8Array} bytes the bytes of the whole file */
  constructor(bytes) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    /** Bytes of the file. */
    this.size = bytes.length;
  }

  /** The table to which the file's first number points. */
  get root() {
    return new FlatTable(this, this.follow(0));
  }

  byte(place) {
    return this.#view.getInt8(this.#checked(place, 1));
  }

  uint16(place) {
    return this.#view.getUint16(this.#checked(place, 2), true);
  }

  int32(place) {
    return this.#view.getInt32(this.#checked(place, 4), true);
  }

  uint32(place) {
    return this.#view.getUint32(this.#checked(place, 4), true);
  }

  /** A whole number of 64 bits; one that is beyond 2^53 is rounded, which no comparison here notices. */
  int64(place) {
    return Number(this.#view.getBigInt64(this.#checked(place, 8), true));
  }

  float32(place) {
    return this.#view.getFloat32(this.#checked(place, 4), true);
  }

  /** The place to which the offset at a place points. */
  follow(place) {
    return this.inside(place + this.uint32(place));
  }

  /** A place inside the file. */
  inside(place) {
    if (!(place >= 0 && place < this.size)) throw new DamagedError(`an offset to byte ${place}, outside the file`);
    return place;
  }

  /** UTF-8 text, with U+FFFD for bytes that are none. */
  text(place, length) {
    if (length < 0 || place + length > this.size) throw new DamagedError(`a text of ${length} bytes at ${place}, past the end`);
    return UTF8.decode(this.#bytes.subarray(place, place + length));
  }

  #checked(place, width) {
    if (!(place >= 0 && place <= this.size - width)) throw new DamagedError(`an offset to byte ${place}, outside the file`);
    return place;
  }
}

/** A table whose fields are named by their slot of its vtable, as in the generated code of FlatBuffers: 4, 6, 8 and so on. */
export class FlatTable {
  #buffer;
  #vtable;
  #slots;

  /**
   * @param {FlatBuffer} buffer the file
   * @param {number} place the table's first byte
   */
  constructor(buffer, place) {
    this.#buffer = buffer;
    this.place = place;
    this.#vtable = buffer.inside(place - buffer.int32(place));
    this.#slots = buffer.uint16(this.#vtable);
  }

  byte(slot) {
    return this.#number(slot, "byte");
  }

  int32(slot) {
    return this.#number(slot, "int32");
  }

  uint32(slot) {
    return this.#number(slot, "uint32");
  }

  int64(slot) {
    return this.#number(slot, "int64");
  }

  /** A text; empty where there is none. */
  text(slot) {
    const vector = this.vector(slot, 1);
    if (vector === null) return "";
    if (vector.count > MOST_NAME_BYTES) throw new DamagedError(`a name of ${vector.count} bytes`);
    return this.#buffer.text(vector.start, vector.count);
  }

  /** A table; null where there is none. */
  table(slot) {
    const field = this.#field(slot);
    return field === null ? null : new FlatTable(this.#buffer, this.#buffer.follow(field));
  }

  /** A vector of numbers; empty where there is none. */
  int32s(slot) {
    const { start, count } = this.vector(slot, 4) ?? { start: 0, count: 0 };
    return Array.from({ length: count }, (_, index) => this.#buffer.int32(start + 4 * index));
  }

  /** The tables of a vector; empty where there is none. */
  tables(slot) {
    return new Tables(this.#buffer, this.vector(slot, 4));
  }

  /**
   * A vector with elements of a width in bytes.
   *
   * @returns {{start: number, count: number} | null} the place of its first element, and the number of elements; null where there is none
   */
  vector(slot, width) {
    const field = this.#field(slot);
    if (field === null) return null;
    const place = this.#buffer.follow(field);
    const count = this.#buffer.uint32(place);
    if (place + 4 + count * width > this.#buffer.size) {
      throw new DamagedError(`a vector of ${count} entries at byte ${place}, past the end`);
    }
    return { start: place + 4, count };
  }

  #number(slot, kind) {
    const field = this.#field(slot);
    return field === null ? 0 : this.#buffer[kind](field);
  }

  #field(slot) {
    const offset = slot < this.#slots ? this.#buffer.uint16(this.#vtable + slot) : 0;
    return offset === 0 ? null : this.#buffer.inside(this.place + offset);
  }
}

/** A vector of tables, each of which is read when it is asked for: a file of a few bytes may count millions. */
export class Tables {
  #buffer;
  #vector;

  constructor(buffer, vector) {
    this.#buffer = buffer;
    this.#vector = vector;
    /** The number of tables. */
    this.size = vector?.count ?? 0;
  }

  /** The table of a number from 0 on. */
  at(index) {
    if (!(index >= 0 && index < this.size)) throw new DamagedError(`entry ${index} of ${this.size}`);
    return new FlatTable(this.#buffer, this.#buffer.follow(this.#vector.start + 4 * index));
  }

  /** What a function makes of each table. */
  map(transform) {
    return Array.from({ length: this.size }, (_, index) => transform(this.at(index)));
  }
}
