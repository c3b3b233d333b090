"""The operators that the OpenCL and OpenGL delegate of TFLite parses, by the stricter of its documentation and its source.

Source: `tflite/delegates/gpu/common/model_builder.cc` and `tflite/tools/versioning/gpu_compatibility.cc` of LiteRT, and "GPU delegates for
LiteRT". The newer LiteRT accelerator has other limits, see `rules.gpu`.
"""

from kerasbert.export.backends.rules.operator_rules import (
    Call,
    OperatorVerdict,
    Rule,
    RuleTable,
    fixed_shapes,
    no_tensor_twice,
    operator_verdicts,
    rule,
)
from kerasbert.export.tflite.model_file import ModelFile

_FLOATS = ("float32", "float16", "int8", "uint8")  # the quantized ones are computed in float
_INDICES = {"GATHER": 1, "ONE_HOT": 0, "CAST": 0, "EMBEDDING_LOOKUP": 0}  # operator -> the input that may be int32
_BOOLEANS = (
    "CAST",
    "SELECT",
    "SELECT_V2",
    "LOGICAL_AND",
    "EQUAL",
    "NOT_EQUAL",
    "GREATER",
    "GREATER_EQUAL",
    "LESS",
    "LESS_EQUAL",
)
_HIGHEST_RANK = 4
_DENSE_VERSION = 9


@rule("floats, or 8-bit integers computed as floats; int32 as indices only")
def _types(call: Call) -> str | None:
    name = call.operator.name
    for number, tensor in enumerate(call.inputs):
        if tensor is None or tensor.constant or tensor.dtype in _FLOATS:
            continue
        if tensor.dtype == "int32" and _INDICES.get(name) == number:
            continue
        if tensor.dtype == "bool" and name in _BOOLEANS:
            continue
        return f"works on {tensor.dtype}"
    wrong = [tensor.dtype for tensor in call.outputs if tensor.dtype not in _FLOATS]
    if wrong and not (wrong[0] == "bool" and name in _BOOLEANS):
        return f"gives {wrong[0]}"
    return None


@rule("at most four dimensions")
def _rank(call: Call) -> str | None:
    high = [tensor for tensor in (*call.computed, *call.outputs) if len(tensor.shape) > _HIGHEST_RANK]
    return f"a tensor of rank {len(high[0].shape)}" if high else None


def _at_most(version: int) -> Rule:
    @rule(f"version {version} at most")
    def violation(call: Call) -> str | None:
        return f"version {call.operator.version}, above {version}" if call.operator.version > version else None

    return violation


@rule("shapes of one rank, or a few of other ranks")
def _broadcast(call: Call) -> str | None:
    """Refuse shapes of two computed tensors that cannot be combined."""
    shapes = [tensor.shape for tensor in call.inputs if tensor is not None]
    if len(shapes) != 2 or len(call.computed) < 2 or shapes[0] == shapes[1]:
        return None
    one, other = sorted(shapes, key=len)
    if len(one) == len(other):
        fits = all(a == b or 1 in (a, b) for a, b in zip(one, other, strict=True))
    elif len(other) == 4 and len(one) == 3:
        fits = one[0] == 1
    elif len(other) == 4 and len(one) == 2:
        fits = one == (1, 1) or one == (other[0], other[3])
    else:
        fits = not one or one == (1,)
    return None if fits else f"broadcasting of {list(shapes[0])} and {list(shapes[1])}"


@rule("float tables, indices of one dimension")
def _gather(call: Call) -> str | None:
    indices, table = call.required_input(1), call.required_input(0)
    if len(indices.shape) != 1:
        return f"indices of rank {len(indices.shape)}, not 1"
    if table.dtype not in ("float32", "float16"):
        return f"a table of {table.dtype}"
    return None


