"""Embedding tables in fp32 in an fp16 model: GPU delegates cannot gather from fp16."""

import numpy as np

from kerasbert.export.passes.context import PassContext
from kerasbert.export.tflite.model import Model, operator_kinds


def keep_embeddings_fp32(model: Model, context: PassContext) -> None:
    """Stores the tables of look-ups in float32, with values that float16 holds.

    The converter stores a table in float16 and widens it whole before a GATHER; a GPU would gather in 16 bits and say that it gives 32.
    """
    if context.recipe.name != "float16":
        return
    from ai_edge_litert.schema_py_generated import TensorType

    (graph,), kinds = model.subgraphs, operator_kinds(model)
    looked_up = {op.inputs[0] for op in graph.operators if kinds[op.opcodeIndex] == "GATHER"}
    kept = []
    for operator in graph.operators:
        table = operator.outputs[0]
        if kinds[operator.opcodeIndex] != "DEQUANTIZE" or table not in looked_up:
            kept.append(operator)
            continue
        stored, widened = graph.tensors[operator.inputs[0]], graph.tensors[table]
        half = np.ascontiguousarray(model.buffers[stored.buffer].data, np.uint8).view(np.float16)
        widened.type, widened.buffer = TensorType.FLOAT32, stored.buffer
        model.buffers[stored.buffer].data = half.astype(np.float32).view(np.uint8)
        stored.type = TensorType.FLOAT32  # nothing reads it any more, and both share the buffer
    graph.operators = kept
