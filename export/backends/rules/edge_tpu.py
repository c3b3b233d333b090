"""The operators that the Edge TPU compiler maps, by its documentation: "TensorFlow models on the Edge TPU" on coral.ai.

The compiler is closed and frozen (version 16.0.384591198 of 2021), so this is a forecast and no proof.
"""

from collections.abc import Sequence

import numpy as np

from kerasbert.export.backends.rules.operator_rules import Call, Rule, RuleTable, fixed_shapes, rule
from kerasbert.export.tflite.op_versions import RUNTIME_VERSIONS, is_newer
from kerasbert.export.tflite.structure import Tensor

# The last compiler was built from a TensorFlow of its time; it does not know later versions of operators.
KNOWS_UNTIL = "2.5"
_INTEGERS = ("int8", "uint8")
_SOFTMAX_MOST = 16_000
_BATCH = 0


@rule("8-bit integers")
def _integers(call: Call) -> str | None:
    wrong = {tensor.dtype for tensor in (*call.computed, *call.outputs) if tensor.dtype not in _INTEGERS}
    return f"works on {', '.join(sorted(wrong))}" if wrong else None


@rule("three dimensions, or ones before them")
def _rank(call: Call) -> str | None:
    high = [tensor for tensor in (*call.computed, *call.outputs) if any(size > 1 for size in tensor.shape[:-3])]
    return f"{list(high[0].shape)} has more than three dimensions" if high else None


@rule(f"known to TensorFlow {KNOWS_UNTIL}")
def _version(call: Call) -> str | None:
    since = RUNTIME_VERSIONS.get((call.operator.name, call.operator.version))
    if since is None or is_newer(since, KNOWS_UNTIL):
        return f"version {call.operator.version} is newer than TensorFlow {KNOWS_UNTIL}"
    return None


def _constant(*places: int) -> Rule:
    @rule("constant weights")
    def violation(call: Call) -> str | None:
        weights = [call.input(place) for place in places]
        computed = any(tensor is not None and not tensor.constant for tensor in weights)
        return "weights that are computed" if computed else None

    return violation


@rule("no fused activation")
def _no_activation(call: Call) -> str | None:
    name = call.option("fused_activation_function", "NONE")
    return None if name == "NONE" else f"a fused {name}"


@rule("one dilation")
def _same_dilation(call: Call) -> str | None:
    return "two dilations" if call.option("dilation_w_factor", 1) != call.option("dilation_h_factor", 1) else None


def _one_dimension(end: str, tensors: Sequence[Tensor]) -> str | None:
    shape = tensors[0].shape
    return None if all(size == 1 for size in shape[:-1]) else f"an {end} {list(shape)}, not of one dimension"


@rule("plain weights, an output of one dimension")
def _dense(call: Call) -> str | None:
    if call.option("weights_format"):
        return "weights that are not stored plainly"
    return _one_dimension("output", call.outputs)


@rule(f"one dimension of at most {_SOFTMAX_MOST:,} elements")
def _softmax(call: Call) -> str | None:
    tensor = call.outputs[0]
    if tensor.elements > _SOFTMAX_MOST:
        return f"{tensor.elements:,} elements, more than {_SOFTMAX_MOST:,}"
    return _one_dimension("input", call.outputs)


def _axes(place: int) -> Rule:
    @rule("not over the batch; over channels a multiple of 4 of them")
    def violation(call: Call) -> str | None:
        axes = call.constant(place)
        if axes is None:
            return "axes that are computed"
        shape = call.required_input(0).shape
        axes = {int(axis) % len(shape) for axis in np.ravel(axes)}
        if _BATCH in axes and shape[_BATCH] > 1:
            return "over the batch"
        if len(shape) - 1 in axes and shape[-1] % 4:
            return f"{shape[-1]} channels, no multiple of 4"
        return None

    return violation


@rule("not of the batch")
def _padding(call: Call) -> str | None:
    paddings = call.constant(1)
    if paddings is None:
        return "padding that is computed"
    return "padding of the batch" if paddings[_BATCH].any() else None


@rule("strides of 1, no ellipsis and new axes")
def _strided(call: Call) -> str | None:
    strides = call.constant(3)
    if strides is None or (strides != 1).any():
        return "strides other than 1"
    masks = [name for name in ("ellipsis_mask", "new_axis_mask") if call.option(name)]
    return f"an {masks[0]}" if masks else None


@rule("no fused activation; with a constant two inputs")
def _concatenation(call: Call) -> str | None:
    if reason := _no_activation.violation(call):
        return reason
    if len(call.computed) < len(call.inputs) and len(call.inputs) != 2:
        return "a constant beside more than one tensor"
    return None


@rule("not along the batch")
def _off_batch(call: Call) -> str | None:
    return "along the batch" if call.option("axis") == _BATCH else None


@rule("not along the batch")
def _split(call: Call) -> str | None:
    axis = call.constant(0)
    return "along the batch" if axis is None or int(np.ravel(axis)[0]) == _BATCH else None


_CONVOLUTION = (_constant(1, 2), _same_dilation)
_PLAIN = (
    "ADD EXPAND_DIMS L2_NORMALIZATION LOGISTIC MAXIMUM MINIMUM MUL PRELU QUANTIZE RELU RELU6 RELU_N1_TO_1 RESHAPE RSQRT SLICE "
    "SPACE_TO_DEPTH SQUARED_DIFFERENCE SQUEEZE SUB TANH TRANSPOSE"
).split()

EDGE_TPU = RuleTable(
    "edge-tpu",
    "coral.ai, TensorFlow models on the Edge TPU, runtime 14",
    (_integers, fixed_shapes, _rank, _version),
    {
        **{name: () for name in _PLAIN},
        "AVERAGE_POOL_2D": (_no_activation,),
        "CONCATENATION": (_concatenation,),
        "CONV_2D": _CONVOLUTION,
        "DEPTHWISE_CONV_2D": _CONVOLUTION,
        "FULLY_CONNECTED": (_constant(1, 2), _dense),
        "MAX_POOL_2D": (_no_activation,),
        "MEAN": (_axes(1),),
        "PACK": (_off_batch,),
        "PAD": (_padding,),
        "REDUCE_MAX": (_axes(1),),
        "REDUCE_MIN": (_axes(1),),
        "SOFTMAX": (_softmax,),
        "SPLIT": (_split,),
        "STRIDED_SLICE": (_strided,),
        "SUM": (_axes(1),),
        "TRANSPOSE_CONV": (_constant(1),),
    },
)
