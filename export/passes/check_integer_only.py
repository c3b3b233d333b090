"""Refuses integer-only models with float operators."""

from kerasbert.errors import KerasBertError
from kerasbert.export.passes.context import PassContext
from kerasbert.export.tflite.model import Model, operator_kinds, schema


def check_integer_only(model: Model, context: PassContext) -> None:
    """Check that every operator computes in integers. A pass, see `check_integer_operators`."""
    check_integer_operators(model)


def check_integer_operators(model: Model) -> None:
    """Check that every operator computes in integers, except the last ones, which dequantize the outputs.

    Raises:
        KerasBertError: when an operator reads or writes float32; it names the kinds.
    """
    float_type = schema().TensorType.FLOAT32
    graph, kinds = model.subgraphs[0], operator_kinds(model)
    float_kinds = []
    for operator in graph.operators:
        kind = kinds[operator.opcodeIndex]
        is_last = kind == "DEQUANTIZE" and all(tensor in graph.outputs for tensor in operator.outputs)
        tensors = operator.inputs if is_last else [*operator.inputs, *operator.outputs]
        if any(graph.tensors[tensor].type == float_type for tensor in tensors if tensor >= 0):
            float_kinds.append(kind)
    if float_kinds:
        raise KerasBertError(
            f"expected an integer-only file with every operator in 8 bits, received {len(float_kinds)} that stay in float: "
            f"{', '.join(sorted(set(float_kinds)))}; convert without integer_only"
        )
