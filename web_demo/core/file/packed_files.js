import { crc32 } from "./crc32.js";
import { DamagedError } from "./flat_buffer.js";
import { metadataError } from "./metadata.js";

export const DESCRIPTION = "kerasbert.json";
export const VOCABULARY = "vocab.txt";
export const LABELS = "labels.txt";

const MOST_MEMBERS = 16;
const MOST_BYTES = new Map([[DESCRIPTION, 8 << 20], [VOCABULARY, 32 << 20], [LABELS, 4 << 20]]);

// Signatures and sizes of APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16. Numbers are little-endian.
export const MEMBER = 0x04034b50;
export const DIRECTORY_ENTRY = 0x02014b50;
export const END = 0x06054b50;
const MEMBER_SIZE = 30;
const ENTRY_SIZE = 46;
const END_SIZE = 22;
const MOST_COMMENT = 65_535;
const ENCRYPTED = 1;

/**
 * The files that are packed behind the FlatBuffer of a `.tflite`: a zip archive whose members are stored, not compressed.
 *
 * Only the archives that kerasbert writes are read. A stored member is no larger than the file, so none unpacks into a huge one.
 */
export class PackedFiles {
  #bytes;
  #view;
  #name;

  /**
   * @param {Uint8Array} bytes the bytes of the whole `.tflite`
   * @param {string} name its name in messages
   */
  constructor(bytes, name) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#name = name;
  }

  /**
   * Returns the text of each packed file by its name; null where kerasbert packed none.
   *
   * @returns {Map<string, string> | null}
   * @throws {KerasBertError} when the archive is damaged or hostile
   */
  read() {
    const end = this.#endOfDirectory();
    if (end === null) {
      if (!this.#hasDescription()) return null;
      throw this.#damaged("an archive without its end: the file was cut short, or other bytes follow it");
    }
    const members = this.#members(end);
    if (!members.some((member) => member.name === DESCRIPTION)) return null;
    this.#check(members);
    return new Map(members.map((member) => [member.name, this.#text(member)]));
  }

  /**
   * Returns the place behind the FlatBuffer where the packed files start; the end of the file where there are none.
   *
   * @returns {number}
   * @throws {KerasBertError} when the archive is damaged
   */
  start() {
    const end = this.#endOfDirectory();
    if (end === null) return this.#bytes.length;
    return Math.min(...this.#members(end).map((member) => member.at), end);
  }

  /** The place of the record at the end of the archive, which only a comment may follow. */
  #endOfDirectory() {
    const last = this.#bytes.length - END_SIZE;
    for (let place = last; place >= Math.max(0, last - MOST_COMMENT); place--) {
      if (this.#uint32(place) === END && this.#uint16(place + 20) === last - place) return place;
    }
    return null;
  }

  #hasDescription() {
    const wanted = new TextEncoder().encode(DESCRIPTION);
    let place = this.#bytes.indexOf(wanted[0], MEMBER_SIZE);
    while (place >= 0 && place <= this.#bytes.length - wanted.length) {
      if (this.#uint32(place - MEMBER_SIZE) === MEMBER && wanted.every((byte, index) => this.#bytes[place + index] === byte)) return true;
      place = this.#bytes.indexOf(wanted[0], place + 1);
    }
    return false;
  }

  #members(end) {
    try {
      return this.#directory(end);
    } catch (error) {
      if (!(error instanceof DamagedError)) throw error;
      throw this.#damaged(`an archive that does not open (${error.message})`);
    }
  }

  #directory(end) {
    const count = this.#uint16(end + 10);
    if (count > MOST_MEMBERS) throw this.#damaged(`${count} packed files, more than ${MOST_MEMBERS}`);
    // Offsets count from the start of the archive, or of the file, as the one who appended it did.
    const start = end - this.#uint32(end + 12);
    const shift = start - this.#uint32(end + 16);
    if (start < 0 || shift < 0) throw new DamagedError("a directory outside the file");
    const members = [];
    let at = start;
    for (let number = 0; number < count; number++) {
      if (at + ENTRY_SIZE > end || this.#uint32(at) !== DIRECTORY_ENTRY) throw new DamagedError("a directory without an entry");
      const afterName = at + ENTRY_SIZE + this.#uint16(at + 28);
      if (afterName > end) throw new DamagedError("a name past the directory's end");
      members.push(this.#member(at, shift));
      at = afterName + this.#uint16(at + 30) + this.#uint16(at + 32);
    }
    return members;
  }

  /** One entry of the directory. */
  #member(at, shift) {
    return {
      name: this.#ascii(at + ENTRY_SIZE, this.#uint16(at + 28)),
      flags: this.#uint16(at + 8),
      method: this.#uint16(at + 10),
      crc: this.#uint32(at + 16),
      packed: this.#uint32(at + 20),
      size: this.#uint32(at + 24),
      at: this.#uint32(at + 42) + shift,
    };
  }

  #check(members) {
    const names = new Set();
    for (const { name, flags, method, size, packed } of members) {
      const most = MOST_BYTES.get(name);
      if (most === undefined) {
        throw this.#damaged(`a packed file '${name.slice(0, 60)}', not one of ${[...MOST_BYTES.keys()].sort().join(", ")}`);
      }
      if (names.has(name)) throw this.#damaged("the same packed file twice");
      names.add(name);
      if (flags & ENCRYPTED) throw this.#damaged(`an encrypted ${name}`);
      if (method !== 0 || size !== packed) throw this.#damaged(`a compressed ${name}, where stored files belong`);
      if (size > most) throw this.#damaged(`${name} of ${size} bytes, more than ${most}`);
    }
  }

  #text(member) {
    const content = this.#content(member);
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
    } catch {
      throw this.#unreadable(member, "it is not UTF-8");
    }
  }

  #content(member) {
    const { at, name, size } = member;
    if (at + MEMBER_SIZE > this.#bytes.length || this.#uint32(at) !== MEMBER) {
      throw this.#unreadable(member, "it is not where the directory says");
    }
    const start = at + MEMBER_SIZE + this.#uint16(at + 26) + this.#uint16(at + 28);
    if (start + size > this.#bytes.length) throw this.#unreadable(member, "it is longer than the file");
    if (this.#ascii(at + MEMBER_SIZE, this.#uint16(at + 26)) !== name) {
      throw this.#unreadable(member, "it has another name than in the directory");
    }
    const content = this.#bytes.subarray(start, start + size);
    if (crc32(content) !== member.crc) throw this.#unreadable(member, "its checksum is wrong");
    return content;
  }

  #uint16(place) {
    return this.#view.getUint16(place, true);
  }

  #uint32(place) {
    return this.#view.getUint32(place, true);
  }

  /** A name of few characters; those beyond ASCII, which no packed file of kerasbert has, become question marks. */
  #ascii(place, length) {
    if (place + length > this.#bytes.length) throw this.#damaged("a name past the end of the file");
    return Array.from(this.#bytes.subarray(place, place + length), (byte) =>
      byte >= 32 && byte <= 126 ? String.fromCharCode(byte) : "?",
    ).join("");
  }

  #unreadable(member, reason) {
    return this.#damaged(`${member.name} that cannot be read: ${reason}`);
  }

  #damaged(received) {
    return metadataError(this.#name, received);
  }
}
