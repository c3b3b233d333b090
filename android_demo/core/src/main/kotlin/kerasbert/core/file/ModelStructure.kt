package kerasbert.core.file

/** Scales and zero points of a tensor. */
internal class Quantization(val scales: Int, val axis: Int, val zeroPoints: Int, val zeros: LongRange, val isSound: Boolean)

/** A tensor of a graph. `bytes` are those that the file stores for it. */
internal class GraphTensor(
    val type: String,
    val shape: IntArray,
    val storedShape: IntArray,
    val bytes: Long,
    val quantization: Quantization?,
    val isVariable: Boolean,
    val isSparse: Boolean,
)

/** A call of an operator. Inputs that are left out are -1. */
internal class GraphOperator(val code: Int, val inputs: IntArray, val outputs: IntArray)

/** A graph. */
internal class Graph(val tensors: List<GraphTensor>, val operators: List<GraphOperator>, val inputs: IntArray, val outputs: IntArray)

/** Reads all graphs of a file that [ModelVerifier] verified: every index is checked against the number of what it counts. */
internal class ModelStructure(private val buffer: FlatBuffer) {
    private val model = buffer.root
    private val bufferSizes: LongArray = model.tables(12).let { buffers -> LongArray(buffers.size) { size(buffers[it]) } }
    private val codes: IntArray = model.tables(6).let { codes -> IntArray(codes.size) { code(codes[it]) } }

    /** The graphs in the order of the file. */
    fun graphs(): List<Graph> = model.tables(8).let { graphs -> List(graphs.size) { graph(graphs[it]) } }

    private fun size(table: FlatTable): Long {
        val offset = table.int64(6)
        val size = table.int64(8)
        if (offset <= 1) return table.vector(4, 1)?.count?.toLong() ?: 0
        if (size < 0 || offset > buffer.size || size > buffer.size - offset) throw DamagedException("a buffer of $size bytes at $offset, past the end")
        return size
    }

    private fun code(table: FlatTable): Int = maxOf(table.int32(10), table.byte(4))

    private fun graph(table: FlatTable): Graph {
        val tensors = table.tables(4).let { tensors -> List(tensors.size) { tensor(tensors[it]) } }
        val operators = table.tables(10).let { operators -> List(operators.size) { operator(operators[it], tensors.size) } }
        val inputs = table.int32s(6)
        val outputs = table.int32s(8)
        if ((inputs + outputs).any { it !in tensors.indices }) {
            throw DamagedException("a graph that starts or ends with a tensor outside 0..${tensors.size - 1}")
        }
        return Graph(tensors, operators, inputs, outputs)
    }

    private fun tensor(table: FlatTable): GraphTensor {
        val stored = table.int32s(4)
        val shape = table.int32s(18).let { if (it.isEmpty()) stored else it }
        if (stored.any { it < 0 }) throw DamagedException("a tensor of the shape ${stored.asList()}")
        val number = table.uint32(8)
        if (number >= bufferSizes.size) throw DamagedException("buffer $number of ${bufferSizes.size}")
        return GraphTensor(
            typeName(table.byte(6)), shape, stored, bufferSizes[number.toInt()], table.table(12)?.let(::quantization), table.byte(14) != 0,
            table.table(16) != null,
        )
    }

    private fun quantization(table: FlatTable): Quantization? {
        val scales = table.vector(8, 4)?.takeIf { it.count > 0 } ?: return null
        val zeros = table.vector(10, 8)
        var isSound = true
        for (index in 0 until scales.count) {
            val scale = java.lang.Float.intBitsToFloat(buffer.int32(scales.start + 4 * index))
            if (!(scale >= 0) || scale.isInfinite()) isSound = false
        }
        var least = 0L
        var most = 0L
        for (index in 0 until (zeros?.count ?: 0)) {
            val zero = buffer.int64((zeros?.start ?: 0) + 8 * index)
            least = if (index == 0) zero else minOf(least, zero)
            most = if (index == 0) zero else maxOf(most, zero)
        }
        return Quantization(scales.count, table.int32(16), zeros?.count ?: 0, least..most, isSound)
    }

    private fun operator(table: FlatTable, tensors: Int): GraphOperator {
        val number = table.uint32(4)
        if (number >= codes.size) throw DamagedException("operator code $number of ${codes.size}")
        val (start, size) = table.int64(22) to table.int64(24)
        if (start > 1 && (size < 0 || start > buffer.size || size > buffer.size - start)) {
            throw DamagedException("custom options of $size bytes at $start, past the end")
        }
        val inputs = table.int32s(6)
        val outputs = table.int32s(8)
        if ((inputs + outputs).any { it !in -1 until tensors }) throw DamagedException("an operator with a tensor outside 0..${tensors - 1}")
        val code = codes[number.toInt()]
        OperatorRules.missing(code, inputs, outputs)?.let { throw DamagedException("an operator of the code $code without $it") }
        return GraphOperator(code, inputs, outputs)
    }
}
