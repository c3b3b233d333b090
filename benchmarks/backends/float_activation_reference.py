"""A CPU reference of GPU arithmetic: dynamically quantized Dense layers of a `.tflite` file with float activations."""

import numpy as np

from kerasbert.export.tflite.model import decode, encode, operator_kinds


def with_float_activations(model: bytes) -> bytes:
    """Dequantize the int8 kernels of all Dense layers that have float inputs.

    A CPU quantizes the input of such a layer at run time; a GPU keeps it in float.

    Returns:
        The FlatBuffer without model metadata.
    """
    from ai_edge_litert import schema_py_generated as schema

    content = decode(model)
    graph, kinds = content.subgraphs[0], operator_kinds(content)
    for operator in graph.operators:
        if kinds[operator.opcodeIndex] != "FULLY_CONNECTED":
            continue
        source, kernel = (graph.tensors[tensor] for tensor in operator.inputs[:2])
        if source.type != schema.TensorType.FLOAT32:
            continue
        if kernel.type == schema.TensorType.INT8:  # a shared kernel is dequantized once
            scales = np.asarray(kernel.quantization.scale, np.float32)
            stored = np.ascontiguousarray(content.buffers[kernel.buffer].data, np.uint8).view(np.int8)
            buffer = schema.BufferT()
            buffer.data = (stored.reshape(kernel.shape) * scales[:, None]).astype(np.float32).view(np.uint8).ravel()
            content.buffers.append(buffer)
            kernel.type, kernel.buffer, kernel.quantization = schema.TensorType.FLOAT32, len(content.buffers) - 1, None
        operator.builtinOptions.asymmetricQuantizeInputs = False
    return encode(content)
