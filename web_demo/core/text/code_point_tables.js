import { IntList } from "./int_list.js";

const BLOCK_BITS = 8;
const BLOCK = 1 << BLOCK_BITS;
const BLOCKS = 0x110000 >> BLOCK_BITS;
const MULTIPLIER = -0x61c88647; // of Fibonacci hashing
const MOST_PARTS = 32;
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES = new Uint8Array(128);
for (let digit = 0; digit < DIGITS.length; digit++) VALUES[DIGITS.charCodeAt(digit)] = digit;

/**
 * Whole numbers in Base64 VLQ (source maps, ECMA-426), the format of `unicode_tables.js`.
 *
 * `benchmarks/parity/unicode_tables.py` describes the three kinds of tables.
 */
export class NumberReader {
  #text;
  #at = 0;

  constructor(text) {
    this.#text = text;
  }

  get hasNext() {
    return this.#at < this.#text.length;
  }

  next() {
    let bits = 0;
    for (let shift = 0; ; shift += 5) {
      const digit = VALUES[this.#text.charCodeAt(this.#at++)];
      bits |= (digit & 31) << shift;
      if (digit < 32) return bits & 1 ? -(bits >>> 1) : bits >>> 1;
    }
  }
}

/**
 * Calls `action` with the first code point and the one after the last one of each range of a table.
 *
 * @param {string} table
 * @param {(first: number, end: number) => void} action
 */
export function forEachRange(table, action) {
  const numbers = new NumberReader(table);
  let end = 0;
  while (numbers.hasNext) {
    const first = end + numbers.next();
    end = first + numbers.next();
    action(first, end);
  }
}

/**
 * Calls `action` with each code point of a table of values and its value.
 *
 * @param {string} table
 * @param {(codePoint: number, value: number) => void} action
 */
export function forEachValue(table, action) {
  const numbers = new NumberReader(table);
  let end = 0;
  let value = 0;
  while (numbers.hasNext) {
    const first = end + numbers.next();
    end = first + numbers.next();
    value += numbers.next();
    for (let codePoint = first; codePoint < end; codePoint++) action(codePoint, value);
  }
}

/** Up to eight flags for each code point, in blocks that are shared where they are equal. */
export class CodePointFlags {
  #numbers = new Uint16Array(BLOCKS); // of the block of each 256 code points; block 0 is empty
  #flags;

  /** @param {(Uint8Array | undefined)[]} blocks */
  constructor(blocks) {
    const distinct = new Map([[String(new Uint8Array(BLOCK)), 0]]);
    const kept = [new Uint8Array(BLOCK)];
    for (let number = 0; number < BLOCKS; number++) {
      if (blocks[number] === undefined) continue;
      const key = String(blocks[number]);
      if (!distinct.has(key)) distinct.set(key, kept.push(blocks[number]) - 1);
      this.#numbers[number] = distinct.get(key);
    }
    this.#flags = new Uint8Array(kept.length * BLOCK);
    kept.forEach((block, number) => this.#flags.set(block, number * BLOCK));
  }

  /** The flags of a code point, one bit each. */
  get(codePoint) {
    return this.#flags[(this.#numbers[codePoint >> BLOCK_BITS] << BLOCK_BITS) | (codePoint & (BLOCK - 1))];
  }
}

/** Collects the flags. */
export class CodePointFlagsBuilder {
  #blocks = new Array(BLOCKS);

  add(flag, codePoint) {
    const number = codePoint >> BLOCK_BITS;
    const block = (this.#blocks[number] ??= new Uint8Array(BLOCK));
    block[codePoint & (BLOCK - 1)] |= flag;
  }

  addRanges(flag, table) {
    forEachRange(table, (first, end) => {
      for (let codePoint = first; codePoint < end; codePoint++) this.add(flag, codePoint);
    });
    return this;
  }

  build() {
    return new CodePointFlags(this.#blocks);
  }
}

/** A map from code points to whole numbers from 0 on. */
export class CodePointMap {
  #shift;
  #keys;
  #values;

  constructor(capacity) {
    const bits = Math.max(1, 32 - Math.clz32(2 * capacity));
    this.#shift = 32 - bits;
    this.#keys = new Int32Array(1 << bits).fill(-1);
    this.#values = new Int32Array(1 << bits);
  }

  set(codePoint, value) {
    const slot = this.#slot(codePoint);
    this.#keys[slot] = codePoint;
    this.#values[slot] = value;
  }

  /** The value of a code point, or -1. */
  get(codePoint) {
    const slot = this.#slot(codePoint);
    return this.#keys[slot] === codePoint ? this.#values[slot] : -1;
  }

  #slot(codePoint) {
    let slot = Math.imul(codePoint, MULTIPLIER) >>> this.#shift;
    while (this.#keys[slot] !== codePoint && this.#keys[slot] >= 0) slot = (slot + 1) & (this.#keys.length - 1);
    return slot;
  }
}

/** Code points and the one or several that each of them becomes, of a table of mappings. */
export class CodePointMappings {
  #codePoints;
  #places;
  #parts; // the number of parts of a mapping, then the parts

  constructor(table) {
    const codePoints = new IntList(2048);
    const starts = new IntList(2048);
    const parts = new IntList(8192);
    const before = new Int32Array(MOST_PARTS);
    const numbers = new NumberReader(table);
    let codePoint = 0;
    while (numbers.hasNext) {
      codePoint += numbers.next();
      codePoints.add(codePoint);
      starts.add(parts.size);
      const count = numbers.next();
      parts.add(count);
      for (let number = 0; number < count; number++) {
        before[number] += numbers.next();
        parts.add(before[number]);
      }
    }
    this.#parts = parts.toArray();
    this.#codePoints = codePoints.toArray();
    this.#places = new CodePointMap(codePoints.size);
    this.#codePoints.forEach((code, number) => this.#places.set(code, starts.get(number)));
  }

  /** The place of a code point's mapping, or -1. */
  find(codePoint) {
    return this.#places.get(codePoint);
  }

  /** The number of parts of the mapping at a place. */
  count(place) {
    return this.#parts[place];
  }

  /** A part of the mapping at a place. */
  part(place, number) {
    return this.#parts[place + 1 + number];
  }

  /** Calls `action` with each code point that has a mapping. */
  forEach(action) {
    this.#codePoints.forEach((codePoint) => action(codePoint));
  }
}
