// Written by benchmarks/parity/demo_tables.py: change the tables of Python, and run it again.
import { many, numbers, one, OPTIONS, scalar, TEXT } from "./fields.js";

/** The inputs of operators by their number in `BuiltinOperator`. Kernels read the least unchecked. */
export const INPUT_COUNTS = new Map([
  [101, { name: "ABS", least: 1, most: 1, takesTexts: false }], [0, { name: "ADD", least: 2, most: 2, takesTexts: false }],
  [56, { name: "ARG_MAX", least: 2, most: 2, takesTexts: false }], [79, { name: "ARG_MIN", least: 2, most: 2, takesTexts: false }],
  [126, { name: "BATCH_MATMUL", least: 2, most: 2, takesTexts: false }],
  [130, { name: "BROADCAST_TO", least: 2, most: 2, takesTexts: true }], [53, { name: "CAST", least: 1, most: 1, takesTexts: false }],
  [3, { name: "CONV_2D", least: 2, most: 3, takesTexts: false }], [128, { name: "CUMSUM", least: 2, most: 2, takesTexts: false }],
  [4, { name: "DEPTHWISE_CONV_2D", least: 2, most: 3, takesTexts: false }],
  [6, { name: "DEQUANTIZE", least: 1, most: 1, takesTexts: false }], [42, { name: "DIV", least: 2, most: 2, takesTexts: false }],
  [7, { name: "EMBEDDING_LOOKUP", least: 2, most: 2, takesTexts: false }], [71, { name: "EQUAL", least: 2, most: 2, takesTexts: true }],
  [47, { name: "EXP", least: 1, most: 1, takesTexts: false }], [70, { name: "EXPAND_DIMS", least: 2, most: 2, takesTexts: true }],
  [94, { name: "FILL", least: 2, most: 2, takesTexts: true }], [9, { name: "FULLY_CONNECTED", least: 2, most: 3, takesTexts: false }],
  [36, { name: "GATHER", least: 2, most: 2, takesTexts: true }], [107, { name: "GATHER_ND", least: 2, most: 2, takesTexts: true }],
  [150, { name: "GELU", least: 1, most: 1, takesTexts: false }], [61, { name: "GREATER", least: 2, most: 2, takesTexts: false }],
  [62, { name: "GREATER_EQUAL", least: 2, most: 2, takesTexts: false }], [58, { name: "LESS", least: 2, most: 2, takesTexts: false }],
  [63, { name: "LESS_EQUAL", least: 2, most: 2, takesTexts: false }], [73, { name: "LOG", least: 1, most: 1, takesTexts: false }],
  [14, { name: "LOGISTIC", least: 1, most: 1, takesTexts: false }], [55, { name: "MAXIMUM", least: 2, most: 2, takesTexts: false }],
  [40, { name: "MEAN", least: 2, most: 2, takesTexts: false }], [57, { name: "MINIMUM", least: 2, most: 2, takesTexts: false }],
  [18, { name: "MUL", least: 2, most: 2, takesTexts: false }], [59, { name: "NEG", least: 1, most: 1, takesTexts: false }],
  [72, { name: "NOT_EQUAL", least: 2, most: 2, takesTexts: true }], [85, { name: "ONE_HOT", least: 4, most: 4, takesTexts: false }],
  [34, { name: "PAD", least: 2, most: 2, takesTexts: false }], [60, { name: "PADV2", least: 3, most: 3, takesTexts: false }],
  [78, { name: "POW", least: 2, most: 2, takesTexts: false }], [114, { name: "QUANTIZE", least: 1, most: 1, takesTexts: false }],
  [96, { name: "RANGE", least: 3, most: 3, takesTexts: false }], [82, { name: "REDUCE_MAX", least: 2, most: 2, takesTexts: false }],
  [89, { name: "REDUCE_MIN", least: 2, most: 2, takesTexts: false }], [19, { name: "RELU", least: 1, most: 1, takesTexts: false }],
  [21, { name: "RELU6", least: 1, most: 1, takesTexts: false }], [22, { name: "RESHAPE", least: 1, most: 2, takesTexts: true }],
  [76, { name: "RSQRT", least: 1, most: 1, takesTexts: false }], [123, { name: "SELECT_V2", least: 3, most: 3, takesTexts: true }],
  [77, { name: "SHAPE", least: 1, most: 1, takesTexts: true }], [65, { name: "SLICE", least: 3, most: 3, takesTexts: true }],
  [25, { name: "SOFTMAX", least: 1, most: 1, takesTexts: false }], [49, { name: "SPLIT", least: 2, most: 2, takesTexts: false }],
  [75, { name: "SQRT", least: 1, most: 1, takesTexts: false }], [92, { name: "SQUARE", least: 1, most: 1, takesTexts: false }],
  [99, { name: "SQUARED_DIFFERENCE", least: 2, most: 2, takesTexts: false }],
  [43, { name: "SQUEEZE", least: 1, most: 1, takesTexts: true }], [45, { name: "STRIDED_SLICE", least: 4, most: 5, takesTexts: true }],
  [41, { name: "SUB", least: 2, most: 2, takesTexts: false }], [74, { name: "SUM", least: 2, most: 2, takesTexts: false }],
  [28, { name: "TANH", least: 1, most: 1, takesTexts: false }], [69, { name: "TILE", least: 2, most: 2, takesTexts: true }],
  [48, { name: "TOPK_V2", least: 2, most: 2, takesTexts: false }], [39, { name: "TRANSPOSE", least: 2, most: 2, takesTexts: false }],
  [88, { name: "UNPACK", least: 1, most: 1, takesTexts: true }],
]);

