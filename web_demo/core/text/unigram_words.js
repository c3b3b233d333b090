import { PieceTable } from "./piece_table.js";

const UNKNOWN_PENALTY = 10;
const NONE = -1;

/**
 * The most likely segmentation of a word into the pieces of a unigram model (Kudo 2018, arXiv:1804.10959).
 *
 * As in `tokenizers`: an unknown character scores ten less than the least likely piece, and unknown characters in a row are one token.
 */
export class UnigramWords {
  #table;
  #scores;
  #unkId;
  #unknownScore;
  #tokens;
  #units = new Int32Array(64);
  #places = new Int32Array(64); // the code point of each unit
  #best = new Float64Array(65); // the score of the best segmentation up to each unit
  #from = new Int32Array(65); // where its last piece begins
  #ids = new Int32Array(65); // that piece

  /**
   * @param {import("./sentence_piece_model.js").SentencePieceModel} model
   * @param {number} unkId
   * @param {import("./token_buffer.js").TokenBuffer} tokens receives the tokens.
   */
  constructor(model, unkId, tokens) {
    this.#table = new PieceTable(model.pieces, model.pieces.length, null);
    this.#scores = Float64Array.from(model.scores);
    this.#unkId = unkId;
    this.#unknownScore = this.#scores.reduce((least, score) => Math.min(least, score), Infinity) - UNKNOWN_PENALTY;
    this.#tokens = tokens;
  }

  /**
   * Splits a word into tokens.
   *
   * @param {import("./mapped_text.js").MappedText} text
   * @param {number} first its first character.
   * @param {number} last the character behind its last one.
   */
  split(text, first, last) {
    const size = this.#read(text, first, last);
    this.#search(size);
    const firsts = this.#firsts(size);
    for (let number = firsts.length - 1; number >= 0; number--) {
      const from = firsts[number];
      const to = number === 0 ? size : firsts[number - 1];
      this.#tokens.add(this.#idOf(from, to), text.start(this.#places[from]), text.end(this.#places[to - 1]));
    }
  }

  /** Reads the UTF-16 units of a word, and returns their number. */
  #read(text, first, last) {
    if (this.#units.length < 2 * (last - first)) this.#grow(2 * (last - first));
    let size = 0;
    for (let place = first; place < last; place++) {
      const codePoint = text.codePoint(place);
      if (codePoint > 0xffff) {
        this.#places[size] = place;
        this.#units[size++] = 0xd7c0 + (codePoint >> 10);
      }
      this.#places[size] = place;
      this.#units[size++] = codePoint > 0xffff ? 0xdc00 + (codePoint & 0x3ff) : codePoint;
    }
    return size;
  }

  #search(size) {
    this.#from.fill(NONE, 1, size + 1);
    this.#best[0] = 0;
    for (let from = 0; from < size; ) {
      const next = from + 1 < size && this.#places[from + 1] === this.#places[from] ? from + 2 : from + 1;
      let hash = this.#table.seed(true);
      let isKnown = false;
      const longest = Math.min(size, from + this.#table.longest);
      for (let to = from + 1; to <= longest; to++) {
        hash = this.#table.next(hash, this.#units[to - 1]);
        const id = this.#table.find(hash, this.#units, from, to);
        if (id < 0) continue;
        isKnown ||= to === next;
        this.#offer(from, to, id, this.#scores[id]);
      }
      if (!isKnown) this.#offer(from, next, this.#unkId, this.#unknownScore);
      from = next;
    }
  }

  /** Takes a piece from one place to another if the segmentation that ends with it is the best one. */
  #offer(from, to, id, score) {
    const total = score + this.#best[from];
    if (this.#from[to] !== NONE && total <= this.#best[to]) return;
    this.#best[to] = total;
    this.#from[to] = from;
    this.#ids[to] = id;
  }

  /** The first units of the tokens, the last token first. */
  #firsts(size) {
    const firsts = [];
    let wasUnknown = false;
    for (let to = size; to > 0; to = this.#from[to]) {
      const isUnknown = this.#ids[to] === this.#unkId;
      if (isUnknown && wasUnknown) firsts[firsts.length - 1] = this.#from[to];
      else firsts.push(this.#from[to]);
      wasUnknown = isUnknown;
    }
    return firsts;
  }

  #idOf(from, to) {
    let hash = this.#table.seed(true);
    for (let place = from; place < to; place++) hash = this.#table.next(hash, this.#units[place]);
    const id = this.#table.find(hash, this.#units, from, to);
    return id < 0 ? this.#unkId : id;
  }

  #grow(size) {
    this.#units = new Int32Array(size);
    this.#places = new Int32Array(size);
    this.#best = new Float64Array(size + 1);
    this.#from = new Int32Array(size + 1);
    this.#ids = new Int32Array(size + 1);
  }
}
