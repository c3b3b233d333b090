package kerasbert.core.file

private const val MIN_RUNTIME = "min_runtime_version"
private const val MOST_SIGNATURES = 256
private const val MOST_PORTS = 64
private const val MOST_AXES = 8
private val TYPES = listOf(
    "float32", "float16", "int32", "uint8", "int64", "string", "bool", "int16", "complex64", "int8", "float64", "complex128", "uint64",
    "resource", "variant", "uint32", "uint16", "int4", "bfloat16", "int2", "uint4", "float8_e4m3fn", "float8_e5m2",
)

/** The part of a `.tflite` file's FlatBuffer that a program needs to run it: its entry points. Slots are those of TFLite's `schema.fbs`. */
internal class ModelGraph(private val buffer: FlatBuffer) {
    private val model = buffer.root
    private val subgraphs = model.tables(8)

    /** The entry points in the order of the file. */
    fun signatures(): List<Signature> {
        val definitions = model.tables(18)
        if (subgraphs.size == 0) throw DamagedException("no subgraph")
        if (definitions.size > MOST_SIGNATURES) throw DamagedException("${definitions.size} signatures")
        return List(definitions.size) { signature(definitions[it]) }
    }

    /** The oldest TFLite runtime that has every operator, as the file states it; null where it does not. */
    fun minRuntime(): String? {
        val entries = model.tables(16)
        val buffers = model.tables(12)
        for (index in 0 until minOf(entries.size, MOST_SIGNATURES)) {
            val entry = entries[index]
            val number = entry.uint32(6)
            if (entry.text(4) != MIN_RUNTIME || number >= buffers.size) continue
            val (start, size) = content(buffers[number.toInt()])
            return buffer.text(start, minOf(size, 32)).trimEnd('\u0000').takeIf { it.isNotBlank() }
        }
        return null
    }

    /** Place and size of a buffer: inside its vector, or behind the FlatBuffer. */
    private fun content(table: FlatTable): Pair<Int, Int> {
        val offset = table.int64(6)
        val size = table.int64(8)
        if (offset <= 1) return table.vector(4, 1)?.let { it.start to it.count } ?: (0 to 0)
        if (size < 0 || size > buffer.size || offset > buffer.size - size) throw DamagedException("a buffer of $size bytes at $offset")
        return offset.toInt() to size.toInt()
    }

    private fun signature(definition: FlatTable): Signature {
        val number = definition.uint32(12)
        if (number >= subgraphs.size) throw DamagedException("a signature of subgraph $number")
        val graph = subgraphs[number.toInt()]
        val tensors = graph.tables(4)
        val name = definition.text(8)
        val inputs = ports(definition.tables(4), tensors, graph.int32s(6), "$name with an input")
        return Signature(name, inputs, ports(definition.tables(6), tensors, graph.int32s(8), "$name with an output"))
    }

    private fun ports(entries: Tables, tensors: Tables, own: IntArray, side: String): Map<String, Port> {
        if (entries.size > MOST_PORTS) throw DamagedException("a signature of ${entries.size} tensors")
        val ports = List(entries.size) {
            val number = entries[it].uint32(6)
            if (number >= tensors.size) throw DamagedException("a signature of a tensor that is not there")
            if (number.toInt() !in own) throw DamagedException("a signature $side that its graph does not have")
            port(entries[it].text(4), tensors[number.toInt()])
        }
        return ports.associateBy { it.name }
    }

    private fun port(name: String, tensor: FlatTable): Port {
        val stored = tensor.int32s(4)
        val open = tensor.int32s(18)
        val shape = if (open.isEmpty()) stored else open
        if (stored.size > MOST_AXES || shape.size != stored.size || stored.any { it < 0 }) {
            throw DamagedException("the shapes ${stored.asList()} and ${open.asList()} of $name")
        }
        val type = tensor.byte(6)
        return Port(name, typeName(type), shape.asList())
    }
}

/** The name of an element type, by its number in `TensorType`. */
internal fun typeName(number: Int): String = TYPES.getOrElse(number) { "type_$number" }
