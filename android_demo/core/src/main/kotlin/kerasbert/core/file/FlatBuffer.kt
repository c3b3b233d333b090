package kerasbert.core.file

import java.nio.ByteBuffer
import java.nio.ByteOrder

private const val MOST_NAME_BYTES = 1 shl 16

/** Damage inside a FlatBuffer; the message describes it. */
internal class DamagedException(message: String) : Exception(message)

/** Numbers of a FlatBuffer of unknown origin: every place is checked against the file's size. */
internal class FlatBuffer(content: ByteBuffer) {
    private val bytes: ByteBuffer = content.duplicate().order(ByteOrder.LITTLE_ENDIAN)

    /** Bytes of the file. */
    val size: Int = bytes.limit()

    /** The table to which the file's first number points. */
    val root: FlatTable get() = FlatTable(this, follow(0))

    fun byte(place: Int): Int = bytes.get(checked(place, 1)).toInt()

    fun uint16(place: Int): Int = bytes.getShort(checked(place, 2)).toInt() and 0xFFFF

    fun int32(place: Int): Int = bytes.getInt(checked(place, 4))

    fun uint32(place: Int): Long = int32(place).toLong() and 0xFFFF_FFFFL

    fun int64(place: Int): Long = bytes.getLong(checked(place, 8))

    /** The place to which the offset at a place points. */
    fun follow(place: Int): Int = inside(place + uint32(place))

    /** A place inside the file. */
    fun inside(place: Long): Int {
        if (place < 0 || place >= size) throw DamagedException("an offset to byte $place, outside the file")
        return place.toInt()
    }

    /** UTF-8 text, with U+FFFD for bytes that are none. */
    fun text(place: Int, length: Int): String {
        if (length < 0 || place.toLong() + length > size) throw DamagedException("a text of $length bytes at $place, past the end")
        return String(ByteArray(length) { bytes.get(place + it) }, Charsets.UTF_8)
    }

    private fun checked(place: Int, width: Int): Int {
        if (place < 0 || place > size - width) throw DamagedException("an offset to byte $place, outside the file")
        return place
    }
}

/** A vector: the place of its first element, and the number of elements. */
internal class FlatVector(val start: Int, val count: Int)

/** A table whose fields are named by their slot of its vtable, as in the generated code of FlatBuffers: 4, 6, 8 and so on. */
internal class FlatTable(private val buffer: FlatBuffer, val place: Int) {
    private val vtable = buffer.inside(place.toLong() - buffer.int32(place))
    private val slots = buffer.uint16(vtable)

    fun byte(slot: Int): Int = field(slot)?.let(buffer::byte) ?: 0

    fun int32(slot: Int): Int = field(slot)?.let(buffer::int32) ?: 0

    fun uint32(slot: Int): Long = field(slot)?.let(buffer::uint32) ?: 0L

    fun int64(slot: Int): Long = field(slot)?.let(buffer::int64) ?: 0L

    fun text(slot: Int): String {
        val vector = vector(slot, 1) ?: return ""
        if (vector.count > MOST_NAME_BYTES) throw DamagedException("a name of ${vector.count} bytes")
        return buffer.text(vector.start, vector.count)
    }

    /** A table; null where there is none. */
    fun table(slot: Int): FlatTable? = field(slot)?.let { FlatTable(buffer, buffer.follow(it)) }

    /** A vector of numbers; empty where there is none. */
    fun int32s(slot: Int): IntArray {
        val vector = vector(slot, 4) ?: return IntArray(0)
        return IntArray(vector.count) { buffer.int32(vector.start + 4 * it) }
    }

    /** The tables of a vector; empty where there is none. */
    fun tables(slot: Int): Tables = Tables(buffer, vector(slot, 4))

    /** A vector with elements of a width in bytes; null where there is none. */
    fun vector(slot: Int, width: Int): FlatVector? {
        val start = buffer.follow(field(slot) ?: return null)
        val count = buffer.uint32(start)
        if (start + 4L + count * width > buffer.size) throw DamagedException("a vector of $count entries at byte $start, past the end")
        return FlatVector(start + 4, count.toInt())
    }

    private fun field(slot: Int): Int? {
        val offset = if (slot < slots) buffer.uint16(vtable + slot) else 0
        return if (offset == 0) null else buffer.inside(place.toLong() + offset)
    }
}

/** A vector of tables, each of which is read when it is asked for: a file of a few bytes may count millions. */
internal class Tables(private val buffer: FlatBuffer, private val vector: FlatVector?) {
    val size: Int get() = vector?.count ?: 0

    operator fun get(index: Int): FlatTable {
        if (vector == null || index !in 0 until size) throw DamagedException("entry $index of $size")
        return FlatTable(buffer, buffer.follow(vector.start + 4 * index))
    }
}
