package kerasbert.core.text

/**
 * Positions of a text in code points, which Python counts, for those in UTF-16 units, which Kotlin counts.
 *
 * A lone surrogate is one code point.
 *
 * @param text the text.
 */
class CodePoints(private val text: String) {
    // Code points before each unit; null where both counts are equal.
    private val before: IntArray? = if (text.any(Char::isSurrogate)) counts() else null

    /** The number of code points. */
    val size: Int get() = ofUnit(text.length)

    /**
     * Returns the number of code points before a UTF-16 unit. The second half of a pair counts as its first half.
     *
     * @param unit from 0 to the length of the text.
     */
    fun ofUnit(unit: Int): Int = before?.get(unit) ?: unit

    private fun counts(): IntArray {
        val counts = IntArray(text.length + 1)
        var count = 0
        for (unit in text.indices) {
            counts[unit] = count
            val pairContinues = text[unit].isHighSurrogate() && unit + 1 < text.length && text[unit + 1].isLowSurrogate()
            if (!pairContinues) count++
        }
        counts[text.length] = count
        return counts
    }
}
