"""The operators that LiteRT's GPU accelerator was seen to support: a forecast where `backends.gpu` cannot run it.

Source: our files and others made to fail, on LiteRT 2.3.0's accelerator (`libLiteRtWebGpuAccelerator`) and SwiftShader. It publishes no
list; operators that were never tried are reported as such.
"""

from kerasbert.export.backends.rules.operator_rules import (
    Call,
    OperatorVerdict,
    RuleTable,
    fixed_shapes,
    no_tensor_twice,
    operator_verdicts,
    rule,
)
from kerasbert.export.tflite.model_file import ModelFile


@rule("tables (1, rows, H) of another type than float16, indices of one dimension")
def _gather(call: Call) -> str | None:
    indices, table = call.required_input(1), call.required_input(0)
    if len(indices.shape) != 1:
        return f"indices of rank {len(indices.shape)}, not 1"
    if call.operator.inputs[0] in call.widened or table.dtype == "float16":
        return "a table of 16 bits"
    if len(table.shape) == 2:
        return "rows of a table of two dimensions become a batch, and a constant that is added to them is wrong"
    return None


@rule("no 16-bit integers")
def _no_int16(call: Call) -> str | None:
    return "16-bit integers" if any(tensor and tensor.dtype == "int16" for tensor in call.inputs) else None


@rule("no 8-bit kernel that a DEQUANTIZE widens")
def _dense(call: Call) -> str | None:
    """Refuse Dense layers over which the accelerator does not start at all."""
    kernel = call.operator.inputs[1]
    if kernel not in call.widened:
        return None
    sources = {
        operator.outputs[0]: operator.inputs[0] for operator in call.graph.operators if kernel in operator.outputs
    }
    source = call.graph.tensors[sources[kernel]]
    return f"a kernel of {source.dtype} that a DEQUANTIZE widens" if source.dtype in ("int8", "uint8") else None


@rule("no axis dropped")
def _strided(call: Call) -> str | None:
    return "a shrink_axis_mask" if call.option("shrink_axis_mask") else None


@rule("not taken")
def _never(call: Call) -> str | None:
    return "not taken"


_PLAIN = (
    "ABS ADD BATCH_MATMUL CAST CONCATENATION DEQUANTIZE DIV GELU MAXIMUM MEAN MINIMUM MUL PAD QUANTIZE REDUCE_MAX RESHAPE RSQRT SOFTMAX "
    "SPLIT SQUARE SQUARED_DIFFERENCE SUB SUM TANH TRANSPOSE"
).split()

LITERT_GPU = RuleTable(
    "gpu",
    "LiteRT 2.3.0's accelerator on SwiftShader",
    (fixed_shapes, no_tensor_twice, _no_int16),
    {
        **{name: () for name in _PLAIN},
        **{name: (_never,) for name in ("GATHER_ND", "L2_NORMALIZATION")},
        "FULLY_CONNECTED": (_dense,),
        "GATHER": (_gather,),
        "STRIDED_SLICE": (_strided,),
    },
    unknown="not tried",
)


def forecast(file: ModelFile) -> tuple[OperatorVerdict, ...]:
    """Predict which calls of a file the accelerator takes."""
    return operator_verdicts(file, LITERT_GPU)
