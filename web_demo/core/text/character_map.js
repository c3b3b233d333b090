import { KerasBertError } from "../error.js";

const LONGEST_CLUSTER = 6; // bytes in UTF-8: clusters from this length on are mapped character by character

/**
 * The `precompiled_charsmap` of a SentencePiece model: what characters, and short clusters of them, are replaced by.
 *
 * The format is a size in bytes, a double array (Darts) of so many bytes, and the replacements, each with a NUL behind it. As in the
 * crate `spm_precompiled` of `tokenizers`, the shortest entry that a cluster begins with replaces the whole cluster.
 */
export class CharacterMap {
  #units;
  #replacements;
  #decoded = new Map(); // code points by place

  /**
   * @param {Uint8Array} bytes
   * @throws {KerasBertError} when they are damaged.
   */
  constructor(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const size = bytes.length >= 4 ? view.getUint32(0, true) : 0;
    if (size === 0 || size % 4 !== 0 || size + 4 > bytes.length) throw damaged(bytes.length);
    this.#units = new Uint32Array(size / 4);
    for (let place = 0; place < this.#units.length; place++) this.#units[place] = view.getUint32(4 + 4 * place, true);
    this.#replacements = bytes.subarray(4 + size);
  }

  /**
   * What replaces code points of fewer than six bytes in UTF-8: code points, or null where nothing does.
   *
   * @param {ArrayLike<number>} codePoints
   * @param {number} from
   * @param {number} to
   * @returns {number[] | null}
   */
  replacement(codePoints, from, to) {
    let node = offsetOf(this.#units[0]);
    for (let at = from; at < to; at++) {
      const length = bytesOf(codePoints[at]);
      for (let number = 0; number < length; number++) {
        const byte = byteOf(codePoints[at], length, number);
        if (byte === 0) return null;
        node ^= byte;
        const unit = this.#units[node]; // undefined, and so no label, outside of a damaged array
        if ((unit & 0x800000ff) >>> 0 !== byte) return null;
        node ^= offsetOf(unit);
        if ((unit >>> 8) & 1) return this.#decode(node);
      }
    }
    return null;
  }

  /** The code points whose place a unit has. */
  #decode(node) {
    if (!(node >= 0 && node < this.#units.length)) throw damaged(this.#replacements.length);
    const place = this.#units[node] & 0x7fffffff;
    let found = this.#decoded.get(place);
    if (found === undefined) {
      const end = this.#replacements.indexOf(0, place);
      if (end < 0) throw damaged(this.#replacements.length);
      found = Array.from(new TextDecoder().decode(this.#replacements.subarray(place, end)), (each) => each.codePointAt(0));
      this.#decoded.set(place, found);
    }
    return found;
  }
}

/** Whether a cluster of so many bytes in UTF-8 is looked up as a whole. */
export function isShort(bytes) {
  return bytes < LONGEST_CLUSTER;
}

/** The bytes of a code point in UTF-8. */
export function bytesOf(codePoint) {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}

function byteOf(codePoint, length, number) {
  if (length === 1) return codePoint;
  const bits = (codePoint >> (6 * (length - 1 - number))) & 0x3f;
  return number === 0 ? ((0xf00 >> length) & 0xff) | bits : 0x80 | bits;
}

function offsetOf(unit) {
  return (unit >>> 10) << ((unit & 0x200) >>> 6);
}

function damaged(size) {
  return new KerasBertError(`expected a character map as SentencePiece writes it, received ${size} other bytes; convert the model again`);
}
