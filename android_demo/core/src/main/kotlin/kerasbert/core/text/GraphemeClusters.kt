package kerasbert.core.text

/** Grapheme clusters of fewer than six bytes in UTF-8: Hangul syllables of parts, flags and joined emoji are longer. */
internal object GraphemeClusters {
    private const val JOINED = 1
    private const val CONTROL = 2
    private const val PREPENDED = 4
    private const val CARRIAGE_RETURN = 0xD
    private const val LINE_FEED = 0xA

    private val flags = CodePointFlags.Builder()
        .addRanges(JOINED, UnicodeData.JOINED)
        .addRanges(CONTROL, UnicodeData.CONTROLS)
        .addRanges(PREPENDED, UnicodeData.PREPENDED)
        .build()

    /** The end of the cluster that begins at [from], in a text that ends at [to]. */
    fun end(codePoints: IntArray, from: Int, to: Int): Int {
        var end = from + 1
        if (end < to && codePoints[from] == CARRIAGE_RETURN && codePoints[end] == LINE_FEED) return end + 1
        if (isIn(CONTROL, codePoints[from])) return end
        while (end < to && isIn(PREPENDED, codePoints[end - 1]) && !isIn(CONTROL, codePoints[end])) end++
        while (end < to && isIn(JOINED, codePoints[end])) end++
        return end
    }

    private fun isIn(flag: Int, codePoint: Int): Boolean = flags[codePoint] and flag != 0
}
