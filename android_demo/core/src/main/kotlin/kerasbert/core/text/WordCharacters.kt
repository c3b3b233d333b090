package kerasbert.core.text

/** The character classes at the edges of words that are found in a text before it is normalized. */
internal object WordCharacters {
    private const val WORD = 1
    private const val WHITE_SPACE = 2
    private const val PUNCTUATION = 4
    private const val UNSPACED = 8

    private val flags = CodePointFlags.Builder()
        .addRanges(WORD, UnicodeData.WORD)
        .addRanges(WHITE_SPACE, UnicodeData.WHITE_SPACE)
        .addRanges(PUNCTUATION, UnicodeData.PUNCTUATION)
        .addRanges(UNSPACED, UnicodeData.UNSPACED)
        .build()

    /** Whether a character is part of a word: a letter, digit, mark or connector. */
    fun isWord(codePoint: Int): Boolean = flags[codePoint] and WORD != 0

    /** Whether a character is white space. */
    fun isWhiteSpace(codePoint: Int): Boolean = flags[codePoint] and WHITE_SPACE != 0

    /** Whether a character is a word of its own: punctuation, an ideograph or a kana. */
    fun isIsolated(codePoint: Int): Boolean = flags[codePoint] and (PUNCTUATION or UNSPACED) != 0
}
