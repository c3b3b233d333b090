package kerasbert.core.text

/** Unicode form NFKC with the place of each character in the original text; see `kerasbert.text.mecab` in Python. */
internal object Nfkc {
    /**
     * Calls [action] with each character of a part of a text in form NFKC, and its place in the text.
     *
     * The place of a character that stays as it is is its own. That of another one are all characters with which it was composed or
     * reordered. A lone surrogate is left out.
     */
    inline fun normalize(text: String, from: Int, to: Int, action: (codePoint: Int, start: Int, end: Int) -> Unit) {
        val source = Source(text, from, to)
        var first = 0
        while (first < source.size) {
            var end = first + 1
            while (end < source.size && joins(source, first, end)) end++
            if (end == first + 1 && !NfkcData.isChanged(source.codePoint(first))) {
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
        val codePoint = source.codePoint(number)
        if (NfkcData.startsWithMark(codePoint)) return true
        if (!NfkcData.startsWithSecond(codePoint)) return false
        val before = normalize(source, first, number)
        val alone = normalize(source, number, number + 1)
        val together = normalize(source, first, number + 1)
        if (together.size != before.size + alone.size) return true
        return (0 until together.size).any { together[it] != if (it < before.size) before[it] else alone[it - before.size] }
    }

    private fun normalize(source: Source, first: Int, end: Int): IntList {
        val decomposed = IntList()
        for (number in first until end) NfkcData.forEachPart(source.codePoint(number), decomposed::add)
        reorder(decomposed)
        return compose(decomposed)
    }

    /** Sorts each run of marks by combining class; equal classes keep their order. */
    private fun reorder(text: IntList) {
        var first = 0
        while (first < text.size) {
            var end = first
            while (end < text.size && NfkcData.combiningClass(text[end]) > 0) end++
            if (end - first > 1) {
                val marks = (first until end).map { text[it] }.sortedBy(NfkcData::combiningClass)
                for (number in marks.indices) text[first + number] = marks[number]
            }
            first = end + 1
        }
    }

    /** Composes pairs (The Unicode Standard, definition D117). */
    private fun compose(text: IntList): IntList {
        val composed = IntList()
        var starter = -1
        var classBefore = -1 // of the character before, or -1 if that is the starter
        for (number in 0 until text.size) {
            val codePoint = text[number]
            val combiningClass = NfkcData.combiningClass(codePoint)
            if (starter >= 0 && classBefore < combiningClass) {
                val composite = NfkcData.compose(composed[starter], codePoint)
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
}
