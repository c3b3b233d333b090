package kerasbert.core.file

private const val ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
private const val DIGIT_BITS = 6
private const val GROUP = 3 // bytes that are four digits

/** Base64 (RFC 4648, section 4). `java.util.Base64` is not on Android 7. */
internal object Base64Bytes {
    /** The bytes of a text with padding; null if it is no Base64. */
    fun decode(text: String): ByteArray? {
        val digits = text.trimEnd('=')
        if (text.length % 4 != 0 || text.length - digits.length > 2) return null
        val bytes = ByteArray(digits.length * DIGIT_BITS / Byte.SIZE_BITS)
        var (bits, held, place) = Triple(0, 0, 0)
        for (digit in digits) {
            val value = ALPHABET.indexOf(digit)
            if (value < 0) return null
            bits = (bits shl DIGIT_BITS) or value
            held += DIGIT_BITS
            if (held >= Byte.SIZE_BITS) {
                held -= Byte.SIZE_BITS
                bytes[place++] = (bits ushr held).toByte()
                bits = bits and ((1 shl held) - 1)
            }
        }
        return bytes
    }

    /** The text of bytes, with padding. */
    fun encode(bytes: ByteArray): String {
        val text = StringBuilder((bytes.size + GROUP - 1) / GROUP * (GROUP + 1))
        for (start in bytes.indices step GROUP) {
            val group = (0 until GROUP).map { if (start + it < bytes.size) bytes[start + it].toInt() and 0xFF else 0 }
            val bits = group.fold(0) { held, byte -> (held shl Byte.SIZE_BITS) or byte }
            val digits = minOf(GROUP, bytes.size - start) + 1
            for (digit in 0..GROUP) {
                text.append(if (digit < digits) ALPHABET[bits ushr (DIGIT_BITS * (GROUP - digit)) and ((1 shl DIGIT_BITS) - 1)] else '=')
            }
        }
        return text.toString()
    }
}
