"""What a file must say of its dynamically quantized denses, for every runtime to compute them alike."""

import numpy as np

_FULLY_CONNECTED, _FLOAT32, _INT8 = 9, 0, 9  # tflite schema
_PER_CHANNEL_DYNAMIC = 12  # the operator version that knows float activations against per-channel int8 kernels


def declare(model: bytes) -> bytes:
    """The same file with its dynamic denses of operator version 12 and with asymmetric inputs.

    XNNPACK quantizes their inputs asymmetrically whatever the file says, and the built-in kernels only when it says so: half of an 8-bit
    range would be lost to GELU's short negative side. The version makes a runtime that would misread the scales refuse the file.
    """
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    content = schema.ModelT.InitFromPackedBuf(model, 0)
    dynamic = [
        operator for graph in content.subgraphs for operator in graph.operators if _dynamic(content, graph, operator)
    ]
    if not dynamic:
        return model
    _bring_inside(content, model)
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = _FULLY_CONNECTED
    code.version = _PER_CHANNEL_DYNAMIC
    content.operatorCodes.append(code)
    for operator in dynamic:
        operator.opcodeIndex = len(content.operatorCodes) - 1
        operator.builtinOptions.asymmetricQuantizeInputs = True
    builder = flatbuffers.Builder(len(model))
    builder.Finish(content.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def _dynamic(content, graph, operator) -> bool:
    code = content.operatorCodes[operator.opcodeIndex]
    if max(code.builtinCode, code.deprecatedBuiltinCode) != _FULLY_CONNECTED:
        return False
    data, kernel = (graph.tensors[i].type for i in operator.inputs[:2])
    return data == _FLOAT32 and kernel == _INT8


def _bring_inside(content, model: bytes) -> None:
    """Large constants may lie behind the flatbuffer, at offsets that packing anew would make wrong."""
    for buffer in content.buffers:
        if buffer.offset > 1:
            buffer.data = np.frombuffer(model, np.uint8, buffer.size, buffer.offset)
            buffer.offset = buffer.size = 0
