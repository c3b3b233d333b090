package kerasbert.core.text

import kerasbert.core.KerasBertException

private const val LONGEST_WORD = 100 // characters
private const val LETTERS_PER_TOKEN = 4 // of English; only a first guess of the space that tokens need

/**
 * WordPiece, the tokenizer of BERT (Devlin et al. 2019, arXiv:1810.04805).
 *
 * Ids and places equal those of `kerasbert.text.WordPiece`, and so those of Hugging Face's `BertTokenizerFast`.
 */
internal class WordPiece(settings: TokenizerSettings) : VocabularyTokenizer(settings) {
    private val pieces = PieceTable(vocabulary, settings.modelSize())
    private val normalizer: BertNormalizer
    private val finder: TokenFinder
    private val normalizedFinder: TokenFinder

    init {
        settings.checkNames("lowercase", "strip_accents", "tokenize_chinese_chars")
        val lowercase = settings.flag("lowercase", true)
        normalizer = BertNormalizer(
            lowercase,
            settings.optionalFlag("strip_accents") ?: lowercase,
            settings.flag("tokenize_chinese_chars", true),
        )
        val (normalized, plain) = settings.foundTokens().partition { it.first.normalized }
        finder = TokenFinder(plain, plain.map { it.first.content })
        normalizedFinder = TokenFinder(normalized, normalized.map { normalizedContent(it.first) })
    }

    override fun tokens(text: String): Tokens {
        val tokens = TokenBuffer(text.length / LETTERS_PER_TOKEN + LETTERS_PER_TOKEN)
        val words = WordBuffer(pieces, unkId, tokens, LONGEST_WORD)
        finder.split(text, 0, text.length) { id, from, to ->
            if (id >= 0) {
                tokens.add(id, from, to)
            } else if (normalizedFinder.isEmpty) {
                normalizer.normalize(text, from, to, words)
                words.endWord()
            } else {
                splitNormalized(NormalizedText(normalizer, text, from, to), words, tokens)
            }
        }
        return tokens.toTokens()
    }

    private fun normalizedContent(token: AddedToken): String =
        NormalizedText(normalizer, token.content).toString().ifEmpty {
            throw KerasBertException("expected added tokens of at least one character after normalization, received '${token.content}'")
        }

    private fun splitNormalized(text: NormalizedText, words: WordBuffer, tokens: TokenBuffer) {
        normalizedFinder.split(text, 0, text.length) { id, from, to ->
            if (id >= 0) {
                tokens.add(id, text.start(from), text.end(to))
            } else {
                text.replay(from, to, words)
                words.endWord()
            }
        }
    }
}
