package kerasbert.core.file

// The least and the most inputs of each operator: name, its number in `BuiltinOperator`, least, most, and `s` if it takes texts. Kernels read
// the least without checking.
private const val COUNTS = """
    ABS 101 1 1, ADD 0 2 2, ARG_MAX 56 2 2, ARG_MIN 79 2 2, BATCH_MATMUL 126 2 2, BROADCAST_TO 130 2 2 s, CAST 53 1 1, CONV_2D 3 2 3,
    CUMSUM 128 2 2, DEPTHWISE_CONV_2D 4 2 3, DEQUANTIZE 6 1 1, DIV 42 2 2, EMBEDDING_LOOKUP 7 2 2, EQUAL 71 2 2 s, EXP 47 1 1,
    EXPAND_DIMS 70 2 2 s, FILL 94 2 2 s, FULLY_CONNECTED 9 2 3, GATHER 36 2 2 s, GATHER_ND 107 2 2 s, GELU 150 1 1, GREATER 61 2 2,
    GREATER_EQUAL 62 2 2, LESS 58 2 2, LESS_EQUAL 63 2 2, LOG 73 1 1, LOGISTIC 14 1 1, MAXIMUM 55 2 2, MEAN 40 2 2, MINIMUM 57 2 2,
    MUL 18 2 2, NEG 59 1 1, NOT_EQUAL 72 2 2 s, ONE_HOT 85 4 4, PAD 34 2 2, PADV2 60 3 3, POW 78 2 2, QUANTIZE 114 1 1, RANGE 96 3 3,
    REDUCE_MAX 82 2 2, REDUCE_MIN 89 2 2, RELU 19 1 1, RELU6 21 1 1, RESHAPE 22 1 2 s, RSQRT 76 1 1, SELECT_V2 123 3 3 s,
    SHAPE 77 1 1 s, SLICE 65 3 3 s, SOFTMAX 25 1 1, SPLIT 49 2 2, SQRT 75 1 1, SQUARE 92 1 1, SQUARED_DIFFERENCE 99 2 2,
    SQUEEZE 43 1 1 s, STRIDED_SLICE 45 4 5 s, SUB 41 2 2, SUM 74 2 2, TANH 28 1 1, TILE 69 2 2 s, TOPK_V2 48 2 2, TRANSPOSE 39 2 2,
    UNPACK 88 1 1 s
"""

private const val CUSTOM = 32
private val NO_INPUTS = setOf(129, 136, 142) // CALL_ONCE, HASHTABLE, VAR_HANDLE
private val NO_OUTPUTS = setOf(129, 144, 138) // CALL_ONCE, ASSIGN_VARIABLE, HASHTABLE_IMPORT
private val TWO_INPUTS = setOf(126, 9, 36) // BATCH_MATMUL, FULLY_CONNECTED, GATHER: rules read the second one

// FULLY_CONNECTED, CONV_2D, DEPTHWISE_CONV_2D, CONV_3D, TRANSPOSE_CONV, SVDF, and recurrent layers.
private val FIRST_OPTIONAL_INPUT = mapOf(9 to 2, 3 to 2, 4 to 2, 132 to 2, 67 to 3, 27 to 3, 16 to 1, 44 to 1, 52 to 1, 46 to 1)

private class InputCount(val name: String, val least: Int, val most: Int, val takesTexts: Boolean)

private val INPUT_COUNTS: Map<Int, InputCount> = COUNTS.trim().split(Regex(",\\s+")).associate { entry ->
    val words = entry.split(' ')
    words[1].toInt() to InputCount(words[0], words[2].toInt(), words[3].toInt(), words.size > 4)
}

/** The inputs that operators need, as `kerasbert.export.tflite` checks them in Python. Operators of other numbers are left to the runtime. */
internal object OperatorRules {
    /** Describes a tensor that a builtin operator lacks; null where it has all. Runtimes read it without checking, and crash. */
    fun missing(code: Int, inputs: IntArray, outputs: IntArray): String? {
        if (code == CUSTOM) return null
        val required = FIRST_OPTIONAL_INPUT[code]?.let { inputs.copyOf(minOf(it, inputs.size)) } ?: inputs
        return when {
            code !in NO_OUTPUTS && (outputs.isEmpty() || -1 in outputs) -> "an output"
            code !in NO_INPUTS && (required.isEmpty() || -1 in required) -> "an input"
            code in TWO_INPUTS && inputs.size < 2 -> "a second input"
            else -> null
        }
    }

    /** Describes a wrong number of inputs; null where it is right. */
    fun wrongCount(code: Int, inputs: Int): String? =
        INPUT_COUNTS[code]?.takeIf { inputs !in it.least..it.most }?.let { "an operator ${it.name} of $inputs inputs" }

    /** Whether an operator takes no texts. */
    fun takesNumbersOnly(code: Int): Boolean = INPUT_COUNTS[code]?.takesTexts == false
}
