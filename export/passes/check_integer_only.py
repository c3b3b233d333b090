"""Refuses integer-only models with float operators."""

from kerasbert.errors import KerasBertError
from kerasbert.export.passes.context import PassContext
from kerasbert.export.tflite.graph_editor import GraphEditor
from kerasbert.export.tflite.model import Model


def check_integer_only(model: Model, context: PassContext) -> None:
    """Check that every operator computes in integers, except the last ones, which dequantize the outputs.

        before:  int8 -> FULLY_CONNECTED -> int8 -> DEQUANTIZE -> float output
        after:   the same; a SOFTMAX of float32 in between is an error

    Raises:
        KerasBertError: when an operator reads or writes float32; it names the kinds.
    """
    graph, float_kinds = GraphEditor(model), []
    for operator in graph.operators():
        is_last = operator.kind == "DEQUANTIZE" and all(tensor in graph.outputs for tensor in operator.outputs)
        tensors = operator.inputs if is_last else [*operator.inputs, *operator.outputs]
        if any(graph.has_type(tensor, "FLOAT32") for tensor in tensors if tensor >= 0):
            float_kinds.append(operator.kind)
    if float_kinds:
        raise KerasBertError(
            f"expected an integer-only file with every operator in 8 bits, received {len(float_kinds)} that stay in float: "
            f"{', '.join(sorted(set(float_kinds)))}; convert without integer_only"
        )
