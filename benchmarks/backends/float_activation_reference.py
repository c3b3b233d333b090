"""A `.tflite` as a GPU computes it: denses that quantize their input at run time on a CPU compute with it in floats."""

import numpy as np

from kerasbert.export.tflite.model import decode, encode, operator_kinds


def float_denses(model: bytes) -> bytes:
    """The same file, in which every dense with floats in and a kernel of 8 bits has that kernel widened to float32. Without a card."""
    from ai_edge_litert import schema_py_generated as schema

    content = decode(model)
    graph, kinds = content.subgraphs[0], operator_kinds(content)
    for operator in graph.operators:
        if kinds[operator.opcodeIndex] != "FULLY_CONNECTED":
            continue
        source, kernel = (graph.tensors[tensor] for tensor in operator.inputs[:2])
        if source.type != schema.TensorType.FLOAT32:
            continue
        if kernel.type == schema.TensorType.INT8:  # a kernel that several calls share is widened once
            steps = np.asarray(kernel.quantization.scale, np.float32)
            stored = np.ascontiguousarray(content.buffers[kernel.buffer].data, np.uint8).view(np.int8)
            buffer = schema.BufferT()
            buffer.data = (stored.reshape(kernel.shape) * steps[:, None]).astype(np.float32).view(np.uint8).ravel()
            content.buffers.append(buffer)
            kernel.type, kernel.buffer, kernel.quantization = schema.TensorType.FLOAT32, len(content.buffers) - 1, None
        operator.builtinOptions.asymmetricQuantizeInputs = False
    return encode(content)
