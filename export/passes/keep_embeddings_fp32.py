"""A float16 file for those who look words up in float32 tables only: GPU delegates."""

import numpy as np

from kerasbert.export.tflite.model import operator_kinds


def single_tables(content) -> None:
    """Stores the tables of look-ups of an unpacked file in float32. What they hold stays what float16 can hold.

    The converter stores a table in float16 and widens it whole before a GATHER; a GPU would gather in 16 bits and say that it gives 32.
    """
    from ai_edge_litert.schema_py_generated import TensorType

    (graph,), kinds = content.subgraphs, operator_kinds(content)
    looked_up = {op.inputs[0] for op in graph.operators if kinds[op.opcodeIndex] == "GATHER"}
    kept = []
    for operator in graph.operators:
        table = operator.outputs[0]
        if kinds[operator.opcodeIndex] != "DEQUANTIZE" or table not in looked_up:
            kept.append(operator)
            continue
        stored, widened = graph.tensors[operator.inputs[0]], graph.tensors[table]
        half = np.ascontiguousarray(content.buffers[stored.buffer].data, np.uint8).view(np.float16)
        widened.type, widened.buffer = TensorType.FLOAT32, stored.buffer
        content.buffers[stored.buffer].data = half.astype(np.float32).view(np.uint8)
        stored.type = TensorType.FLOAT32  # nothing reads it any more, and both share the buffer
    graph.operators = kept
