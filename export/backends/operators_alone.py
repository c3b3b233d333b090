"""The int8 operators of a file by themselves: their results can be compared bit for bit, while a whole model rounds floats."""

import copy
from dataclasses import dataclass

import numpy as np

from kerasbert.export.passes.dead_code import eliminate_dead_code
from kerasbert.export.tflite.model import decode, encode, operator_kinds, signature_end

_DENSE_KINDS = ("FULLY_CONNECTED", "CONV_2D")


@dataclass(frozen=True)
class OperatorsAlone:
    """A file whose graph has some operators side by side.

    Attributes:
        content: The file's bytes.
        inputs: The shape of each operator's int8 input, by its name.
    """

    content: bytes
    inputs: dict[str, tuple[int, ...]]


def extract_integer_dense(model: bytes) -> OperatorsAlone | None:
    """Extract the Dense layers of the first graph that read and write int8 with a batch of 1.

    Returns:
        A file of these operators; None where there are none.
    """
    from ai_edge_litert import schema_py_generated as schema

    content = decode(model)
    graph, kinds = content.subgraphs[0], operator_kinds(content)
    inputs, outputs, shapes, chosen = [], [], {}, []
    for operator in graph.operators:
        source, target = graph.tensors[operator.inputs[0]], graph.tensors[operator.outputs[0]]
        integer = source.type == target.type == schema.TensorType.INT8
        if (
            kinds[operator.opcodeIndex] not in _DENSE_KINDS
            or not integer
            or source.shape[0] != 1
            or len(source.shape) < 2
        ):
            continue
        number = len(chosen)
        fed = copy.copy(source)  # a tensor of its own, since another chosen operator may write the source
        fed.name, fed.buffer = f"input_{number}".encode(), 0
        graph.tensors.append(fed)
        operator.inputs = np.array([len(graph.tensors) - 1, *operator.inputs[1:]], np.int32)
        chosen.append(operator)
        inputs.append(signature_end(f"input_{number}", operator.inputs[0]))
        outputs.append(signature_end(f"output_{number}", operator.outputs[0]))
        shapes[f"input_{number}"] = tuple(map(int, source.shape))
    if not chosen:
        return None
    signature = content.signatureDefs[0]
    signature.signatureKey, signature.inputs, signature.outputs, signature.subgraphIndex = b"serve", inputs, outputs, 0
    content.signatureDefs, content.subgraphs, content.metadata = [signature], [graph], None
    graph.operators = chosen
    graph.inputs, graph.outputs = ([end.tensorIndex for end in side] for side in (inputs, outputs))
    eliminate_dead_code(content)
    return OperatorsAlone(encode(content), shapes)
