package kerasbert.core.text

private const val SPACE = 0x20
private const val REPLACEMENT = 0xFFFD

/** The code points of a text with the place of each of them in the original text. */
internal class MappedText private constructor(
    private val codePoints: IntArray,
    private val starts: IntArray,
    private val ends: IntArray,
) {
    val size: Int get() = codePoints.size

    fun codePoint(place: Int): Int = codePoints[place]

    fun start(place: Int): Int = starts[place]

    fun end(place: Int): Int = ends[place]

    /**
     * The text with its characters, and short clusters of them, replaced.
     *
     * Places are those of `tokenizers`, which counts the characters that a replacement adds or leaves out: a new character has the place of
     * the one before it.
     */
    fun mapped(map: CharacterMap): MappedText {
        val replaced = Replaced(size)
        var at = 0
        while (at < size) {
            val end = GraphemeClusters.end(codePoints, at, size)
            val isShort = CharacterMap.isShort((at until end).sumOf { CharacterMap.bytesOf(codePoints[it]) })
            val whole = if (isShort) map.replacement(codePoints, at, end) else null
            if (whole != null) {
                replaced.add(whole, end - at)
            } else {
                for (place in at until end) {
                    replaced.add(map.replacement(codePoints, place, place + 1) ?: intArrayOf(codePoints[place]), 1)
                }
            }
            at = end
        }
        return replaced.text()
    }

    /** The text with one space in place of several, which has the place of the last one. */
    fun withSingleSpaces(): MappedText {
        val kept = codePoints.indices.filter { codePoints[it] != SPACE || codePoints.getOrElse(it + 1) { 0 } != SPACE }
        return MappedText(pick(codePoints, kept), pick(starts, kept), pick(ends, kept))
    }

    /** A part with marks in place of spaces, and one in front, which has the place of the first character. */
    fun marked(from: Int, to: Int): MappedText {
        val added = if (isMark(codePoints[from])) 0 else 1
        val part = IntArray(to - from + added) { maxOf(from, from + it - added) }
        val marked = IntArray(part.size) { if (it < added || isMark(codePoints[part[it]])) MARK else codePoints[part[it]] }
        return MappedText(marked, IntArray(part.size) { starts[part[it]] }, IntArray(part.size) { ends[part[it]] })
    }

    /** New code points, and of each the number of old ones that it stands for, less one: 1 for one that is added. */
    private inner class Replaced(capacity: Int) {
        private val found = IntList(capacity)
        private val changes = IntList(capacity)

        fun add(replacement: IntArray, count: Int) {
            for (codePoint in replacement) {
                found.add(codePoint)
                changes.add(0)
            }
            val added = replacement.size - count
            for (number in 1..added) changes[changes.size - number] = 1
            if (added < 0 && changes.size > 0) changes[changes.size - 1] = changes[changes.size - 1] + added
        }

        fun text(): MappedText {
            val (newStarts, newEnds) = List(2) { IntArray(found.size) }
            var place = 0
            for (number in 0 until found.size) {
                val from = if (changes[number] > 0) place - 1 else place
                if (from >= 0) {
                    newStarts[number] = starts[from]
                    newEnds[number] = ends[from]
                }
                if (changes[number] <= 0) place += 1 - changes[number]
            }
            return MappedText(found.toArray(), newStarts, newEnds)
        }
    }

    companion object {
        /** Stands for the space before a word. */
        const val MARK = 0x2581

        /** A part of a text as it is. A lone surrogate is as a replacement character. */
        fun of(text: String, from: Int, to: Int): MappedText {
            val (codePoints, starts, ends) = List(3) { IntList(to - from) }
            var at = from
            while (at < to) {
                val codePoint = text.codePointAt(at)
                val end = at + Character.charCount(codePoint)
                codePoints.add(if (codePoint in 0xD800..0xDFFF) REPLACEMENT else codePoint)
                starts.add(at)
                ends.add(end)
                at = end
            }
            return MappedText(codePoints.toArray(), starts.toArray(), ends.toArray())
        }

        private fun isMark(codePoint: Int): Boolean = codePoint == SPACE || codePoint == MARK

        private fun pick(values: IntArray, places: List<Int>): IntArray = IntArray(places.size) { values[places[it]] }
    }
}
