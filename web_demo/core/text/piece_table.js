const CONTINUATION = "##";
const FIRST_SEED = 0;
const NEXT_SEED = 0x5bd1e995;
const MULTIPLIER = -0x61c88647; // of Fibonacci hashing

/** The pieces of a vocabulary by their letters: a hash table with open addressing. */
export class PieceTable {
  #shift;
  #ids; // of each slot, or -1
  #hashes; // of each slot
  #units; // of all pieces, one behind the other, "##" left out
  #starts; // the first unit of each piece, and the end of the last one

  /** The length of the longest piece in UTF-16 units, `##` left out. */
  longest = 0;

  /**
   * @param {string[]} vocabulary the tokens in the order of their ids.
   * @param {number} size ids from this one on are no pieces.
   * @param {string | null} [continuation] the mark of a piece inside of a word; null where there is none.
   */
  constructor(vocabulary, size, continuation = CONTINUATION) {
    const bits = Math.max(4, 33 - Math.clz32(size));
    const pieces = vocabulary.slice(0, size);
    this.#shift = 32 - bits;
    this.#ids = new Int32Array(1 << bits).fill(-1);
    this.#hashes = new Int32Array(1 << bits);
    this.#units = new Uint16Array(pieces.reduce((sum, token) => sum + token.length, 0));
    this.#starts = new Int32Array(size + 1);
    pieces.forEach((token, id) => this.#put(id, token, continuation));
  }

  /** The hash of no letters, at the start of a word or behind one of its pieces. */
  seed(isFirst) {
    return isFirst ? FIRST_SEED : NEXT_SEED;
  }

  /** The hash with one more letter. */
  next(hash, unit) {
    return (Math.imul(hash, 31) + unit) | 0;
  }

  /** The id of the piece with the letters from `from` to `to`, or -1. */
  find(hash, letters, from, to) {
    const mask = this.#ids.length - 1;
    let slot = Math.imul(hash, MULTIPLIER) >>> this.#shift;
    for (let id = this.#ids[slot]; id >= 0; id = this.#ids[slot]) {
      if (this.#hashes[slot] === hash && this.#equals(id, letters, from, to)) return id;
      slot = (slot + 1) & mask;
    }
    return -1;
  }

  #put(id, token, continuation) {
    // A word that starts with "##" does not exist: "#" is punctuation, and a word of its own.
    const isFirst = continuation === null || !token.startsWith(continuation);
    const skipped = isFirst ? 0 : continuation.length;
    const start = this.#starts[id];
    let hash = this.seed(isFirst);
    for (let place = skipped; place < token.length; place++) {
      const unit = token.charCodeAt(place);
      this.#units[start + place - skipped] = unit;
      hash = this.next(hash, unit);
    }
    this.#starts[id + 1] = start + token.length - skipped;
    this.longest = Math.max(this.longest, token.length - skipped);
    if (token.length > skipped) this.#fill(hash, id);
  }

  #fill(hash, id) {
    let slot = Math.imul(hash, MULTIPLIER) >>> this.#shift;
    while (this.#ids[slot] >= 0) slot = (slot + 1) & (this.#ids.length - 1);
    this.#ids[slot] = id;
    this.#hashes[slot] = hash;
  }

  /** Compares letters. Those at the start of a word and behind a piece have other hashes, as the seeds differ. */
  #equals(id, letters, from, to) {
    const start = this.#starts[id];
    if (this.#starts[id + 1] - start !== to - from) return false;
    for (let place = from; place < to; place++) if (this.#units[start + place - from] !== letters[place]) return false;
    return true;
  }
}
