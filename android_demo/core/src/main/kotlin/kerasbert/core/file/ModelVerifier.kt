package kerasbert.core.file

private sealed interface Field

/** A number of some bytes. */
private class Scalar(val width: Int) : Field

/** A vector of numbers, each of some bytes. */
private class Numbers(val width: Int) : Field

/** A table. */
private class One(val table: String) : Field

/** A vector of tables. */
private class Many(val table: String) : Field

/** A text, which ends with a zero byte. */
private object Text : Field

/** The table of an operator's options, whose name depends on the operator. */
private object Options : Field

// Table -> slot of its vtable -> kind of the field, as in TFLite's schema.fbs, version 3. Slots that are not named are numbers.
private val LAYOUT: Map<String, Map<Int, Field>> = mapOf(
    "Model" to mapOf(
        4 to Scalar(4), 6 to Many("OperatorCode"), 8 to Many("SubGraph"), 10 to Text, 12 to Many("Buffer"), 14 to Numbers(4),
        16 to Many("Metadata"), 18 to Many("SignatureDef"),
    ),
    "OperatorCode" to mapOf(4 to Scalar(1), 6 to Text, 8 to Scalar(4), 10 to Scalar(4)),
    "SubGraph" to mapOf(
        4 to Many("Tensor"), 6 to Numbers(4), 8 to Numbers(4), 10 to Many("Operator"), 12 to Text, 14 to Scalar(4),
    ),
    "Tensor" to mapOf(
        4 to Numbers(4), 6 to Scalar(1), 8 to Scalar(4), 10 to Text, 12 to One("QuantizationParameters"), 14 to Scalar(1),
        16 to One("SparsityParameters"), 18 to Numbers(4), 20 to Scalar(1), 22 to Many("VariantSubType"), 24 to Scalar(4),
    ),
    "QuantizationParameters" to mapOf(
        4 to Numbers(4), 6 to Numbers(4), 8 to Numbers(4), 10 to Numbers(8), 12 to Scalar(1), 14 to One("Details"), 16 to Scalar(4),
    ),
    "SparsityParameters" to mapOf(4 to Numbers(4), 6 to Numbers(4), 8 to Many("DimensionMetadata")),
    "DimensionMetadata" to mapOf(
        4 to Scalar(1), 6 to Scalar(4), 8 to Scalar(1), 10 to One("SparseVector"), 12 to Scalar(1), 14 to One("SparseVector"),
    ),
    "SparseVector" to mapOf(4 to Numbers(1)),
    "VariantSubType" to mapOf(4 to Numbers(4), 6 to Scalar(1), 8 to Scalar(1)),
    "Operator" to mapOf(
        4 to Scalar(4), 6 to Numbers(4), 8 to Numbers(4), 10 to Scalar(1), 12 to Options, 14 to Numbers(1), 16 to Scalar(1),
        18 to Numbers(1), 20 to Numbers(4), 22 to Scalar(8), 24 to Scalar(8), 26 to Scalar(1), 28 to Options, 30 to Scalar(4),
    ),
    "ReshapeOptions" to mapOf(4 to Numbers(4)),
    "SqueezeOptions" to mapOf(4 to Numbers(4)),
    "Buffer" to mapOf(4 to Numbers(1), 6 to Scalar(8), 8 to Scalar(8)),
    "Metadata" to mapOf(4 to Text, 6 to Scalar(4)),
    "SignatureDef" to mapOf(4 to Many("TensorMap"), 6 to Many("TensorMap"), 8 to Text, 12 to Scalar(4)),
    "TensorMap" to mapOf(4 to Text, 6 to Scalar(4)),
)
private val NO_FIELDS = emptyMap<Int, Field>()
private val BYTE = Scalar(1)
private const val OPTIONS_TYPE = 10
private val OPTIONS_WITH_VECTORS = mapOf(17 to "ReshapeOptions", 30 to "SqueezeOptions") // by their value in `BuiltinOptions`

/**
 * Follows every offset of a `.tflite` from its root, as TensorFlow Lite's C++ verifier does, since a runtime may follow them unchecked.
 *
 * The schema has no cycles. A hostile file may still name one vector of tables many times, so the number of visits is bounded: an offset to
 * a table takes four bytes.
 */
internal class ModelVerifier(private val buffer: FlatBuffer) {
    private var visits = 0

    /** @throws DamagedException when an offset leads out of the file. */
    fun verify() = table("Model", 0)

    private fun table(kind: String, at: Int) {
        if (++visits > buffer.size / 4) throw DamagedException("more tables than fit into ${buffer.size} bytes")
        val place = buffer.follow(at)
        val vtable = buffer.inside(place.toLong() - buffer.int32(place))
        val slots = buffer.uint16(vtable)
        val length = buffer.uint16(vtable + 2)
        val fits = slots >= 4 && slots % 2 == 0 && length >= 4
        if (!fits || vtable.toLong() + slots > buffer.size || place.toLong() + length > buffer.size) {
            throw DamagedException("a $kind whose table does not fit at byte $place")
        }
        val layout = LAYOUT[kind] ?: NO_FIELDS
        for (slot in 4 until slots step 2) {
            val offset = buffer.uint16(vtable + slot)
            if (offset == 0) continue
            val field = layout[slot] ?: BYTE
            val width = if (field is Scalar) field.width else 4
            if (offset < 4 || offset + width > length) {
                throw DamagedException("a $kind with a field outside its table at byte $place")
            }
            field(field, place + offset, FlatTable(buffer, place))
        }
    }

    private fun field(field: Field, at: Int, owner: FlatTable) {
        when (field) {
            is Scalar -> Unit // verified with its table
            is Numbers -> vector(at, field.width)
            is One -> table(field.table, at)
            is Many -> vector(at, 4).let { (start, count) -> repeat(count) { table(field.table, start + 4 * it) } }
            Text -> text(at)
            Options -> table(OPTIONS_WITH_VECTORS[owner.byte(OPTIONS_TYPE)] ?: "Options", at)
        }
    }

    private fun text(at: Int) {
        val (start, count) = vector(at, 1)
        if (start.toLong() + count >= buffer.size || buffer.byte(start + count) != 0) {
            throw DamagedException("a text without its end at byte $start")
        }
    }

    /** Returns the place of a vector's first element, and the number of elements. */
    private fun vector(at: Int, width: Int): Pair<Int, Int> {
        val place = buffer.follow(at)
        val count = buffer.uint32(place)
        if (place + 4 + count * width > buffer.size) throw DamagedException("a vector of $count entries at byte $place, past the end")
        return place + 4 to count.toInt()
    }
}
