package kerasbert.core.text

private const val MULTIPLIER = -0x61c88647 // of Fibonacci hashing

/** A map from code points to whole numbers from 0 on. */
internal class CodePointMap(capacity: Int) {
    private val bits = maxOf(1, 32 - Integer.numberOfLeadingZeros(2 * capacity))
    private val keys = IntArray(1 shl bits) { -1 }
    private val values = IntArray(1 shl bits)

    operator fun set(codePoint: Int, value: Int) {
        val slot = slot(codePoint)
        keys[slot] = codePoint
        values[slot] = value
    }

    /** The value of a code point, or -1. */
    operator fun get(codePoint: Int): Int {
        val slot = slot(codePoint)
        return if (keys[slot] == codePoint) values[slot] else -1
    }

    private fun slot(codePoint: Int): Int {
        var slot = codePoint * MULTIPLIER ushr (32 - bits)
        while (keys[slot] != codePoint && keys[slot] >= 0) slot = (slot + 1) and keys.size - 1
        return slot
    }
}
