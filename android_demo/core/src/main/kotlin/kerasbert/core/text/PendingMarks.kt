package kerasbert.core.text

private const val FEW = 24

/**
 * The marks behind a letter, until they are sorted by combining class.
 *
 * Places follow the alignment of `tokenizers`: in sorted order, each mark that begins an original character takes the next original place,
 * and each other one shares the place before it.
 */
internal class PendingMarks {
    private var codePoints = IntArray(FEW)
    private var classes = IntArray(FEW)
    private var begins = BooleanArray(FEW)
    private val starts = IntList()
    private val ends = IntList()
    private var keeps = false

    var size = 0
        private set

    /** The place of the original character before a mark that begins none. */
    var lastStart = 0
    var lastEnd = 0

    /**
     * Adds a mark.
     *
     * @param begins whether it is the first part of an original character.
     * @param isKept whether it will remain in the text.
     */
    fun add(codePoint: Int, combiningClass: Int, begins: Boolean, isKept: Boolean, start: Int, end: Int) {
        if (size == codePoints.size) grow()
        codePoints[size] = codePoint
        classes[size] = combiningClass
        this.begins[size] = begins
        size++
        keeps = keeps || isKept
        if (begins) {
            starts.add(start)
            ends.add(end)
        }
    }

    /** Calls [action] with each mark in sorted order and its place, unless no mark is kept, and forgets them. */
    inline fun flush(action: (codePoint: Int, start: Int, end: Int) -> Unit) {
        if (keeps) {
            val order = order()
            var next = 0
            for (number in 0 until size) {
                val mark = if (order == null) number else order[number]
                if (begins[mark]) {
                    lastStart = starts[next]
                    lastEnd = ends[next]
                    next++
                }
                action(codePoints[mark], lastStart, lastEnd)
            }
        }
        clear()
    }

    private fun clear() {
        size = 0
        keeps = false
        starts.truncate(0)
        ends.truncate(0)
    }

    /** The numbers of the marks in stable order of their classes; null for one mark. */
    private fun order(): IntArray? {
        if (size == 1) return null
        val counts = IntArray(257)
        for (mark in 0 until size) counts[classes[mark] + 1]++
        for (number in 1 until counts.size) counts[number] += counts[number - 1]
        val order = IntArray(size)
        for (mark in 0 until size) order[counts[classes[mark]]++] = mark
        return order
    }

    private fun grow() {
        codePoints = codePoints.copyOf(2 * size)
        classes = classes.copyOf(2 * size)
        begins = begins.copyOf(2 * size)
    }
}
