"""Operator versions of dynamically quantized FULLY_CONNECTED operators."""

from kerasbert.export.passes.context import PassContext
from kerasbert.export.tflite.model import Graph, GraphOperator, Model, add_code, operator_kinds, schema

# The operator versions with float activations, quantized asymmetrically at run time, and int8 kernels.
_PER_CHANNEL, _PER_TENSOR = 12, 9


def set_dynamic_range_versions(model: Model, context: PassContext) -> None:
    """Set asymmetric inputs and version 12 for dynamic FULLY_CONNECTED operators; version 9 if the kernel has one scale.

    XNNPACK always quantizes their inputs asymmetrically, the builtin kernels only if the file asks for it. Symmetric inputs would lose half
    of an 8-bit range after GELU, whose negative side is short. The version makes a runtime that would misread the scales refuse the file.
    """
    kinds = operator_kinds(model)
    dynamic = [
        (graph, operator)
        for graph in model.subgraphs
        for operator in graph.operators
        if kinds[operator.opcodeIndex] == "FULLY_CONNECTED" and _is_dynamic(graph, operator)
    ]
    for version in (_PER_CHANNEL, _PER_TENSOR):
        operators = [operator for graph, operator in dynamic if _version(graph, operator) == version]
        if not operators:
            continue
        code = add_code(model, schema().BuiltinOperator.FULLY_CONNECTED, version)
        for operator in operators:
            operator.opcodeIndex = code
            operator.builtinOptions.asymmetricQuantizeInputs = True


def _is_dynamic(graph: Graph, operator: GraphOperator) -> bool:
    types = schema().TensorType
    activation, kernel = (graph.tensors[index].type for index in operator.inputs[:2])
    return activation == types.FLOAT32 and kernel in (types.INT8, types.INT4)


def _version(graph: Graph, operator: GraphOperator) -> int:
    scales = graph.tensors[operator.inputs[1]].quantization.scale
    return _PER_CHANNEL if len(scales) > 1 else _PER_TENSOR
