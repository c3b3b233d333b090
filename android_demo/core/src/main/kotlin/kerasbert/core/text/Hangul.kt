package kerasbert.core.text

/** The arithmetic of Hangul syllables (The Unicode Standard, section 3.12). */
internal object Hangul {
    /** All syllables. */
    val SYLLABLES = 0xAC00..0xD7A3

    /** All vowels and tails, which may be the second part of a syllable. */
    val SECONDS = (0x1161..0x1175) + (0x11A8..0x11C2)

    private const val FIRST = 0xAC00
    private const val LEAD = 0x1100
    private const val VOWEL = 0x1161
    private const val TAIL = 0x11A7 // the one before the first tail
    private const val LEADS = 19
    private const val VOWELS = 21
    private const val TAILS = 28

    fun isSyllable(codePoint: Int): Boolean = codePoint in 0xAC00..0xD7A3

    fun lead(syllable: Int): Int = LEAD + (syllable - FIRST) / (VOWELS * TAILS)

    fun vowel(syllable: Int): Int = VOWEL + (syllable - FIRST) / TAILS % VOWELS

    /** The tail of a syllable, or -1. */
    fun tail(syllable: Int): Int = ((syllable - FIRST) % TAILS).let { if (it == 0) -1 else TAIL + it }

    /** Whether a character may be the second part of a syllable. */
    fun isSecond(codePoint: Int): Boolean = codePoint in VOWEL until VOWEL + VOWELS || codePoint in TAIL + 1 until TAIL + TAILS

    /** The syllable of two parts, or -1. */
    fun compose(first: Int, second: Int): Int = when {
        first in LEAD until LEAD + LEADS && second in VOWEL until VOWEL + VOWELS ->
            FIRST + ((first - LEAD) * VOWELS + second - VOWEL) * TAILS
        isSyllable(first) && tail(first) < 0 && second in TAIL + 1 until TAIL + TAILS -> first + second - TAIL
        else -> -1
    }
}
