import { KerasBertError } from "../error.js";

// Fields of the protocol buffers ModelProto, SentencePiece and NormalizerSpec of google/sentencepiece.
const PIECES = 1;
const NORMALIZER = 3;
const PIECE = 1;
const SCORE = 2;
const CHARACTER_MAP = 2;
const VARINT = 0;
const EIGHT_BYTES = 1;
const LENGTH = 2;
const FOUR_BYTES = 5;

/** The pieces of a SentencePiece model, their scores and its character map. */
export class SentencePieceModel {
  /** @type {string[]} the pieces in the order of their ids. */
  pieces = [];

  /** @type {number[]} their log probabilities. */
  scores = [];

  /** The `precompiled_charsmap`. */
  characterMap = new Uint8Array(0);

  /**
   * @param {string} text the model in base64.
   * @throws {KerasBertError} when it is damaged.
   */
  constructor(text) {
    let bytes;
    try {
      bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    } catch {
      throw damaged("another text");
    }
    forEachField(bytes, (field, value) => {
      if (field === PIECES) this.#addPiece(value);
      else if (field === NORMALIZER) this.#readNormalizer(value);
    });
    if (this.pieces.length === 0) throw damaged("none");
  }

  #addPiece(bytes) {
    let piece = "";
    let score = 0;
    forEachField(bytes, (field, value) => {
      if (field === PIECE) piece = new TextDecoder().decode(value);
      else if (field === SCORE && value.length === 4) score = new DataView(value.buffer, value.byteOffset).getFloat32(0, true);
    });
    this.pieces.push(piece);
    this.scores.push(score);
  }

  #readNormalizer(bytes) {
    forEachField(bytes, (field, value) => {
      if (field === CHARACTER_MAP) this.characterMap = value;
    });
  }
}

/** Calls `action` with the number and the bytes of each field; those of a whole number are left out. */
function forEachField(bytes, action) {
  let at = 0;
  while (at < bytes.length) {
    const [key, afterKey] = varint(bytes, at);
    const kind = key & 7;
    let start = afterKey;
    let end = afterKey;
    if (kind === VARINT) end = varint(bytes, afterKey)[1];
    else if (kind === EIGHT_BYTES) end += 8;
    else if (kind === FOUR_BYTES) end += 4;
    else if (kind === LENGTH) {
      const [length, afterLength] = varint(bytes, afterKey);
      start = afterLength;
      end = afterLength + length;
    } else throw damaged(`a field of kind ${kind}`);
    if (end > bytes.length) throw damaged("the first part of one");
    if (kind !== VARINT) action(key >>> 3, bytes.subarray(start, end));
    at = end;
  }
}

/** A whole number of 7 bits a byte, the lowest first, and the place behind it. Numbers of more than 32 bits are cut. */
function varint(bytes, from) {
  let value = 0;
  for (let at = from; at < bytes.length && at < from + 10; at++) {
    if (at < from + 5) value |= (bytes[at] & 0x7f) << (7 * (at - from));
    if (bytes[at] < 0x80) return [value >>> 0, at + 1];
  }
  throw damaged("the first part of one");
}

function damaged(received) {
  return new KerasBertError(`expected a SentencePiece model in base64, received ${received}; convert the model again`);
}
