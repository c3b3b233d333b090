/**
 * The inputs that operators need, as `kerasbert.export.tflite` checks them in Python. Operators of other numbers are left to the runtime.
 */

// The least and the most inputs of each operator: name, its number in `BuiltinOperator`, least, most, and `s` if it takes texts. Kernels
// read the least without checking.
const COUNTS = `
  ABS 101 1 1, ADD 0 2 2, ARG_MAX 56 2 2, ARG_MIN 79 2 2, BATCH_MATMUL 126 2 2, BROADCAST_TO 130 2 2 s, CAST 53 1 1, CONV_2D 3 2 3,
  CUMSUM 128 2 2, DEPTHWISE_CONV_2D 4 2 3, DEQUANTIZE 6 1 1, DIV 42 2 2, EMBEDDING_LOOKUP 7 2 2, EQUAL 71 2 2 s, EXP 47 1 1,
  EXPAND_DIMS 70 2 2 s, FILL 94 2 2 s, FULLY_CONNECTED 9 2 3, GATHER 36 2 2 s, GATHER_ND 107 2 2 s, GELU 150 1 1, GREATER 61 2 2,
  GREATER_EQUAL 62 2 2, LESS 58 2 2, LESS_EQUAL 63 2 2, LOG 73 1 1, LOGISTIC 14 1 1, MAXIMUM 55 2 2, MEAN 40 2 2, MINIMUM 57 2 2,
  MUL 18 2 2, NEG 59 1 1, NOT_EQUAL 72 2 2 s, ONE_HOT 85 4 4, PAD 34 2 2, PADV2 60 3 3, POW 78 2 2, QUANTIZE 114 1 1, RANGE 96 3 3,
  REDUCE_MAX 82 2 2, REDUCE_MIN 89 2 2, RELU 19 1 1, RELU6 21 1 1, RESHAPE 22 1 2 s, RSQRT 76 1 1, SELECT_V2 123 3 3 s,
  SHAPE 77 1 1 s, SLICE 65 3 3 s, SOFTMAX 25 1 1, SPLIT 49 2 2, SQRT 75 1 1, SQUARE 92 1 1, SQUARED_DIFFERENCE 99 2 2,
  SQUEEZE 43 1 1 s, STRIDED_SLICE 45 4 5 s, SUB 41 2 2, SUM 74 2 2, TANH 28 1 1, TILE 69 2 2 s, TOPK_V2 48 2 2, TRANSPOSE 39 2 2,
  UNPACK 88 1 1 s
`;

const CUSTOM = 32;
const NO_INPUTS = new Set([129, 136, 142]); // CALL_ONCE, HASHTABLE, VAR_HANDLE
const NO_OUTPUTS = new Set([129, 144, 138]); // CALL_ONCE, ASSIGN_VARIABLE, HASHTABLE_IMPORT
const TWO_INPUTS = new Set([126, 9, 36]); // BATCH_MATMUL, FULLY_CONNECTED, GATHER: rules read the second one

// FULLY_CONNECTED, CONV_2D, DEPTHWISE_CONV_2D, CONV_3D, TRANSPOSE_CONV, SVDF, and recurrent layers.
const FIRST_OPTIONAL_INPUT = new Map([[9, 2], [3, 2], [4, 2], [132, 2], [67, 3], [27, 3], [16, 1], [44, 1], [52, 1], [46, 1]]);

const INPUT_COUNTS = new Map(
  COUNTS.trim().split(/,\s+/).map((entry) => {
    const [name, code, least, most, texts] = entry.split(" ");
    return [Number(code), { name, least: Number(least), most: Number(most), takesTexts: texts === "s" }];
  }),
);

/** The rules of builtin operators, which are named by their number in `BuiltinOperator`. */
export const OperatorRules = Object.freeze({
  /** Describes a tensor that a builtin operator lacks; null where it has all. Runtimes read it without checking, and crash. */
  missing(code, inputs, outputs) {
    if (code === CUSTOM) return null;
    const required = inputs.slice(0, FIRST_OPTIONAL_INPUT.get(code) ?? inputs.length);
    if (!NO_OUTPUTS.has(code) && (outputs.length === 0 || outputs.includes(-1))) return "an output";
    if (!NO_INPUTS.has(code) && (required.length === 0 || required.includes(-1))) return "an input";
    return TWO_INPUTS.has(code) && inputs.length < 2 ? "a second input" : null;
  },

  /** Describes a wrong number of inputs; null where it is right. */
  wrongCount(code, inputs) {
    const count = INPUT_COUNTS.get(code);
    return count && (inputs < count.least || inputs > count.most) ? `an operator ${count.name} of ${inputs} inputs` : null;
  },

  /** Whether an operator takes no texts. */
  takesNumbersOnly(code) {
    return INPUT_COUNTS.get(code)?.takesTexts === false;
  },
});
