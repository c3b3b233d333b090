import { KerasBertError } from "../error.js";
import * as Characters from "./characters.js";
import { CodePointMap } from "./code_point_tables.js";
import { Nfkc, NfkcData } from "./nfkc.js";
import { TokenBuffer } from "./token_buffer.js";
import { TokenFinder } from "./token_finder.js";
import { Tokenizer } from "./tokenizer.js";

/**
 * The tokenizer of Japanese BERT checkpoints whose subwords are characters; see `kerasbert.text.JapaneseTokenizer` in Python.
 *
 * Python splits a text into words with MeCab first. For characters, words only matter for what they leave out, so no dictionary is needed
 * here: MeCab drops tabs, line feeds, vertical tabs and spaces of the text in Unicode form NFKC, and ends it at a NUL. Ids and places are
 * equal, but for two kinds of texts:
 * - With `lowercase`, Python lowercases whole words: a capital sigma at the end of a Greek word becomes a final one. Here it is an ordinary
 *   one, since the ends of words are MeCab's.
 * - White space of 65,534 bytes or more in a row, of which MeCab loses count. Here it is dropped as all other.
 */
export class JapaneseCharacters extends Tokenizer {
  #ids;
  #lowercase;
  #finder;
  #nfkc = new Nfkc();
  #buffer = new TokenBuffer();

  /** @param {import("./tokenizer_settings.js").TokenizerSettings} settings */
  constructor(settings) {
    super(settings);
    settings.checkNames("subwords", "lowercase", "dictionary");
    const subwords = settings.text("subwords") ?? "wordpiece";
    if (subwords !== "character") {
      throw new KerasBertError(
        `expected a Japanese tokenizer with characters as subwords, received subwords '${subwords}', which need MeCab; there is none ` +
          "here, so convert a model with a character vocabulary",
      );
    }
    this.#lowercase = settings.flag("lowercase", false);
    this.#ids = characterIds(this.vocabulary);
    const found = settings.foundTokens().map(({ id, content }) => ({ id, content })); // their flags are ignored
    this.#finder = new TokenFinder(found, found.map((token) => token.content));
  }

  tokens(text) {
    this.#buffer.truncate(0);
    this.#finder.split(text, (id, from, to) => {
      if (id >= 0) this.#buffer.add(id, from, to);
      else this.#splitCharacters(text, from, to);
    });
    return this.#buffer.toTokens();
  }

  #splitCharacters(text, from, to) {
    let isOver = false;
    this.#nfkc.normalize(text, from, to, (codePoint, start, end) => {
      isOver ||= codePoint === 0;
      if (isOver || isDropped(codePoint)) return;
      if (this.#lowercase) this.#lower(codePoint, start, end);
      else this.#add(codePoint, start, end);
    });
  }

  #lower(codePoint, start, end) {
    const place = NfkcData.get().isLoweredByPython(codePoint) ? Characters.lower.find(codePoint) : -1;
    if (place < 0) {
      this.#add(codePoint, start, end);
      return;
    }
    const count = Characters.lower.count(place);
    for (let number = 0; number < count; number++) this.#add(Characters.lower.part(place, number), start, end);
  }

  #add(codePoint, start, end) {
    const id = this.#ids.get(codePoint);
    this.#buffer.add(id >= 0 ? id : this.unkId, start, end);
  }
}

/** The ids of the tokens of one character. */
function characterIds(vocabulary) {
  const ids = new CodePointMap(vocabulary.length);
  vocabulary.forEach((token, id) => {
    const codePoint = token.codePointAt(0);
    if (token.length === 1 || (token.length === 2 && codePoint > 0xffff)) ids.set(codePoint, id);
  });
  return ids;
}

/** Whether a character is a tab, line feed, vertical tab or space. */
function isDropped(codePoint) {
  return codePoint === 0x20 || (codePoint >= 0x9 && codePoint <= 0xb);
}
