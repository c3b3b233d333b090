"""What a file must say of its dynamically quantized denses, for every runtime to compute them alike."""

from kerasbert.export.tflite.model import operator_kinds, pack, unpack

# The operator versions that know float activations, quantized asymmetrically at run time, against int8 kernels.
_PER_CHANNEL, _ONE_SCALE = 12, 9


def declare(model: bytes) -> bytes:
    """The same file with its dynamic denses of operator version 12, or 9 where a kernel has one scale, and with asymmetric inputs.

    XNNPACK quantizes their inputs asymmetrically whatever the file says, and the built-in kernels only when it says so: half of an 8-bit
    range would be lost to GELU's short negative side. The version makes a runtime that would misread the scales refuse the file.
    """
    from ai_edge_litert import schema_py_generated as schema

    content = unpack(model)
    kinds = operator_kinds(content)
    dynamic = [
        (graph, operator)
        for graph in content.subgraphs
        for operator in graph.operators
        if kinds[operator.opcodeIndex] == "FULLY_CONNECTED" and _dynamic(graph, operator, schema.TensorType)
    ]
    if not dynamic:
        return model
    for version in (_PER_CHANNEL, _ONE_SCALE):
        mine = [operator for graph, operator in dynamic if _version(graph, operator) == version]
        if not mine:
            continue
        code = schema.OperatorCodeT()
        code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.FULLY_CONNECTED
        code.version = version
        content.operatorCodes.append(code)
        for operator in mine:
            operator.opcodeIndex = len(content.operatorCodes) - 1
            operator.builtinOptions.asymmetricQuantizeInputs = True
    return pack(content)


def _dynamic(graph, operator, types) -> bool:
    data, kernel = (graph.tensors[i].type for i in operator.inputs[:2])
    return data == types.FLOAT32 and kernel in (types.INT8, types.INT4)


def _version(graph, operator) -> int:
    return _PER_CHANNEL if len(graph.tensors[operator.inputs[1]].quantization.scale) > 1 else _ONE_SCALE
