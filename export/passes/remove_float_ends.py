"""Gives a model inputs and outputs in 8 bits."""

from kerasbert.export.passes.context import PassContext
from kerasbert.export.tflite.graph_editor import GraphEditor
from kerasbert.export.tflite.model import Model


def remove_float_ends(model: Model, context: PassContext) -> None:
    """Remove the QUANTIZE operators of float inputs and the DEQUANTIZE operators of float outputs.

    before:  float -> QUANTIZE -> int8 -> ... -> int8 -> DEQUANTIZE -> float
    after:                        int8 -> ... -> int8
    """
    (signature,) = model.signatureDefs
    with GraphEditor(model) as graph:
        for operator in graph.operators("QUANTIZE", "DEQUANTIZE"):
            source, output = operator.inputs[0], operator.outputs[0]
            if operator.kind == "QUANTIZE" and source in graph.inputs:
                graph.replace(operator)
                graph.replace_input(source, output)
            elif operator.kind == "DEQUANTIZE" and output in graph.outputs:
                graph.replace_uses(output, source)
        for port in (*signature.inputs, *signature.outputs):
            graph.tensor(port.tensorIndex).name = port.name  # a compiler may drop the signature and keep these names
