// Written by benchmarks/parity/demo_tables.py: change the tables of Python, and run it again.
package kerasbert.core.file

/** The inputs of operators by their number in `BuiltinOperator`. Kernels read the least unchecked. */
internal val INPUT_COUNTS = mapOf(
    101 to InputCount("ABS", 1, 1, false), 0 to InputCount("ADD", 2, 2, false), 56 to InputCount("ARG_MAX", 2, 2, false),
    79 to InputCount("ARG_MIN", 2, 2, false), 126 to InputCount("BATCH_MATMUL", 2, 2, false), 130 to InputCount("BROADCAST_TO", 2, 2, true),
    53 to InputCount("CAST", 1, 1, false), 3 to InputCount("CONV_2D", 2, 3, false), 128 to InputCount("CUMSUM", 2, 2, false),
    4 to InputCount("DEPTHWISE_CONV_2D", 2, 3, false), 6 to InputCount("DEQUANTIZE", 1, 1, false), 42 to InputCount("DIV", 2, 2, false),
    7 to InputCount("EMBEDDING_LOOKUP", 2, 2, false), 71 to InputCount("EQUAL", 2, 2, true), 47 to InputCount("EXP", 1, 1, false),
    70 to InputCount("EXPAND_DIMS", 2, 2, true), 94 to InputCount("FILL", 2, 2, true), 9 to InputCount("FULLY_CONNECTED", 2, 3, false),
    36 to InputCount("GATHER", 2, 2, true), 107 to InputCount("GATHER_ND", 2, 2, true), 150 to InputCount("GELU", 1, 1, false),
    61 to InputCount("GREATER", 2, 2, false), 62 to InputCount("GREATER_EQUAL", 2, 2, false), 58 to InputCount("LESS", 2, 2, false),
    63 to InputCount("LESS_EQUAL", 2, 2, false), 73 to InputCount("LOG", 1, 1, false), 14 to InputCount("LOGISTIC", 1, 1, false),
    55 to InputCount("MAXIMUM", 2, 2, false), 40 to InputCount("MEAN", 2, 2, false), 57 to InputCount("MINIMUM", 2, 2, false),
    18 to InputCount("MUL", 2, 2, false), 59 to InputCount("NEG", 1, 1, false), 72 to InputCount("NOT_EQUAL", 2, 2, true),
    85 to InputCount("ONE_HOT", 4, 4, false), 34 to InputCount("PAD", 2, 2, false), 60 to InputCount("PADV2", 3, 3, false),
    78 to InputCount("POW", 2, 2, false), 114 to InputCount("QUANTIZE", 1, 1, false), 96 to InputCount("RANGE", 3, 3, false),
    82 to InputCount("REDUCE_MAX", 2, 2, false), 89 to InputCount("REDUCE_MIN", 2, 2, false), 19 to InputCount("RELU", 1, 1, false),
    21 to InputCount("RELU6", 1, 1, false), 22 to InputCount("RESHAPE", 1, 2, true), 76 to InputCount("RSQRT", 1, 1, false),
    123 to InputCount("SELECT_V2", 3, 3, true), 77 to InputCount("SHAPE", 1, 1, true), 65 to InputCount("SLICE", 3, 3, true),
    25 to InputCount("SOFTMAX", 1, 1, false), 49 to InputCount("SPLIT", 2, 2, false), 75 to InputCount("SQRT", 1, 1, false),
    92 to InputCount("SQUARE", 1, 1, false), 99 to InputCount("SQUARED_DIFFERENCE", 2, 2, false), 43 to InputCount("SQUEEZE", 1, 1, true),
    45 to InputCount("STRIDED_SLICE", 4, 5, true), 41 to InputCount("SUB", 2, 2, false), 74 to InputCount("SUM", 2, 2, false),
    28 to InputCount("TANH", 1, 1, false), 69 to InputCount("TILE", 2, 2, true), 48 to InputCount("TOPK_V2", 2, 2, false),
    39 to InputCount("TRANSPOSE", 2, 2, false), 88 to InputCount("UNPACK", 1, 1, true),
)

