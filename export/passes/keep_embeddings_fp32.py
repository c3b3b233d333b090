"""Keeps embedding tables of an fp16 model in fp32, because GPU delegates cannot gather from fp16."""

import numpy as np

from kerasbert.export.passes.context import PassContext
from kerasbert.export.tflite.model import Model, operator_kinds, schema


def keep_embeddings_fp32(model: Model, context: PassContext) -> None:
    """Store the tables of GATHER operators in float32, with the values of float16.

    The converter stores a table in float16 and dequantizes it before a GATHER. A GPU would gather in 16 bits and declare 32.
    """
    if context.recipe.name != "float16":
        return
    (graph,), kinds = model.subgraphs, operator_kinds(model)
    tables = {op.inputs[0] for op in graph.operators if kinds[op.opcodeIndex] == "GATHER"}
    operators = []
    for operator in graph.operators:
        if kinds[operator.opcodeIndex] != "DEQUANTIZE" or operator.outputs[0] not in tables:
            operators.append(operator)
            continue
        stored, table = graph.tensors[operator.inputs[0]], graph.tensors[operator.outputs[0]]
        half = np.ascontiguousarray(model.buffers[stored.buffer].data, np.uint8).view(np.float16)
        table.type, table.buffer = schema().TensorType.FLOAT32, stored.buffer
        model.buffers[stored.buffer].data = half.astype(np.float32).view(np.uint8)
        stored.type = schema().TensorType.FLOAT32  # unused from now on, but both share the buffer
    graph.operators = operators
