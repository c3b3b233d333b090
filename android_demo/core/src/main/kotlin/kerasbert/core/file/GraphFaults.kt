package kerasbert.core.file

private const val MOST_AXES = 8 // the length of the kernels' arrays
private const val MOST_BYTES = 1L shl 32 // of one tensor
private const val BYTE = 8

/**
 * Finds tensors and operators that contradict each other, as `kerasbert.export.tflite.graph_faults` in Python.
 *
 * Every offset of such a file is valid, yet a runtime crashes, hangs or fills the memory.
 */
internal class GraphFaults(private val graph: Graph) {
    /** @throws DamagedException about the first contradiction. */
    fun check() {
        graph.tensors.forEachIndexed { number, tensor -> tensorFault(tensor)?.let { throw DamagedException("tensor $number with $it") } }
        for (operator in graph.operators) checkOperator(operator)
        checkOrder()
    }

    private fun tensorFault(tensor: GraphTensor): String? {
        if (tensor.storedShape.size > MOST_AXES) return "${tensor.storedShape.size} axes"
        val isOpen = tensor.shape.size == tensor.storedShape.size && tensor.shape.indices.all { tensor.shape[it] in listOf(-1, tensor.storedShape[it]) }
        if (!isOpen) return "the shapes ${tensor.storedShape.asList()} and ${tensor.shape.asList()}"
        if (tensor.type in WITHOUT_SIZE) return null
        val bits = BITS[tensor.type] ?: return "the unknown type ${tensor.type}"
        val elements = elements(tensor)
        if (elements > MOST_BYTES * BYTE / bits) return "the shape ${tensor.storedShape.asList()}"
        val size = (elements * bits + BYTE - 1) / BYTE
        if (tensor.bytes > 0 && !tensor.isSparse && tensor.bytes != size) {
            return "${tensor.bytes} bytes for ${tensor.type}${tensor.storedShape.asList()}, $size bytes"
        }
        return tensor.quantization?.let { quantizationFault(tensor, it) }
    }

    private fun quantizationFault(tensor: GraphTensor, quantization: Quantization): String? {
        val (shape, scales) = tensor.storedShape to quantization.scales
        val allowed = ZERO_POINTS[tensor.type] ?: (Int.MIN_VALUE.toLong()..Int.MAX_VALUE.toLong())
        return when {
            quantization.zeros.first !in allowed || quantization.zeros.last !in allowed -> "a zero point outside $allowed for ${tensor.type}"
            !quantization.isSound -> "a scale that is negative or no number"
            quantization.zeroPoints != scales -> "$scales scales and ${quantization.zeroPoints} zero points"
            scales > 1 && shape.getOrNull(quantization.axis) != scales -> "$scales scales along axis ${quantization.axis} of ${shape.asList()}"
            else -> null
        }
    }

    private fun checkOperator(operator: GraphOperator) {
        OperatorRules.wrongCount(operator.code, operator.inputs.size)?.let { throw DamagedException(it) }
        if (!OperatorRules.takesNumbersOnly(operator.code)) return
        if ((operator.inputs + operator.outputs).any { it >= 0 && graph.tensors[it].type in WITHOUT_SIZE }) {
            throw DamagedException("an operator of the code ${operator.code} of texts")
        }
    }

    /** Checks that no tensor is read before it has values, or written twice. */
    private fun checkOrder() {
        val isConstant = BooleanArray(graph.tensors.size) { graph.tensors[it].bytes > 0 }
        val isReadable = BooleanArray(graph.tensors.size) { isConstant[it] || graph.tensors[it].isVariable || elements(graph.tensors[it]) == 0L }
        val isWritten = BooleanArray(graph.tensors.size)
        for (input in graph.inputs) {
            if (isConstant[input]) throw DamagedException("a constant, tensor $input, as an input")
            isWritten[input] = true
            isReadable[input] = true
        }
        for (operator in graph.operators) {
            operator.inputs.firstOrNull { it >= 0 && !isReadable[it] }?.let {
                throw DamagedException("an operator that reads tensor $it before it is written")
            }
            for (output in operator.outputs) {
                if (output < 0) continue
                if (isConstant[output] || isWritten[output]) throw DamagedException("an operator that writes tensor $output, which has values already")
                isWritten[output] = true
                isReadable[output] = true
            }
        }
        graph.outputs.firstOrNull { !isReadable[it] }?.let { throw DamagedException("an output, tensor $it, that nothing writes") }
    }

    /** The number of elements; those of a tensor that is far too large are not counted on. */
    private fun elements(tensor: GraphTensor): Long {
        if (tensor.storedShape.any { it == 0 }) return 0
        return tensor.storedShape.fold(1L) { count, axis -> if (count > MOST_BYTES * BYTE) count else count * axis }
    }
}
