package kerasbert.core.file

private const val ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
private const val DIGIT_BITS = 6

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
}
