/**
 * Collects the letters of a word, and splits it into pieces: greedy longest match (Devlin et al. 2019, arXiv:1810.04805).
 *
 * One buffer serves all texts of a tokenizer, one after the other.
 */
export class WordBuffer {
  #pieces;
  #unkId;
  #limit;
  #countsBytes;
  #letters; // UTF-16 units
  #starts;
  #ends;
  #hashes;
  #size = 0;
  #length = 0; // in the unit of the limit
  #lastEnd = 0;
  #tokens;

  /**
   * @param {import("./piece_table.js").PieceTable} pieces the vocabulary.
   * @param {number} unkId the token for a word that has no pieces, or is too long.
   * @param {import("./token_buffer.js").TokenBuffer} tokens receives the tokens.
   * @param {number} limit the length of the longest word.
   * @param {boolean} [countsBytes] whether a letter counts as its bytes in UTF-8, or as one.
   */
  constructor(pieces, unkId, tokens, limit, countsBytes = false) {
    this.#pieces = pieces;
    this.#unkId = unkId;
    this.#tokens = tokens;
    this.#limit = limit;
    this.#countsBytes = countsBytes;
    this.#letters = new Uint16Array(2 * limit);
    this.#starts = new Int32Array(2 * limit);
    this.#ends = new Int32Array(2 * limit);
    this.#hashes = new Int32Array(2 * limit + 1);
  }

  /** Forgets the word so far, which an error may have left there, before another text. */
  reset() {
    this.#size = 0;
    this.#length = 0;
  }

  /** Takes a character that is not white space. */
  letter(codePoint, start, end) {
    this.#length += this.#countsBytes ? bytesOf(codePoint) : 1;
    this.#lastEnd = end;
    if (this.#length > this.#limit) return; // no letter of a word that is too long is needed but its first
    if (codePoint < 0x10000) {
      this.#add(codePoint, start, end);
    } else {
      this.#add(0xd7c0 + (codePoint >> 10), start, end);
      this.#add(0xdc00 + (codePoint & 0x3ff), start, end);
    }
  }

  /** Takes a character that is a word of its own. */
  punctuation(codePoint, start, end) {
    this.endWord();
    this.letter(codePoint, start, end);
    this.endWord();
  }

  /** Takes white space. */
  space() {
    this.endWord();
  }

  /** Splits the word so far, if there is one. */
  endWord() {
    if (this.#length === 0) return;
    if (this.#length > this.#limit) this.#tokens.add(this.#unkId, this.#starts[0], this.#lastEnd);
    else this.#split();
    this.#size = 0;
    this.#length = 0;
  }

  #add(unit, start, end) {
    this.#letters[this.#size] = unit;
    this.#starts[this.#size] = start;
    this.#ends[this.#size] = end;
    this.#size++;
  }

  #split() {
    const before = this.#tokens.size;
    let from = 0;
    while (from < this.#size) {
      const to = this.#longestPiece(from);
      if (to < 0) {
        this.#tokens.truncate(before);
        this.#tokens.add(this.#unkId, this.#starts[0], this.#lastEnd);
        return;
      }
      from = to;
    }
  }

  /** Adds the longest piece from a letter on, and returns the letter behind it; -1 where there is none. */
  #longestPiece(from) {
    const isFirst = from === 0;
    let to = Math.min(this.#size, from + this.#pieces.longest);
    this.#hash(from, to, isFirst);
    for (; to > from; to--) {
      const id = this.#pieces.find(this.#hashes[to], this.#letters, from, to);
      if (id < 0) continue;
      this.#tokens.add(id, this.#starts[from], this.#ends[to - 1]);
      return to;
    }
    return -1;
  }

  /** Fills the hashes with those of the letters from `from` to each place up to `to`. */
  #hash(from, to, isFirst) {
    let hash = this.#pieces.seed(isFirst);
    for (let place = from; place < to; place++) {
      hash = this.#pieces.next(hash, this.#letters[place]);
      this.#hashes[place + 1] = hash;
    }
  }
}

function bytesOf(codePoint) {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}
