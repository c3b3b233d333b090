import { KerasBertError } from "../error.js";
import { ClientWordPiece } from "./client_word_piece.js";
import { JapaneseCharacters } from "./japanese_characters.js";
import { TokenizerSettings } from "./tokenizer_settings.js";
import { WordPiece } from "./word_piece.js";
import { XlmRoberta } from "./xlm_roberta.js";

/**
 * Builds the tokenizer of a model.
 *
 * The kinds are `wordpiece`, `client_wordpiece`, `japanese` with characters as subwords, and `xlm_roberta`.
 *
 * @param {Record<string, unknown>} settings the object `tokenizer` of `kerasbert.json`.
 * @param {string[]} vocabulary the tokens in the order of their ids.
 * @returns {import("./tokenizer.js").Tokenizer}
 * @throws {KerasBertError} when the kind, or a setting, is unknown or has the wrong type, a token occurs twice, or a special token is
 *   missing.
 */
export function tokenizerOf(settings, vocabulary) {
  const checked = new TokenizerSettings(vocabulary, settings);
  switch (checked.kind) {
    case "wordpiece":
      return new WordPiece(checked);
    case "client_wordpiece":
      return new ClientWordPiece(checked);
    case "japanese":
      return new JapaneseCharacters(checked);
    case "xlm_roberta":
      return new XlmRoberta(checked);
    case "sentencepiece":
    case "byte_level_bpe":
      throw new KerasBertError(
        `expected a tokenizer of WordPiece, of Japanese characters or of XLM-RoBERTa, received one of kind ${checked.kind}, which is not ` +
          "there in JavaScript; convert a model with a WordPiece vocabulary",
      );
    default:
      throw new KerasBertError(
        `expected a tokenizer of kind wordpiece, client_wordpiece, japanese or xlm_roberta, received '${checked.kind}'`,
      );
  }
}
