package kerasbert.core.text

import kerasbert.core.KerasBertException
import kerasbert.core.file.Base64Bytes

// Fields of the protocol buffers ModelProto, SentencePiece and NormalizerSpec of google/sentencepiece.
private const val PIECES = 1
private const val NORMALIZER = 3
private const val PIECE = 1
private const val SCORE = 2
private const val CHARACTER_MAP = 2
private const val VARINT = 0
private const val EIGHT_BYTES = 1
private const val LENGTH = 2
private const val FOUR_BYTES = 5
private const val VARINT_BITS = 7
private const val LONGEST_VARINT = 10

/**
 * The pieces of a SentencePiece model, their scores and its character map.
 *
 * @param text the model in base64.
 * @throws KerasBertException when it is damaged.
 */
internal class SentencePieceModel(text: String) {
    private val bytes = Base64Bytes.decode(text) ?: throw damaged("another text")

    /** The pieces in the order of their ids. */
    val pieces = ArrayList<String>()

    /** Their log probabilities. */
    val scores: DoubleArray

    /** The `precompiled_charsmap`. */
    var characterMap = ByteArray(0)
        private set

    init {
        val found = ArrayList<Double>()
        forEachField(0, bytes.size) { field, start, end ->
            if (field == PIECES) found += addPiece(start, end) else if (field == NORMALIZER) readNormalizer(start, end)
        }
        if (pieces.isEmpty()) throw damaged("none")
        scores = found.toDoubleArray()
    }

    /** Adds a piece, and returns its score. */
    private fun addPiece(from: Int, to: Int): Double {
        var piece = ""
        var score = 0.0
        forEachField(from, to) { field, start, end ->
            if (field == PIECE) piece = bytes.decodeToString(start, end)
            if (field == SCORE && end - start == Int.SIZE_BYTES) score = floatAt(start).toDouble()
        }
        pieces += piece
        return score
    }

    private fun readNormalizer(from: Int, to: Int) = forEachField(from, to) { field, start, end ->
        if (field == CHARACTER_MAP) characterMap = bytes.copyOfRange(start, end)
    }

    /** Calls [action] with the number and the place of each field; those of a whole number are left out. */
    private fun forEachField(from: Int, to: Int, action: (Int, Int, Int) -> Unit) {
        var at = from
        while (at < to) {
            val (key, afterKey) = varint(at)
            var start = afterKey
            val end = when (val kind = key and 7) {
                VARINT -> varint(afterKey).second
                EIGHT_BYTES -> afterKey + Long.SIZE_BYTES
                FOUR_BYTES -> afterKey + Int.SIZE_BYTES
                LENGTH -> varint(afterKey).let { (length, place) ->
                    start = place
                    if (length < 0 || length > to - place) throw damaged("the first part of one")
                    place + length
                }
                else -> throw damaged("a field of kind $kind")
            }
            if (end > to) throw damaged("the first part of one")
            if (key and 7 != VARINT) action(key ushr 3, start, end)
            at = end
        }
    }

    /** A whole number of 7 bits a byte, the lowest first, and the place behind it. Numbers of more than 32 bits are cut. */
    private fun varint(from: Int): Pair<Int, Int> {
        var value = 0
        for (number in 0 until minOf(LONGEST_VARINT, bytes.size - from)) {
            val byte = bytes[from + number].toInt()
            if (number * VARINT_BITS < Int.SIZE_BITS) value = value or ((byte and 0x7F) shl (number * VARINT_BITS))
            if (byte >= 0) return Pair(value, from + number + 1)
        }
        throw damaged("the first part of one")
    }

    private fun floatAt(at: Int): Float =
        Float.fromBits((0 until Int.SIZE_BYTES).fold(0) { bits, byte -> bits or ((bytes[at + byte].toInt() and 0xFF) shl (8 * byte)) })

    private fun damaged(received: String) =
        KerasBertException("expected a SentencePiece model in base64, received $received; convert the model again")
}
