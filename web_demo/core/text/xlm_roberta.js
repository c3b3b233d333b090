import { KerasBertError } from "../error.js";
import { CharacterMap } from "./character_map.js";
import { WordCharacters } from "./characters.js";
import { MARK, MappedText } from "./mapped_text.js";
import { SentencePieceModel } from "./sentence_piece_model.js";
import { TokenBuffer } from "./token_buffer.js";
import { TokenFinder } from "./token_finder.js";
import { Tokenizer } from "./tokenizer.js";
import { UnigramWords } from "./unigram_words.js";

/**
 * The tokenizer of XLM-RoBERTa (Conneau et al. 2020, arXiv:1911.02116), of multilingual models.
 *
 * Ids and places equal those of `kerasbert.text.XlmRobertaTokenizer`, and so those of Hugging Face's `XLMRobertaTokenizerFast`.
 */
export class XlmRoberta extends Tokenizer {
  separators = 2;
  secondType = 0;
  #map;
  #removesSpace;
  #finder;
  #buffer = new TokenBuffer();
  #words;

  /** @param {import("./tokenizer_settings.js").TokenizerSettings} settings */
  constructor(settings) {
    super(settings);
    settings.checkNames("model", "remove_space");
    const model = new SentencePieceModel(settings.text("model") ?? "");
    if (model.pieces.some((piece, id) => piece !== this.vocabulary[id])) {
      throw new KerasBertError("expected the vocabulary of the SentencePiece model, received another one; convert the model again");
    }
    this.#map = model.characterMap.length > 0 ? new CharacterMap(model.characterMap) : null;
    this.#removesSpace = settings.flag("remove_space", true);
    this.#words = new UnigramWords(model, this.unkId, this.#buffer);
    const found = settings.foundTokens().map((token) => (token.id === this.maskId ? withSpaceBefore(settings, token) : token));
    const normalized = found.find((token) => token.normalized);
    if (normalized) {
      throw new KerasBertError(
        `expected added tokens that are found in a text as it is, received the normalized '${normalized.content}', which are not there ` +
          "for XLM-RoBERTa; convert the model without it",
      );
    }
    this.#finder = new TokenFinder(found, found.map((token) => token.content));
  }

  tokens(text) {
    this.#buffer.truncate(0);
    this.#finder.split(text, (id, from, to) => {
      if (id >= 0) this.#buffer.add(id, from, to);
      else this.#splitPart(MappedText.of(text, from, to));
    });
    return this.#buffer.toTokens();
  }

  #splitPart(part) {
    const mapped = this.#map === null ? part : part.mapped(this.#map);
    const text = this.#removesSpace ? mapped : mapped.withSingleSpaces();
    if (!this.#removesSpace) {
      this.#splitWord(text, 0, text.size);
      return;
    }
    let from = 0;
    for (let place = 0; place <= text.size; place++) {
      if (place < text.size && !WordCharacters.isWhiteSpace(text.codePoint(place))) continue;
      this.#splitWord(text, from, place);
      from = place + 1;
    }
  }

  /** Splits a word, or several with spaces between them: each begins with a mark. */
  #splitWord(text, from, to) {
    if (from === to) return;
    const marked = text.marked(from, to);
    let first = 0;
    for (let place = 1; place <= marked.size; place++) {
      if (place < marked.size && marked.codePoint(place) !== MARK) continue;
      this.#words.split(marked, first, place);
      first = place;
    }
  }
}

/** The mask token, which includes the white space before it unless the settings say how it is found. */
function withSpaceBefore(settings, token) {
  return settings.addedTokens.some((added) => added.content === token.content) ? token : { ...token, lstrip: true };
}
