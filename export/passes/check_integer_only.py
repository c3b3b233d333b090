"""Refuses integer-only models with operators in float."""

from kerasbert.errors import KerasBertError
from kerasbert.export.passes.context import PassContext
from kerasbert.export.tflite.model import Model, operator_kinds


def check_integer_only(model: Model, context: PassContext) -> None:
    """Raises KerasBertError when something would still be computed in float."""
    if left := float_operators(model):
        raise KerasBertError(
            f"expected every operator of an integer file in 8 bits, {len(left)} stay in float: {', '.join(sorted(set(left)))}. "
            "Convert without integer_only"
        )


def float_operators(model: Model) -> list[str]:
    """The kinds of operators that read or write float, other than the last ones, which give the outputs."""
    from ai_edge_litert.schema_py_generated import TensorType

    graph, kinds = model.subgraphs[0], operator_kinds(model)
    found = []
    for operator in graph.operators:
        kind = kinds[operator.opcodeIndex]
        last = kind == "DEQUANTIZE" and all(tensor in graph.outputs for tensor in operator.outputs)
        tensors = operator.inputs if last else [*operator.inputs, *operator.outputs]
        if any(graph.tensors[tensor].type == TensorType.FLOAT32 for tensor in tensors if tensor >= 0):
            found.append(kind)
    return found
