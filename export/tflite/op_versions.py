"""The oldest runtime that supports each operator version.

The table follows TensorFlow's `tensorflow/compiler/mlir/lite/tools/versioning/runtime_version.cc`, for operators of text models. Each line
names an operator, then the runtime that introduced its version 1, 2, 3, ...; `-` marks a version that was never released. The numbers are
TensorFlow's own. TFLite runtimes up to 2.17 share them.
"""

import re

from kerasbert.errors import KerasBertError

_HISTORY = """
ABS 1.13 2.4 2.5 2.6 2.12
ADD 1.5 1.14 2.4 2.6 2.13 2.23
ADD_N 1.14
ARG_MAX 1.9 1.14 2.9
ARG_MIN 1.9 1.14 2.9
AVERAGE_POOL_2D 1.5 1.14 2.3
BATCH_MATMUL 2.3 2.3 2.4 2.5
BROADCAST_ARGS 2.6
BROADCAST_TO - 2.5 2.5
CALL_ONCE 2.5
CAST 1.5 2.7 2.8 2.9 2.12 2.15 2.17 2.21
CEIL 1.14
CONCATENATION 1.5 1.14 2.3 2.14 2.21
CONV_2D 1.5 1.14 1.14 2.3 2.4 2.9 2.11 2.15
COS 1.14
CUMSUM 2.4
DENSIFY 2.2
DEPTHWISE_CONV_2D 1.5 1.12 1.14 2.2 2.3 2.3 2.11
DEQUANTIZE 1.13.1 1.14 1.15 2.2 2.7 2.18 2.21 2.22
DIV 1.6 2.3
DYNAMIC_UPDATE_SLICE 2.9 2.17 2.19 2.20 2.21 2.22
ELU 1.14
EMBEDDING_LOOKUP 1.13 1.14 1.14 2.18 2.21
EQUAL 1.14 1.14 2.3 2.13 2.21
EXP 1.7 2.12
EXPAND_DIMS 1.10
FAKE_QUANT 1.5 1.10
FILL 1.13 2.3 2.5 2.12
FLOOR 1.9
FLOOR_DIV 1.14 1.14 2.13
FLOOR_MOD 1.13 2.13
FULLY_CONNECTED 1.5 1.10 1.14 1.14 2.0 2.1 2.3 2.3 2.3 2.11 2.15 2.17 2.18 2.21
GATHER 1.6 1.14 1.15 2.4 2.5 2.13 2.15
GATHER_ND 1.14 2.3 2.5 2.13 2.16
GELU 2.9 2.9
GREATER 1.14 1.14
GREATER_EQUAL 1.14 1.14 2.13
HARD_SWISH 1.15
HASHTABLE 2.5
HASHTABLE_FIND 2.5
HASHTABLE_IMPORT 2.5
HASHTABLE_SIZE 2.5
IF 1.15
L2_NORMALIZATION 1.5 1.14
LEAKY_RELU 1.13.1 2.3
LESS 1.14 1.14 2.13
LESS_EQUAL 1.14 1.14
LOG 1.14 2.15
LOGICAL_AND 1.11
LOGICAL_NOT 1.11
LOGICAL_OR 1.11
LOGISTIC 1.14 1.14 2.3
LOG_SOFTMAX 1.14 1.14
MAXIMUM 1.14 1.14 2.3 2.3
MEAN 1.6 1.14 2.4
MINIMUM 1.14 1.14 2.3 2.3
MUL 1.5 1.14 1.15 2.3 2.6 2.11 2.13 2.23
NEG 1.9
NOT_EQUAL 1.14 1.14 2.3 2.21
ONE_HOT 1.11
PACK 1.11 1.14 2.3 2.13
PAD 1.5 1.14 2.4 2.6 2.20
PADV2 1.9 1.14 2.4 2.6 2.20
POW 1.10
PRELU 1.8
QUANTIZE 1.14 1.15 2.7 2.21 2.21 2.21
RANGE 1.13 2.14
RANK 1.14
REDUCE_ALL 2.6
REDUCE_ANY 1.11
REDUCE_MAX 1.11 1.14 2.5
REDUCE_MIN 1.11 1.14 2.5
REDUCE_PROD 1.11 2.6
RELU 1.5 2.1 2.5
RELU6 1.5 1.14 2.5
RELU_0_TO_1 2.10
RELU_N1_TO_1 1.5
RESHAPE 1.5
REVERSE_V2 1.14 2.2 2.5
ROUND 1.14
RSQRT 1.10 2.5 2.15
SCATTER_ND 2.1
SEGMENT_SUM 2.2
SELECT 1.14 1.14 2.12 2.12
SELECT_V2 2.2 2.12
SHAPE 1.10
SIGN 2.11 2.12
SIN 1.9
SLICE 1.14 1.14 1.14 2.4 2.5 2.14 2.21
SOFTMAX 1.5 1.14 2.3
SPARSE_TO_DENSE 1.9 1.14 1.15
SPLIT 1.5 1.14 1.14 2.3
SPLIT_V 1.13.1 2.3
SQRT 1.10 2.21
SQUARE 1.12
SQUARED_DIFFERENCE 1.13.1 2.5
SQUEEZE 1.6 2.5
STABLEHLO_COMPOSITE 2.17
STRIDED_SLICE 1.6 1.14 2.1 2.2 2.5 2.6 2.14 2.14
SUB 1.6 1.14 2.3 2.4 2.4
SUM 1.10 1.15
TANH 1.14 1.14 2.3
TILE 1.10.1 2.2 2.8
TOPK_V2 1.7 1.14 2.13
TRANSPOSE 1.6 1.14 1.15 2.3 2.4 2.12 2.14.4 2.22
UNIQUE 1.14
UNPACK 1.11 1.14 2.2 2.3 2.22
UNSORTED_SEGMENT_MAX 2.10
UNSORTED_SEGMENT_SUM 2.10
WHERE 1.14 2.8
WHILE 1.15
ZEROS_LIKE 1.12
"""

RUNTIME_VERSIONS: dict[tuple[str, int], str] = {
    (name, number): runtime
    for name, *runtimes in (line.split() for line in _HISTORY.strip().splitlines())
    for number, runtime in enumerate(runtimes, start=1)
    if runtime != "-"
}


def minimum_runtime(operators: set[tuple[str, int]]) -> str:
    """Return the oldest runtime that supports every (builtin name, version), or `unknown (OP vN)` for one that the table lacks."""
    unknown = sorted(f"{name} v{version}" for name, version in operators if (name, version) not in RUNTIME_VERSIONS)
    if unknown:
        return f"unknown ({', '.join(unknown)})"
    return max((RUNTIME_VERSIONS[operator] for operator in operators), key=_numbers, default="1.5")


def check_version(text: str) -> None:
    """Check that a text is a runtime version, such as 2.9.

    Raises:
        KerasBertError: when it is not.
    """
    if not re.fullmatch(r"\d+\.\d+(\.\d+)?", text):
        raise KerasBertError(f"expected a runtime version such as 2.9, received {text!r}; leave it out for the newest")


def is_newer(version: str, than: str) -> bool:
    """Return whether one runtime version came after another."""
    return _numbers(version) > _numbers(than)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
