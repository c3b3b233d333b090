package kerasbert.core.text

import kerasbert.core.KerasBertException

private const val LONGEST_CLUSTER = 6 // bytes in UTF-8: clusters from this length on are mapped character by character
private const val LABEL = 0x800000FF.toInt()
private const val VALUE = 0x7FFFFFFF
private const val HAS_LEAF = 0x100
private const val IS_FAR = 0x200

/**
 * The `precompiled_charsmap` of a SentencePiece model: what characters, and short clusters of them, are replaced by.
 *
 * The format is a size in bytes, a double array (Darts) of so many bytes, and the replacements, each with a NUL behind it. As in the
 * crate `spm_precompiled` of `tokenizers`, the shortest entry that a cluster begins with replaces the whole cluster.
 *
 * @throws KerasBertException when the bytes are damaged.
 */
internal class CharacterMap(private val bytes: ByteArray) {
    private val units: IntArray
    private val first: Int // byte of the replacements

    init {
        val size = if (bytes.size >= Int.SIZE_BYTES) number(0) else 0
        if (size <= 0 || size % Int.SIZE_BYTES != 0 || size > bytes.size - Int.SIZE_BYTES) throw damaged()
        units = IntArray(size / Int.SIZE_BYTES) { number(Int.SIZE_BYTES * (it + 1)) }
        first = Int.SIZE_BYTES + size
    }

    /** The code points that replace those from [from] to [to], of fewer than six bytes in UTF-8; null where nothing does. */
    fun replacement(codePoints: IntArray, from: Int, to: Int): IntArray? {
        var node = offset(units[0])
        for (at in from until to) {
            val length = bytesOf(codePoints[at])
            for (number in 0 until length) {
                val byte = byteOf(codePoints[at], length, number)
                node = node xor byte
                val unit = if (byte != 0 && node in units.indices) units[node] else return null
                if (unit and LABEL != byte) return null
                node = node xor offset(unit)
                if (unit and HAS_LEAF != 0) return decode(units.getOrElse(node) { throw damaged() } and VALUE)
            }
        }
        return null
    }

    private fun decode(place: Int): IntArray {
        val start = first + place
        var end = start
        while (end < bytes.size && bytes[end] != 0.toByte()) end++
        if (start < first || end >= bytes.size) throw damaged()
        return codePointsOf(bytes.decodeToString(start, end))
    }

    private fun number(at: Int): Int =
        (0 until Int.SIZE_BYTES).fold(0) { value, byte -> value or ((bytes[at + byte].toInt() and 0xFF) shl (Byte.SIZE_BITS * byte)) }

    private fun damaged() =
        KerasBertException("expected a character map as SentencePiece writes it, received ${bytes.size} other bytes; convert the model again")

    companion object {
        /** Whether a cluster of so many bytes in UTF-8 is looked up as a whole. */
        fun isShort(bytes: Int): Boolean = bytes < LONGEST_CLUSTER

        /** The bytes of a code point in UTF-8. */
        fun bytesOf(codePoint: Int): Int = when {
            codePoint < 0x80 -> 1
            codePoint < 0x800 -> 2
            codePoint < 0x10000 -> 3
            else -> 4
        }

        private fun byteOf(codePoint: Int, length: Int, number: Int): Int {
            if (length == 1) return codePoint
            val bits = (codePoint shr (6 * (length - 1 - number))) and 0x3F
            return if (number == 0) ((0xF00 shr length) and 0xFF) or bits else 0x80 or bits
        }

        private fun offset(unit: Int): Int = (unit ushr 10) shl ((unit and IS_FAR) ushr 6)

        private fun codePointsOf(text: String): IntArray {
            val codePoints = IntList(text.length)
            var at = 0
            while (at < text.length) {
                val codePoint = text.codePointAt(at)
                codePoints.add(codePoint)
                at += Character.charCount(codePoint)
            }
            return codePoints.toArray()
        }
    }
}
