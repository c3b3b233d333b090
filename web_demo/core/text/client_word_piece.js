import { KerasBertError } from "../error.js";
import { CodePointFlagsBuilder } from "./code_point_tables.js";
import { PieceTable } from "./piece_table.js";
import { CLIENT_NAMES, CLIENT_SPACES } from "./token_tables.js";
import { TokenBuffer } from "./token_buffer.js";
import { Tokenizer } from "./tokenizer.js";
import * as UnicodeData from "./unicode_tables.js";
import { WordBuffer } from "./word_buffer.js";

const LONGEST_WORD = 100; // bytes of UTF-8
const WORDS = 1;
const TABLES = { mediapipe: UnicodeData.MEDIAPIPE, "task-library": UnicodeData.TASK_LIBRARY };
const CAPITAL_A = 0x41;
const CAPITAL_Z = 0x5a;

/**
 * WordPiece as MediaPipe Tasks and TFLite's Task Library tokenize; see `kerasbert.text.client_rules` in Python.
 *
 * Only ASCII letters are lowercased, names of special tokens in a text are ordinary words, and a text ends at its first NUL.
 */
export class ClientWordPiece extends Tokenizer {
  #buffer = new TokenBuffer();
  #letters;
  #words;

  /** @param {import("./tokenizer_settings.js").TokenizerSettings} settings */
  constructor(settings) {
    super(settings);
    settings.checkNames("lowercase", "strip_accents", "tokenize_chinese_chars", "tokenize_as");
    const client = settings.text("tokenize_as");
    if (client === null || !Object.hasOwn(TABLES, client)) {
      throw new KerasBertError(`expected ${Object.keys(TABLES).join(" or ")} as the client to tokenize as, received '${client}'`);
    }
    for (const [role, name] of CLIENT_NAMES) {
      const token = settings.specialTokens[role];
      if (token !== name) throw new KerasBertError(`expected the ${role} ${name}, as ${client} knows no other, received '${token}'`);
    }
    if (this.vocabulary.includes("")) throw new KerasBertError(`expected a vocabulary that ${client} reads, received an empty token`);
    this.#words = new CodePointFlagsBuilder().addRanges(WORDS, TABLES[client]).build();
    const pieces = new PieceTable(this.vocabulary, this.vocabulary.length);
    this.#letters = new WordBuffer(pieces, this.unkId, this.#buffer, LONGEST_WORD, true);
  }

  tokens(text) {
    this.#buffer.truncate(0);
    this.#letters.reset();
    let at = 0;
    while (at < text.length) {
      const codePoint = text.codePointAt(at);
      if (codePoint === 0) break;
      const end = at + (codePoint > 0xffff ? 2 : 1);
      this.#take(codePoint, at, end);
      at = end;
    }
    this.#letters.endWord();
    return this.#buffer.toTokens();
  }

  #take(codePoint, start, end) {
    if (CLIENT_SPACES.has(codePoint)) this.#letters.space();
    else if (codePoint >= CAPITAL_A && codePoint <= CAPITAL_Z) this.#letters.letter(codePoint + 32, start, end);
    else if (codePoint >= 0xd800 && codePoint <= 0xdfff) return; // a lone surrogate
    else if (this.#words.get(codePoint) === 0) this.#letters.letter(codePoint, start, end);
    else this.#letters.punctuation(codePoint, start, end);
  }
}
