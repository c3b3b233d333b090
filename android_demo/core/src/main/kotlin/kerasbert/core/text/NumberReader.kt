package kerasbert.core.text

/**
 * Whole numbers in Base64 VLQ (source maps, ECMA-426), the format of [UnicodeData].
 *
 * `benchmarks/parity/unicode_tables.py` describes the three kinds of tables.
 */
internal class NumberReader(private val text: String) {
    private var at = 0

    val hasNext: Boolean get() = at < text.length

    fun next(): Int {
        var bits = 0
        var shift = 0
        while (true) {
            val digit = digit(text[at++])
            bits = bits or (digit and 31 shl shift)
            if (digit < 32) return if (bits and 1 == 0) bits ushr 1 else -(bits ushr 1)
            shift += 5
        }
    }

    private fun digit(character: Char): Int = when (character) {
        in 'A'..'Z' -> character - 'A'
        in 'a'..'z' -> character - 'a' + 26
        in '0'..'9' -> character - '0' + 52
        '+' -> 62
        else -> 63
    }
}

/** Calls [action] with the first code point and the one after the last one of each range of a table. */
internal inline fun forEachRange(table: String, action: (first: Int, end: Int) -> Unit) {
    val numbers = NumberReader(table)
    var end = 0
    while (numbers.hasNext) {
        val first = end + numbers.next()
        end = first + numbers.next()
        action(first, end)
    }
}

/** Calls [action] with each code point of a table of values and its value. */
internal inline fun forEachValue(table: String, action: (codePoint: Int, value: Int) -> Unit) {
    val numbers = NumberReader(table)
    var end = 0
    var value = 0
    while (numbers.hasNext) {
        val first = end + numbers.next()
        end = first + numbers.next()
        value += numbers.next()
        for (codePoint in first until end) action(codePoint, value)
    }
}
