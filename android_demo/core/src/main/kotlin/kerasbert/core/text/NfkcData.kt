package kerasbert.core.text

/** What Unicode form NFKC knows of each character, in the version of Unicode of the Python side. */
internal object NfkcData {
    private const val CHANGED = 1
    private const val MARK = 2
    private const val SECOND = 4
    private const val NOT_LOWERED = 8

    private val compatibility = CodePointMappings(UnicodeData.COMPATIBILITY)
    private val classes = Characters.combiningClasses(UnicodeData.NFKC_CLASSES)
    private val compositions = readCompositions()
    private val flags = readFlags()

    /** Whether a character is decomposed, Hangul syllables left out. */
    fun isChanged(codePoint: Int): Boolean = flags[codePoint] and CHANGED != 0

    /** Whether the first part of a character is a combining mark. */
    fun startsWithMark(codePoint: Int): Boolean = flags[codePoint] and MARK != 0

    /** Whether the first part of a character may be the second one of a composition. */
    fun startsWithSecond(codePoint: Int): Boolean = flags[codePoint] and SECOND != 0

    /** Whether Python knows the lower case that [Characters.lower] has of a character. */
    fun isLoweredByPython(codePoint: Int): Boolean = flags[codePoint] and NOT_LOWERED == 0

    /** The canonical combining class of a character. */
    fun combiningClass(codePoint: Int): Int = maxOf(0, classes[codePoint])

    /** Calls [action] with each part of a character in form NFKD. */
    inline fun forEachPart(codePoint: Int, action: (Int) -> Unit) {
        if (Hangul.isSyllable(codePoint)) {
            action(Hangul.lead(codePoint))
            action(Hangul.vowel(codePoint))
            val tail = Hangul.tail(codePoint)
            if (tail >= 0) action(tail)
            return
        }
        val mappings = if (compatibility.find(codePoint) >= 0) compatibility else Characters.decompositions
        val place = mappings.find(codePoint)
        if (place < 0) return action(codePoint)
        for (number in 0 until mappings.count(place)) action(mappings.part(place, number))
    }

    /** The character that is composed of two others, or -1. */
    fun compose(first: Int, second: Int): Int {
        val syllable = Hangul.compose(first, second)
        return if (syllable >= 0) syllable else compositions[key(first, second)] ?: -1
    }

    private fun key(first: Int, second: Int): Long = first.toLong() shl 32 or second.toLong()

    private fun readCompositions(): Map<Long, Int> {
        val composed = ArrayList<Pair<Int, IntList>>()
        forEachRange(UnicodeData.COMPOSED) { first, end ->
            for (codePoint in first until end) {
                val parts = IntList()
                forEachPart(codePoint, parts::add)
                composed.add(Pair(codePoint, parts))
            }
        }
        val pairs = HashMap<Long, Int>()
        // A character of three parts is composed of one of two parts and the last one.
        for ((codePoint, parts) in composed.sortedBy { it.second.size }) {
            var first = parts[0]
            for (number in 1 until parts.size - 1) first = pairs.getValue(key(first, parts[number]))
            pairs[key(first, parts[parts.size - 1])] = codePoint
        }
        return pairs
    }

    private fun readFlags(): CodePointFlags {
        val builder = CodePointFlags.Builder()
        val seconds = compositions.keys.mapTo(HashSet()) { it.toInt() }
        val addFirstPart = { codePoint: Int ->
            val first = firstPart(codePoint)
            if (combiningClass(first) > 0) builder.add(MARK, codePoint)
            if (first in seconds || Hangul.isSecond(first)) builder.add(SECOND, codePoint)
        }
        for (mappings in listOf(Characters.decompositions, compatibility)) {
            mappings.forEach {
                builder.add(CHANGED, it)
                addFirstPart(it)
            }
        }
        forEachValue(UnicodeData.NFKC_CLASSES) { codePoint, _ -> addFirstPart(codePoint) }
        (seconds + Hangul.SECONDS).forEach(addFirstPart)
        return builder.addRanges(NOT_LOWERED, UnicodeData.NOT_LOWERED).build()
    }

    private fun firstPart(codePoint: Int): Int {
        forEachPart(codePoint) { return it }
        return codePoint
    }
}
