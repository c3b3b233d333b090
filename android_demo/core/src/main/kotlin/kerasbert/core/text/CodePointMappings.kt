package kerasbert.core.text

private const val MOST_PARTS = 32

/** Code points and the one or several that each of them becomes, of a table of mappings. */
internal class CodePointMappings(table: String) {
    private val codePoints: IntArray
    private val places: CodePointMap
    private val parts: IntArray // the number of parts of a mapping, then the parts

    init {
        val keys = IntList()
        val starts = IntList()
        val all = IntList()
        val before = IntArray(MOST_PARTS)
        val numbers = NumberReader(table)
        var codePoint = 0
        while (numbers.hasNext) {
            codePoint += numbers.next()
            keys.add(codePoint)
            starts.add(all.size)
            val count = numbers.next()
            all.add(count)
            for (number in 0 until count) {
                before[number] += numbers.next()
                all.add(before[number])
            }
        }
        parts = all.toArray()
        codePoints = keys.toArray()
        places = CodePointMap(codePoints.size)
        for (number in codePoints.indices) places[codePoints[number]] = starts[number]
    }

    /** The place of a code point's mapping, or -1. */
    fun find(codePoint: Int): Int = places[codePoint]

    /** The number of parts of the mapping at a place. */
    fun count(place: Int): Int = parts[place]

    /** A part of the mapping at a place. */
    fun part(place: Int, number: Int): Int = parts[place + 1 + number]

    /** Calls [action] with each code point that has a mapping. */
    inline fun forEach(action: (codePoint: Int) -> Unit) = codePoints.forEach(action)
}
