package kerasbert.core.text

import kerasbert.core.KerasBertException

/**
 * Builds the tokenizer of a model.
 *
 * The kinds are `wordpiece`, `client_wordpiece`, `japanese` with characters as subwords, and `xlm_roberta`.
 *
 * @param settings the object `tokenizer` of `kerasbert.json`: values are [String], [Boolean], [Number], [List], [Map] or null.
 * @param vocabulary the tokens in the order of their ids.
 * @throws KerasBertException when the kind, or a setting, is unknown or has the wrong type, a token occurs twice, or a special token is
 *   missing.
 */
fun tokenizerOf(settings: Map<String, Any?>, vocabulary: List<String>): Tokenizer {
    val checked = TokenizerSettings(vocabulary, settings)
    return when (checked.kind) {
        "wordpiece" -> WordPiece(checked)
        "client_wordpiece" -> ClientWordPiece(checked)
        "japanese" -> JapaneseCharacters(checked)
        "xlm_roberta" -> XlmRoberta(checked)
        "sentencepiece", "byte_level_bpe" -> throw KerasBertException(
            "expected a tokenizer of WordPiece, of Japanese characters or of XLM-RoBERTa, received one of kind ${checked.kind}, which this " +
                "app does not have; convert a model with a WordPiece vocabulary",
        )
        else -> throw KerasBertException(
            "expected a tokenizer of kind wordpiece, client_wordpiece, japanese or xlm_roberta, received '${checked.kind}'",
        )
    }
}
