package kerasbert.desktop.litert

import com.sun.jna.Memory
import com.sun.jna.Pointer
import com.sun.jna.ptr.ByReference
import com.sun.jna.ptr.PointerByReference

internal const val INT32 = 2 // kLiteRtElementTypeInt32
internal const val FLOAT32 = 1 // kLiteRtElementTypeFloat32

private const val ELEMENT_TYPE = 0L
private const val LAYOUT = 4L
private const val RANK = 0L // of the layout; the low 7 bits
private const val AXES = 4L // of the layout
internal const val LAYOUT_BYTES = 68L
private const val TYPE_BYTES = 72L
private const val MOST_AXES = 8

/** A `size_t` that a function returns. JNA has none; it is 64 bits wide wherever the wheel runs. */
internal class SizeByReference : ByReference(8) {
    val value: Long get() = pointer.getLong(0)
}

/** Calls a function that returns a handle through a pointer. */
internal inline fun handle(action: String, call: (PointerByReference) -> Int): Pointer {
    val out = PointerByReference()
    check(call(out), action)
    return out.value ?: throw refusal(action, "no handle")
}

/** Calls a function that returns a count through a pointer. */
internal inline fun count(action: String, call: (SizeByReference) -> Int): Long {
    val out = SizeByReference()
    check(call(out), action)
    return out.value
}

/** A `LiteRtLayout`: the shape of a tensor. */
internal class Layout(private val memory: Pointer) {
    val shape: IntArray
        get() {
            val rank = memory.getByte(RANK).toInt() and 0x7F
            if (rank > MOST_AXES) throw refusal("describe a tensor", "a rank of $rank")
            return memory.getIntArray(AXES, rank)
        }

    fun resize(shape: IntArray) = memory.write(AXES, shape, 0, shape.size)
}

/** A `LiteRtRankedTensorType`: the element type and the shape of a tensor. */
internal class TensorType {
    val memory = Memory(TYPE_BYTES)
    val elementType: Int get() = memory.getInt(ELEMENT_TYPE)
    val layout = Layout(memory.share(LAYOUT))
}
