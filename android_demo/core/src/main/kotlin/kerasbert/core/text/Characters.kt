package kerasbert.core.text

/** The character classes of BERT's normalizer and pre-tokenizer, in the version of Unicode of the Python side. */
internal object Characters {
    /** Is removed. */
    const val DROPPED = 1

    /** Becomes a space. */
    const val SPACE = 2

    /** Is a word of its own in the normalizer. */
    const val IDEOGRAPH = 4

    /** Is a nonspacing mark. */
    const val ACCENT = 8

    /** Is a word of its own in the pre-tokenizer. */
    const val PUNCTUATION = 16

    /** Has a lower case. */
    const val UPPER = 32

    /** Is decomposed by NFD, or may be reordered. */
    const val DECOMPOSED = 64

    val lower = CodePointMappings(UnicodeData.LOWER)
    val decompositions = CodePointMappings(UnicodeData.DECOMPOSITIONS)
    val combiningClasses = combiningClasses(UnicodeData.CLASSES)

    private val flags = CodePointFlags.Builder().apply {
        addRanges(DROPPED, UnicodeData.DROPPED)
        addRanges(SPACE, UnicodeData.SPACE)
        addRanges(IDEOGRAPH, UnicodeData.IDEOGRAPHS)
        addRanges(ACCENT, UnicodeData.ACCENTS)
        addRanges(PUNCTUATION, UnicodeData.PUNCTUATION)
        lower.forEach { add(UPPER, it) }
        decompositions.forEach { add(DECOMPOSED, it) }
        forEachValue(UnicodeData.CLASSES) { codePoint, _ -> add(DECOMPOSED, codePoint) }
        for (syllable in Hangul.SYLLABLES) add(DECOMPOSED, syllable)
    }.build()

    /** The flags of a code point. */
    fun flags(codePoint: Int): Int = flags[codePoint]

    /** Reads the combining classes of a table. */
    fun combiningClasses(table: String): CodePointMap {
        var count = 0
        forEachValue(table) { _, _ -> count++ }
        val classes = CodePointMap(count)
        forEachValue(table) { codePoint, value -> classes[codePoint] = value }
        return classes
    }
}
