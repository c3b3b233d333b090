package kerasbert.desktop.litert

import com.sun.jna.Memory
import com.sun.jna.Native
import com.sun.jna.Pointer
import com.sun.jna.ptr.PointerByReference
import kerasbert.core.KerasBertException

/** A tensor of a signature, with the buffer that holds its values. */
private class BoundTensor(val name: String, val type: TensorType) {
    val openShape: IntArray = type.layout.shape
    var buffer: Pointer? = null
}

/** The tensors of one side, and an array of their buffers as LiteRT takes it. JNA would allocate one for each run. */
private class Side(val tensors: List<BoundTensor>) {
    val buffers = Memory(Native.POINTER_SIZE.toLong() * maxOf(tensors.size, 1))
    val size: Long get() = tensors.size.toLong()

    fun collect() = tensors.forEachIndexed { number, tensor -> buffers.setPointer(Native.POINTER_SIZE.toLong() * number, tensor.buffer) }
}

/**
 * A signature of a compiled model with buffers for its inputs and outputs, which all runs share.
 *
 * @param index the signature's number in the model.
 */
internal class BoundSignature(
    private val api: LiteRt,
    private val environment: Pointer,
    private val compiled: Pointer,
    model: Pointer,
    private val index: Long,
) : AutoCloseable {
    private val inputs: List<BoundTensor>
    private val outputs: List<BoundTensor>
    private val ins: Side
    private val outs: Side
    private val address = PointerByReference() // of locked values; allocated once, as it is freed only with Java's garbage
    private var length = -1

    init {
        val signature = handle("find a signature") { api.LiteRtGetModelSignature(model, index, it) }
        inputs = tensors(
            count("count inputs") { api.LiteRtGetNumSignatureInputs(signature, it) },
            { number, out -> api.LiteRtGetSignatureInputName(signature, number, out) },
            { number, out -> api.LiteRtGetSignatureInputTensorByIndex(signature, number, out) },
        )
        outputs = tensors(
            count("count outputs") { api.LiteRtGetNumSignatureOutputs(signature, it) },
            { number, out -> api.LiteRtGetSignatureOutputName(signature, number, out) },
            { number, out -> api.LiteRtGetSignatureOutputTensorByIndex(signature, number, out) },
        )
        requireType(inputs, "int32 or float32", INT32, FLOAT32)
        requireType(outputs, "float32", FLOAT32)
        ins = Side(inputs)
        outs = Side(outputs)
    }

    /**
     * Runs the signature.
     *
     * @param numbers the values of int32 inputs by name.
     * @param vectors the values of float32 inputs by name; a signature with such has fixed lengths.
     * @throws KerasBertException when they are not the inputs, or LiteRT fails.
     */
    fun run(numbers: Map<String, IntArray>, vectors: Map<String, FloatArray>): Map<String, FloatArray> {
        val (own, others) = inputs.partition { it.type.elementType == INT32 }
        if (numbers.keys != own.map { it.name }.toSet() || vectors.keys != others.map { it.name }.toSet()) {
            val received = (numbers.keys + vectors.keys).joinToString(", ")
            throw KerasBertException("expected the inputs ${inputs.joinToString(", ") { it.name }}, received $received; convert the model again")
        }
        prepare(numbers.values.maxOf { it.size })
        for (input in own) numbers.getValue(input.name).let { fill(input, it.size) { memory -> memory.write(0, it, 0, it.size) } }
        for (input in others) vectors.getValue(input.name).let { fill(input, it.size) { memory -> memory.write(0, it, 0, it.size) } }
        check(api.LiteRtRunCompiledModel(compiled, index, ins.size, ins.buffers, outs.size, outs.buffers), "run the model")
        return outputs.associate { it.name to fetch(it) }
    }

    override fun close() {
        for (tensor in inputs + outputs) {
            tensor.buffer?.let(api::LiteRtDestroyTensorBuffer)
            tensor.buffer = null
        }
        length = -1
    }

    /** Makes buffers for rows of a length, which a file may leave open. */
    private fun prepare(wanted: Int) {
        val isOpen = inputs.any { -1 in it.openShape }
        if (length != -1 && (!isOpen || length == wanted)) return
        close()
        if (isOpen) resize(wanted)
        inputs.forEachIndexed { number, tensor ->
            tensor.buffer = create(tensor) { api.LiteRtGetCompiledModelInputBufferRequirements(compiled, index, number.toLong(), it) }
        }
        outputs.forEachIndexed { number, tensor ->
            tensor.buffer = create(tensor) { api.LiteRtGetCompiledModelOutputBufferRequirements(compiled, index, number.toLong(), it) }
        }
        ins.collect()
        outs.collect()
        length = wanted
    }

    private fun resize(wanted: Int) {
        inputs.forEachIndexed { number, tensor ->
            // The batch is the first axis, wherever a file leaves both open.
            val shape = IntArray(tensor.openShape.size) { axis -> tensor.openShape[axis].let { if (it != -1) it else if (axis == 0) 1 else wanted } }
            val status = api.LiteRtCompiledModelResizeInputTensor(compiled, index, number.toLong(), shape, shape.size.toLong())
            check(status, "resize the inputs to $wanted tokens")
            tensor.type.layout.resize(shape)
        }
        val layouts = Memory(LAYOUT_BYTES * outputs.size)
        check(
            api.LiteRtGetCompiledModelOutputTensorLayouts(compiled, index, outputs.size.toLong(), layouts, true),
            "resize the outputs to $wanted tokens",
        )
        outputs.forEachIndexed { number, tensor -> tensor.type.layout.resize(Layout(layouts.share(LAYOUT_BYTES * number)).shape) }
    }

    private fun create(tensor: BoundTensor, requirements: (PointerByReference) -> Int): Pointer {
        val needed = handle("describe a buffer", requirements)
        return handle("create a buffer") {
            api.LiteRtCreateManagedTensorBufferFromRequirements(environment, tensor.type.memory, needed, it)
        }
    }

    private fun fill(tensor: BoundTensor, received: Int, write: (Pointer) -> Unit) {
        val size = elements(tensor)
        if (received != size) throw KerasBertException("expected $size values of ${tensor.name}, received $received; convert the model again")
        locked(tensor, WRITE, write)
    }

    private fun fetch(tensor: BoundTensor): FloatArray = locked(tensor, READ) { it.getFloatArray(0, elements(tensor)) }

    private inline fun <T> locked(tensor: BoundTensor, mode: Int, use: (Pointer) -> T): T {
        val buffer = tensor.buffer ?: throw refusal("run the model", "a tensor without a buffer")
        check(api.LiteRtLockTensorBuffer(buffer, address, mode), "lock a buffer")
        try {
            return use(address.value)
        } finally {
            check(api.LiteRtUnlockTensorBuffer(buffer), "unlock a buffer")
        }
    }

    private fun elements(tensor: BoundTensor): Int = tensor.type.layout.shape.fold(1) { size, axis -> Math.multiplyExact(size, axis) }

    private fun tensors(
        count: Long,
        name: (Long, PointerByReference) -> Int,
        tensor: (Long, PointerByReference) -> Int,
    ): List<BoundTensor> = List(count.toInt()) { number ->
        val type = TensorType()
        val found = handle("find a tensor") { tensor(number.toLong(), it) }
        check(api.LiteRtGetRankedTensorType(found, type.memory), "describe a tensor")
        BoundTensor(handle("name a tensor") { name(number.toLong(), it) }.getString(0, "UTF-8"), type)
    }

    private fun requireType(tensors: List<BoundTensor>, expected: String, vararg types: Int) {
        val other = tensors.firstOrNull { it.type.elementType !in types } ?: return
        throw KerasBertException("expected ${other.name} in $expected, received the type ${other.type.elementType}; convert the model again")
    }
}