/** Operators without inputs. */
export const NO_INPUTS = new Set([
  129, 136, 142,
]);

/** Operators without outputs. */
export const NO_OUTPUTS = new Set([
  129, 138, 144,
]);

/** Operators whose second input is read unchecked. */
export const TWO_INPUTS = new Set([
  9, 36, 126,
]);

/** The first input that may be missing, by operator. */
export const FIRST_OPTIONAL_INPUT = new Map([
  [9, 2], [3, 2], [4, 2], [132, 2], [67, 3], [27, 3], [16, 1], [44, 1], [52, 1], [46, 1],
]);

/** The bits of an element, by type. */
export const BITS = new Map([
  ["int2", 2], ["int4", 4], ["uint4", 4], ["int8", 8], ["uint8", 8], ["bool", 8], ["int16", 16], ["uint16", 16], ["float16", 16],
  ["bfloat16", 16], ["float32", 32], ["int32", 32], ["uint32", 32], ["float64", 64], ["int64", 64], ["uint64", 64], ["complex64", 64],
  ["complex128", 128],
]);

/** The smallest and the largest zero point, by type. */
export const ZERO_POINTS = new Map([
  ["int2", [-2, 1]], ["int4", [-8, 7]], ["uint4", [0, 15]], ["int8", [-128, 127]], ["uint8", [0, 255]], ["int16", [-32768, 32767]],
]);

/** Types whose elements have no size of their own. */
export const WITHOUT_SIZE = new Set([
  "resource", "string", "variant",
]);

/** Table -> slot of its vtable -> kind of the field, as in TFLite's schema.fbs. Others are numbers. */
export const LAYOUT = {
  "Model": {
    4: scalar(4), 6: many("OperatorCode"), 8: many("SubGraph"), 10: TEXT, 12: many("Buffer"), 14: numbers(4), 16: many("Metadata"),
    18: many("SignatureDef"),
  },
  "OperatorCode": {
    4: scalar(1), 6: TEXT, 8: scalar(4), 10: scalar(4),
  },
  "SubGraph": {
    4: many("Tensor"), 6: numbers(4), 8: numbers(4), 10: many("Operator"), 12: TEXT, 14: scalar(4),
  },
  "Tensor": {
    4: numbers(4), 6: scalar(1), 8: scalar(4), 10: TEXT, 12: one("QuantizationParameters"), 14: scalar(1), 16: one("SparsityParameters"),
    18: numbers(4), 20: scalar(1), 22: many("VariantSubType"), 24: scalar(4),
  },
  "QuantizationParameters": {
    4: numbers(4), 6: numbers(4), 8: numbers(4), 10: numbers(8), 12: scalar(1), 14: one("Details"), 16: scalar(4),
  },
  "Details": {
    4: scalar(4), 6: scalar(4), 8: scalar(4),
  },
  "SparsityParameters": {
    4: numbers(4), 6: numbers(4), 8: many("DimensionMetadata"),
  },
  "DimensionMetadata": {
    4: scalar(1), 6: scalar(4), 8: scalar(1), 10: one("SparseVector"), 12: scalar(1), 14: one("SparseVector"),
  },
  "SparseVector": {
    4: numbers(1),
  },
  "VariantSubType": {
    4: numbers(4), 6: scalar(1), 8: scalar(1),
  },
  "Operator": {
    4: scalar(4), 6: numbers(4), 8: numbers(4), 10: scalar(1), 12: OPTIONS, 14: numbers(1), 16: scalar(1), 18: numbers(1), 20: numbers(4),
    22: scalar(8), 24: scalar(8), 26: scalar(1), 28: OPTIONS, 30: scalar(4),
  },
  "ReshapeOptions": {
    4: numbers(4),
  },
  "SqueezeOptions": {
    4: numbers(4),
  },
  "Buffer": {
    4: numbers(1), 6: scalar(8), 8: scalar(8),
  },
  "Metadata": {
    4: TEXT, 6: scalar(4),
  },
  "SignatureDef": {
    4: many("TensorMap"), 6: many("TensorMap"), 8: TEXT, 12: scalar(4),
  },
  "TensorMap": {
    4: TEXT, 6: scalar(4),
  },
};

/** Tables of options by their number in `BuiltinOptions`. */
export const OPTIONS_WITH_VECTORS = new Map([
  [17, "ReshapeOptions"], [30, "SqueezeOptions"],
]);