/** Operators without inputs. */
internal val NO_INPUTS = setOf(
    129, 136, 142,
)

/** Operators without outputs. */
internal val NO_OUTPUTS = setOf(
    129, 138, 144,
)

/** Operators whose second input is read unchecked. */
internal val TWO_INPUTS = setOf(
    9, 36, 126,
)

/** The first input that may be missing, by operator. */
internal val FIRST_OPTIONAL_INPUT = mapOf(
    9 to 2, 3 to 2, 4 to 2, 132 to 2, 67 to 3, 27 to 3, 16 to 1, 44 to 1, 52 to 1, 46 to 1,
)

/** The bits of an element, by type. */
internal val BITS = mapOf(
    "int2" to 2, "int4" to 4, "uint4" to 4, "int8" to 8, "uint8" to 8, "bool" to 8, "int16" to 16, "uint16" to 16, "float16" to 16,
    "bfloat16" to 16, "float32" to 32, "int32" to 32, "uint32" to 32, "float64" to 64, "int64" to 64, "uint64" to 64, "complex64" to 64,
    "complex128" to 128,
)

/** The smallest and the largest zero point, by type. */
internal val ZERO_POINTS = mapOf(
    "int2" to -2L..1L, "int4" to -8L..7L, "uint4" to 0L..15L, "int8" to -128L..127L, "uint8" to 0L..255L, "int16" to -32768L..32767L,
)

/** Types whose elements have no size of their own. */
internal val WITHOUT_SIZE = setOf(
    "resource", "string", "variant",
)

/** Table -> slot of its vtable -> kind of the field, as in TFLite's schema.fbs. Others are numbers. */
internal val LAYOUT = mapOf(
    "Model" to mapOf(
        4 to Scalar(4), 6 to Many("OperatorCode"), 8 to Many("SubGraph"), 10 to Text, 12 to Many("Buffer"), 14 to Numbers(4),
        16 to Many("Metadata"), 18 to Many("SignatureDef"),
    ),
    "OperatorCode" to mapOf(
        4 to Scalar(1), 6 to Text, 8 to Scalar(4), 10 to Scalar(4),
    ),
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
    "Details" to mapOf(
        4 to Scalar(4), 6 to Scalar(4), 8 to Scalar(4),
    ),
    "SparsityParameters" to mapOf(
        4 to Numbers(4), 6 to Numbers(4), 8 to Many("DimensionMetadata"),
    ),
    "DimensionMetadata" to mapOf(
        4 to Scalar(1), 6 to Scalar(4), 8 to Scalar(1), 10 to One("SparseVector"), 12 to Scalar(1), 14 to One("SparseVector"),
    ),
    "SparseVector" to mapOf(
        4 to Numbers(1),
    ),
    "VariantSubType" to mapOf(
        4 to Numbers(4), 6 to Scalar(1), 8 to Scalar(1),
    ),
    "Operator" to mapOf(
        4 to Scalar(4), 6 to Numbers(4), 8 to Numbers(4), 10 to Scalar(1), 12 to Options, 14 to Numbers(1), 16 to Scalar(1),
        18 to Numbers(1), 20 to Numbers(4), 22 to Scalar(8), 24 to Scalar(8), 26 to Scalar(1), 28 to Options, 30 to Scalar(4),
    ),
    "ReshapeOptions" to mapOf(
        4 to Numbers(4),
    ),
    "SqueezeOptions" to mapOf(
        4 to Numbers(4),
    ),
    "Buffer" to mapOf(
        4 to Numbers(1), 6 to Scalar(8), 8 to Scalar(8),
    ),
    "Metadata" to mapOf(
        4 to Text, 6 to Scalar(4),
    ),
    "SignatureDef" to mapOf(
        4 to Many("TensorMap"), 6 to Many("TensorMap"), 8 to Text, 12 to Scalar(4),
    ),
    "TensorMap" to mapOf(
        4 to Text, 6 to Scalar(4),
    ),
)

/** Tables of options by their number in `BuiltinOptions`. */
internal val OPTIONS_WITH_VECTORS = mapOf(
    17 to "ReshapeOptions", 30 to "SqueezeOptions",
)
