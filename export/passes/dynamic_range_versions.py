"""Operator versions of dynamically quantized FULLY_CONNECTED operators."""

from kerasbert.export.passes.context import PassContext
from kerasbert.export.tflite.model import Model, operator_kinds

# The operator versions that know float activations, quantized asymmetrically at run time, against int8 kernels.
_PER_CHANNEL, _ONE_SCALE = 12, 9


def set_dynamic_range_versions(model: Model, context: PassContext) -> None:
    """Sets operator version 12 for dynamic FULLY_CONNECTED, or 9 where a kernel has one scale, and asymmetric inputs.

    XNNPACK quantizes their inputs asymmetrically whatever the file says, and the built-in kernels only when it says so: half of an 8-bit
    range would be lost to GELU's short negative side. The version makes a runtime that would misread the scales refuse the file.
    """
    from ai_edge_litert import schema_py_generated as schema

    kinds = operator_kinds(model)
    dynamic = [
        (graph, operator)
        for graph in model.subgraphs
        for operator in graph.operators
        if kinds[operator.opcodeIndex] == "FULLY_CONNECTED" and _dynamic(graph, operator, schema.TensorType)
    ]
    for version in (_PER_CHANNEL, _ONE_SCALE):
        mine = [operator for graph, operator in dynamic if _version(graph, operator) == version]
        if not mine:
            continue
        code = schema.OperatorCodeT()
        code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.FULLY_CONNECTED
        code.version = version
        model.operatorCodes.append(code)
        for operator in mine:
            operator.opcodeIndex = len(model.operatorCodes) - 1
            operator.builtinOptions.asymmetricQuantizeInputs = True


def _dynamic(graph, operator, types) -> bool:
    data, kernel = (graph.tensors[i].type for i in operator.inputs[:2])
    return data == types.FLOAT32 and kernel in (types.INT8, types.INT4)


def _version(graph, operator) -> int:
    return _PER_CHANNEL if len(graph.tensors[operator.inputs[1]].quantization.scale) > 1 else _ONE_SCALE
