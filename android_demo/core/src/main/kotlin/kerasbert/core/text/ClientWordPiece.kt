package kerasbert.core.text

import kerasbert.core.KerasBertException

private const val LONGEST_WORD = 100 // bytes of UTF-8
private const val WORDS = 1
private val TABLES = mapOf("mediapipe" to UnicodeData.MEDIAPIPE, "task-library" to UnicodeData.TASK_LIBRARY)

/**
 * WordPiece as MediaPipe Tasks and TFLite's Task Library tokenize; see `kerasbert.text.client_rules` in Python.
 *
 * Only ASCII letters are lowercased, names of special tokens in a text are ordinary words, and a text ends at its first NUL.
 */
internal class ClientWordPiece(settings: TokenizerSettings) : VocabularyTokenizer(settings) {
    private val pieces = PieceTable(vocabulary, vocabulary.size)
    private val words: CodePointFlags

    init {
        settings.checkNames("lowercase", "strip_accents", "tokenize_chinese_chars", "tokenize_as")
        val client = settings.text("tokenize_as")
        val table = TABLES[client] ?: throw KerasBertException(
            "expected ${TABLES.keys.joinToString(" or ")} as the client to tokenize as, received '$client'",
        )
        words = CodePointFlags.Builder().addRanges(WORDS, table).build()
        for ((role, name) in CLIENT_NAMES) {
            val token = settings.specialTokens.getValue(role)
            if (token != name) throw KerasBertException("expected the $role $name, as $client knows no other, received '$token'")
        }
        if ("" in vocabulary) throw KerasBertException("expected a vocabulary that $client reads, received an empty token")
    }

    override fun tokens(text: String): Tokens {
        val tokens = TokenBuffer(text.length / 4 + 4)
        val buffer = WordBuffer(pieces, unkId, tokens, LONGEST_WORD, countsBytes = true)
        var at = 0
        while (at < text.length) {
            val codePoint = text.codePointAt(at)
            if (codePoint == 0) break
            val end = at + Character.charCount(codePoint)
            when (codePoint) {
                in CLIENT_SPACES -> buffer.space(at, end)
                in 'A'.code..'Z'.code -> buffer.letter(codePoint + 'a'.code - 'A'.code, at, end)
                in SURROGATES -> Unit // a lone one
                else -> if (words[codePoint] == 0) buffer.letter(codePoint, at, end) else buffer.punctuation(codePoint, at, end)
            }
            at = end
        }
        buffer.endWord()
        return tokens.toTokens()
    }

    private companion object {
        val SURROGATES = 0xD800..0xDFFF
    }
}