@rule("a constant matrix of two dimensions")
def _matrices(call: Call) -> str | None:
    second = call.required_input(1)
    if second.constant and len(second.shape) != 2:
        return f"a constant matrix of rank {len(second.shape)}, not 2"
    return None


@rule("plain weights, at most two computed tensors")
def _dense(call: Call) -> str | None:
    if call.option("weights_format"):
        return "weights that are not stored plainly"
    if len(call.computed) > 2:
        return f"{len(call.computed)} tensors known at run time only, more than 2"
    if call.option("keep_num_dims") and len(call.required_input(0).shape) != len(call.outputs[0].shape):
        return "another rank behind it than before it"
    return None


@rule("three or four dimensions, no axis dropped or added")
def _strided(call: Call) -> str | None:
    masks = [name for name in ("shrink_axis_mask", "new_axis_mask", "ellipsis_mask") if call.option(name)]
    if masks:
        return f"a {masks[0]}"
    rank = len(call.required_input(0).shape)
    return None if rank in (3, 4) else f"a tensor of rank {rank}, not 3 or 4"


@rule("a beta of 1")
def _softmax(call: Call) -> str | None:
    return None if call.option("beta", 1.0) == 1.0 else "a beta other than 1"


@rule("constant axes")
def _axes(call: Call) -> str | None:
    return None if call.constant(1) is not None else "axes that are computed"


@rule("no 64-bit numbers")
def _cast(call: Call) -> str | None:
    types = {call.required_input(0).dtype, call.outputs[0].dtype}
    return "64-bit numbers" if "int64" in types or "float64" in types else None


@rule("no 16-bit integers")
def _dequantize(call: Call) -> str | None:
    return "16-bit integers" if call.required_input(0).dtype == "int16" else None


_PLAIN = (
    "ABS ADD_N AVERAGE_POOL_2D CONCATENATION CONV_2D COS CUMSUM DENSIFY DEPTH_TO_SPACE DEPTHWISE_CONV_2D ELU EXP FLOOR GELU HARD_SWISH "
    "LEAKY_RELU LOG LOGISTIC LSTM MAX_POOL_2D MIRROR_PAD NEG ONE_HOT PACK PAD PADV2 PRELU QUANTIZE RELU RELU6 RELU_0_TO_1 RELU_N1_TO_1 "
    "RESHAPE RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR RSQRT SELECT SELECT_V2 SIGN SIN SLICE SPACE_TO_DEPTH SPLIT SPLIT_V SQRT SQUARE TANH "
    "TILE TRANSPOSE TRANSPOSE_CONV UNPACK"
).split()
_TWO_SIDED = (
    "ADD DIV EQUAL FLOOR_DIV FLOOR_MOD GREATER GREATER_EQUAL LESS LESS_EQUAL LOGICAL_AND MAXIMUM MINIMUM MUL NOT_EQUAL POW "
    "SQUARED_DIFFERENCE SUB"
).split()
_REDUCING = ("MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM")

GPU_OPENCL = RuleTable(
    "gpu-opencl",
    "LiteRT, tflite/delegates/gpu/common/model_builder.cc and tflite/tools/versioning/gpu_compatibility.cc",
    (_types, _rank, fixed_shapes, no_tensor_twice),
    {
        **{name: () for name in _PLAIN},
        **{name: (_broadcast,) for name in _TWO_SIDED},
        **{name: (_axes,) for name in _REDUCING},
        "BATCH_MATMUL": (_matrices,),
        "CAST": (_cast,),
        "DEQUANTIZE": (_dequantize,),
        "FULLY_CONNECTED": (_at_most(_DENSE_VERSION), _dense),
        "GATHER": (_at_most(1), _gather),
        "SOFTMAX": (_softmax,),
        "STRIDED_SLICE": (_strided,),
    },
)


def forecast(file: ModelFile) -> tuple[OperatorVerdict, ...]:
    """Tell by the rules which calls of a file the delegate takes."""
    return operator_verdicts(file, GPU_OPENCL)
