"""The int8 operators of a file by themselves: their results can be compared bit for bit, while a whole model rounds floats."""

from dataclasses import dataclass

from kerasbert.export.tflite.graph_editor import GraphEditor
from kerasbert.export.tflite.model import decode, encode, signature_end

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
    content = decode(model)
    graph, inputs, outputs, shapes = GraphEditor(content), [], [], {}
    for operator in graph.operators():
        source, target = graph.tensor(operator.inputs[0]), operator.outputs[0]
        integer = graph.has_type(operator.inputs[0], "INT8") and graph.has_type(target, "INT8")
        if operator.kind not in _DENSE_KINDS or not integer or source.shape[0] != 1 or len(source.shape) < 2:
            graph.replace(operator)
            continue
        number = len(shapes)
        # A tensor of its own, since another chosen operator may write the source.
        fed = graph.add_tensor(operator.inputs[0], f"input_{number}")
        operator.inputs = [fed, *operator.inputs[1:]]
        inputs.append(signature_end(f"input_{number}", fed))
        outputs.append(signature_end(f"output_{number}", target))
        shapes[f"input_{number}"] = tuple(map(int, source.shape))
    if not shapes:
        return None
    signature = content.signatureDefs[0]
    signature.signatureKey, signature.inputs, signature.outputs, signature.subgraphIndex = b"serve", inputs, outputs, 0
    content.signatureDefs, content.subgraphs, content.metadata = [signature], [graph.graph], None
    graph.graph.inputs, graph.graph.outputs = ([end.tensorIndex for end in side] for side in (inputs, outputs))
    graph.apply()
    graph.compact()
    return OperatorsAlone(encode(content), shapes)
