import { IntList } from "./int_list.js";
import { WordCharacters } from "./characters.js";

/**
 * The words of a text, and the pieces in which a raw text would be split; see `kerasbert.processors.words` in Python.
 *
 * All places are UTF-16 units of `text`.
 */
export class Words {
  /**
   * @param {string} text the text.
   * @param {string[]} words its words in their order.
   * @param {{starts: Int32Array, ends: Int32Array}} spans the first unit of each word, and the unit after each.
   * @param {{starts: Int32Array, ends: Int32Array}} pieces the same of each piece.
   * @param {Int32Array} owners the number of each piece's word.
   */
  constructor(text, words, spans, pieces, owners) {
    this.text = text;
    this.words = words;
    this.starts = spans.starts;
    this.ends = spans.ends;
    this.pieceStarts = pieces.starts;
    this.pieceEnds = pieces.ends;
    this.owners = owners;
  }

  /**
   * Splits a text into words: at white space, and around punctuation, ideographs and kana. Each word is one piece.
   *
   * Words that are given are joined by single spaces instead. A given word may have several pieces, such as `U.S.`.
   *
   * @param {string | string[]} source a text, or words.
   * @returns {Words}
   */
  static of(source) {
    return typeof source === "string" ? ofText(source) : ofWords(source);
  }

  /** The number of words. */
  get size() {
    return this.words.length;
  }

  /**
   * Returns the number of the first token with a character of each piece; -1 where there is none. Pieces may share a token.
   *
   * @param {import("./tokenizer.js").Tokens} tokens
   * @returns {Int32Array}
   */
  firstTokens(tokens) {
    const first = new Int32Array(this.owners.length).fill(-1);
    let token = 0;
    for (let piece = 0; piece < first.length; piece++) {
      // Ends of tokens may go back where a word has two of one character.
      while (token < tokens.size && tokens.ends[token] <= this.pieceStarts[piece]) token++;
      if (token < tokens.size && tokens.starts[token] < this.pieceEnds[piece]) first[piece] = token;
    }
    return first;
  }
}

function ofText(text) {
  const pieces = piecesOf(text);
  const words = Array.from(pieces.starts, (start, number) => text.slice(start, pieces.ends[number]));
  return new Words(text, words, pieces, pieces, Int32Array.from(words.keys()));
}

function ofWords(words) {
  const spans = { starts: new Int32Array(words.length), ends: new Int32Array(words.length) };
  let at = 0;
  words.forEach((word, number) => {
    spans.starts[number] = at;
    spans.ends[number] = at + word.length;
    at += word.length + 1;
  });
  const text = words.join(" ");
  const pieces = piecesOf(text);
  let owner = 0;
  const owners = pieces.starts.map((start) => {
    while (spans.ends[owner] <= start) owner++;
    return owner;
  });
  return new Words(text, [...words], spans, pieces, owners);
}

function piecesOf(text) {
  const starts = new IntList();
  const ends = new IntList();
  let wordStart = -1;
  const endWord = (at) => {
    if (wordStart < 0) return;
    starts.add(wordStart);
    ends.add(at);
    wordStart = -1;
  };
  let at = 0;
  while (at < text.length) {
    const codePoint = text.codePointAt(at);
    const end = at + (codePoint > 0xffff ? 2 : 1);
    if (WordCharacters.isIsolated(codePoint)) {
      endWord(at);
      starts.add(at);
      ends.add(end);
    } else if (WordCharacters.isWhiteSpace(codePoint)) {
      endWord(at);
    } else if (wordStart < 0) {
      wordStart = at;
    }
    at = end;
  }
  endWord(text.length);
  return { starts: starts.toArray(), ends: ends.toArray() };
}
