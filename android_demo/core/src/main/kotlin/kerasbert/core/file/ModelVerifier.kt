package kerasbert.core.file

private val NO_FIELDS = emptyMap<Int, Field>()
private val BYTE = Scalar(1)
private const val OPTIONS_TYPE = 10

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
