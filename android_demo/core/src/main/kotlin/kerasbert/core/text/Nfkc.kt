package kerasbert.core.text

/** Unicode form NFKC with the place of each character in the original text; see `kerasbert.text.mecab` in Python. */
internal object Nfkc {
    private const val CHANGED = 1 // is decomposed
    private const val MARK = 2 // its first part is a combining mark
    private const val SECOND = 4 // its first part may be the second one of a composition
    private const val NOT_LOWERED = 8

    private val compatibility = CodePointMappings(UnicodeData.COMPATIBILITY)
    private val classes = Characters.combiningClasses(UnicodeData.NFKC_CLASSES)
    private val compositions = readCompositions()
    private val flags = readFlags()

    /** Whether Python's Unicode knows the lower case of a character. */
    fun isLoweredByPython(codePoint: Int): Boolean = flags[codePoint] and NOT_LOWERED == 0

    /**
     * Calls [action] with each character of a part of a text in form NFKC, and its place in the text.
     *
     * The places of a character that stays as it is are its own. Those of others are all characters with which they were composed or
     * reordered. A lone surrogate is left out.
     */
    inline fun normalize(text: String, from: Int, to: Int, action: (codePoint: Int, start: Int, end: Int) -> Unit) {
        val source = Source(text, from, to)
        var first = 0
        while (first < source.size) {
            var end = first + 1
            while (end < source.size && joins(source, first, end)) end++
            if (end == first + 1 && flags[source.codePoint(first)] and CHANGED == 0) {
                action(source.codePoint(first), source.start(first), source.end(first))
            } else {
                val normalized = normalize(source, first, end)
                val isSame = source.equals(first, end, normalized)
                for (number in 0 until normalized.size) {
                    val start = source.start(if (isSame) first + number else first)
                    action(normalized[number], start, source.end(if (isSame) first + number else end - 1))
                }
            }
            first = end
        }
    }

    /** The characters of a part of a text. */
    internal class Source(text: String, from: Int, to: Int) {
        private val codePoints = IntList(to - from)
        private val starts = IntList(to - from)

        init {
            var at = from
            while (at < to) {
                val codePoint = text.codePointAt(at)
                if (codePoint !in 0xD800..0xDFFF) {
                    codePoints.add(codePoint)
                    starts.add(at)
                }
                at += Character.charCount(codePoint)
            }
        }

        val size: Int get() = codePoints.size

        fun codePoint(number: Int): Int = codePoints[number]

        fun start(number: Int): Int = starts[number]

        fun end(number: Int): Int = starts[number] + Character.charCount(codePoints[number])

        fun equals(first: Int, end: Int, others: IntList): Boolean =
            others.size == end - first && (first until end).all { codePoints[it] == others[it - first] }
    }

    /** Whether normalization composes or reorders a character with those from [first] on before it. */
    private fun joins(source: Source, first: Int, number: Int): Boolean {
        val flags = flags[source.codePoint(number)]
        if (flags and MARK != 0) return true
        if (flags and SECOND == 0) return false
        val before = normalize(source, first, number)
        val alone = normalize(source, number, number + 1)
        val together = normalize(source, first, number + 1)
        if (together.size != before.size + alone.size) return true
        return (0 until together.size).any { together[it] != if (it < before.size) before[it] else alone[it - before.size] }
    }

    private fun normalize(source: Source, first: Int, end: Int): IntList {
        val decomposed = IntList()
        for (number in first until end) forEachPart(source.codePoint(number), decomposed::add)
        reorder(decomposed)
        return compose(decomposed)
    }

    private inline fun forEachPart(codePoint: Int, action: (Int) -> Unit) {
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

    /** Sorts each run of marks by combining class; equal classes keep their order. */
    private fun reorder(text: IntList) {
        var first = 0
        while (first < text.size) {
            var end = first
            while (end < text.size && classes[text[end]] > 0) end++
            if (end - first > 1) {
                val marks = (first until end).map { text[it] }.sortedBy { classes[it] }
                for (number in marks.indices) text[first + number] = marks[number]
            }
            first = end + 1
        }
    }

    /** Composes canonical pairs (The Unicode Standard, definition D117). */
    private fun compose(text: IntList): IntList {
        val composed = IntList()
        var starter = -1
        var classBefore = -1 // of the character before, or -1 if that is the starter
        for (number in 0 until text.size) {
            val codePoint = text[number]
            val combiningClass = maxOf(0, classes[codePoint])
            if (starter >= 0 && classBefore < combiningClass) {
                val composite = pair(composed[starter], codePoint)
                if (composite >= 0) {
                    composed[starter] = composite
                    continue
                }
            }
            classBefore = combiningClass
            if (combiningClass == 0) {
                starter = composed.size
                classBefore = -1
            }
            composed.add(codePoint)
        }
        return composed
    }

    private fun pair(first: Int, second: Int): Int {
        val syllable = Hangul.compose(first, second)
        return if (syllable >= 0) syllable else compositions[key(first, second)] ?: -1
    }

    private fun key(first: Int, second: Int): Long = first.toLong() shl 32 or second.toLong()

    private fun readCompositions(): Map<Long, Int> {
        val composed = ArrayList<Int>()
        forEachRange(UnicodeData.COMPOSED) { first, end -> composed.addAll(first until end) }
        val pairs = HashMap<Long, Int>()
        // A composite of three is one of a shorter composite and a mark.
        for (codePoint in composed.sortedBy(::countParts)) {
            val parts = IntList()
            forEachPart(codePoint, parts::add)
            var first = parts[0]
            for (number in 1 until parts.size - 1) first = pairs.getValue(key(first, parts[number]))
            pairs[key(first, parts[parts.size - 1])] = codePoint
        }
        return pairs
    }

    private fun countParts(codePoint: Int): Int {
        var count = 0
        forEachPart(codePoint) { count++ }
        return count
    }

    private fun readFlags(): CodePointFlags {
        val builder = CodePointFlags.Builder()
        val seconds = compositions.keys.map { it.toInt() }.toHashSet()
        val addFirst = { codePoint: Int, first: Int ->
            if (classes[first] > 0) builder.add(MARK, codePoint)
            if (first in seconds || Hangul.isSecond(first)) builder.add(SECOND, codePoint)
        }
        for (mappings in listOf(Characters.decompositions, compatibility)) {
            mappings.forEach { builder.add(CHANGED, it) }
        }
        for (mappings in listOf(Characters.decompositions, compatibility)) {
            mappings.forEach { codePoint ->
                var first = -1
                forEachPart(codePoint) { if (first < 0) first = it }
                addFirst(codePoint, first)
            }
        }
        forEachValue(UnicodeData.NFKC_CLASSES) { codePoint, _ -> if (!isChanged(codePoint)) addFirst(codePoint, codePoint) }
        for (codePoint in seconds) if (!isChanged(codePoint)) addFirst(codePoint, codePoint)
        for (codePoint in 0x1161..0x11C2) if (!isChanged(codePoint)) addFirst(codePoint, codePoint)
        return builder.addRanges(NOT_LOWERED, UnicodeData.NOT_LOWERED).build()
    }

    private fun isChanged(codePoint: Int): Boolean =
        compatibility.find(codePoint) >= 0 || Characters.decompositions.find(codePoint) >= 0
}
