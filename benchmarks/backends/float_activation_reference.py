"""A CPU reference of GPU arithmetic: dynamically quantized Dense layers of a `.tflite` file with float activations."""

import numpy as np

from kerasbert.export.tflite.graph_editor import GraphEditor
from kerasbert.export.tflite.model import decode, encode, schema


def with_float_activations(model: bytes) -> bytes:
    """Dequantize the int8 kernels of all Dense layers that have float inputs.

    A CPU quantizes the input of such a layer at run time; a GPU keeps it in float.

    Returns:
        The FlatBuffer without model metadata.
    """
    content = decode(model)
    graph = GraphEditor(content)
    for operator in graph.operators("FULLY_CONNECTED"):
        source, kernel = operator.inputs[:2]
        if not graph.has_type(source, "FLOAT32"):
            continue
        if graph.has_type(kernel, "INT8"):  # a shared kernel is dequantized once
            info = graph.tensor(kernel)
            scales = np.asarray(info.quantization.scale, np.float32)
            graph.set_values(kernel, (graph.constant(kernel) * scales[:, None]).astype(np.float32))
            info.type, info.quantization = schema().TensorType.FLOAT32, None
        operator.options.asymmetricQuantizeInputs = False
    return encode(content)
