"""Keeps embedding tables of an fp16 model in fp32, because GPU delegates cannot gather from fp16."""

import numpy as np

from kerasbert.export.passes.context import PassContext
from kerasbert.export.tflite.graph_editor import GraphEditor
from kerasbert.export.tflite.model import Model, schema


def keep_embeddings_fp32(model: Model, context: PassContext) -> None:
    """Store the tables of GATHER operators in float32, with the values of float16.

        before:  table (float16) -> DEQUANTIZE -> float32 -> GATHER
        after:   table (float32)                          -> GATHER

    The converter stores a table in float16 and dequantizes it before a GATHER. A GPU would gather in 16 bits and declare 32.
    """
    if context.recipe.name != "float16":
        return
    with GraphEditor(model) as graph:
        for operator in filter(None, {graph.producer(gather.inputs[0]) for gather in graph.operators("GATHER")}):
            if operator.kind == "DEQUANTIZE":
                (stored,), (table,) = (map(graph.tensor, side) for side in (operator.inputs, operator.outputs))
                values = graph.constant(operator.inputs[0]).astype(np.float32)
                stored.type = table.type = schema().TensorType.FLOAT32  # the first is unused, but both share the buffer
                table.buffer = stored.buffer
                model.buffers[stored.buffer].data = values.view(np.uint8).ravel()
                graph.replace(operator)
