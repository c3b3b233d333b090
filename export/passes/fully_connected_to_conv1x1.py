"""Rewrites FULLY_CONNECTED as convolutions of size 1, for accelerators whose FULLY_CONNECTED takes one row only."""

import copy

import numpy as np

from kerasbert.export.tflite.model import (
    Graph,
    GraphOperator,
    GraphTensor,
    Model,
    add_buffer,
    add_tensor,
    code_of,
    new_operator,
    operator_kinds,
    schema,
)


def fully_connected_to_conv1x1(model: Model) -> None:
    """Changes every FULLY_CONNECTED of a model with one graph to a CONV_2D over `(1, 1, rows, in)` with the same kernel.

    Both compute the same: 8-bit products, 32-bit sums, one scale per output channel, one rounding. Kernels of a convolution have supported
    such scales since TFLite 2.1.
    """
    (graph,), kinds = model.subgraphs, operator_kinds(model)
    convolution = code_of(model, schema().BuiltinOperator.CONV_2D, 3)
    reshape = code_of(model, schema().BuiltinOperator.RESHAPE, 1)
    operators = []
    for operator in graph.operators:
        if kinds[operator.opcodeIndex] == "FULLY_CONNECTED":
            operators += _convolution_operators(model, operator, convolution, reshape)
        else:
            operators.append(operator)
    graph.operators = operators


def _convolution_operators(
    model: Model, operator: GraphOperator, convolution: int, reshape: int
) -> list[GraphOperator]:
    """Return RESHAPE, CONV_2D and RESHAPE in place of a FULLY_CONNECTED. `convolution`, `reshape`: indices of the operator codes."""
    (graph,) = model.subgraphs
    source, kernel, output = operator.inputs[0], graph.tensors[operator.inputs[1]], operator.outputs[0]
    if len(kernel.shape) == 2:  # a kernel that several calls share is changed once
        out, width = map(int, kernel.shape)
        kernel.shape = np.array([out, 1, 1, width], np.int32)
    rows = int(np.prod(graph.tensors[source].shape)) // int(kernel.shape[-1])
    image = _reshaped_copy(graph, source, (1, 1, rows, int(kernel.shape[-1])))
    result = _reshaped_copy(graph, output, (1, 1, rows, int(kernel.shape[0])))
    has_bias = len(operator.inputs) > 2 and operator.inputs[2] >= 0
    bias = operator.inputs[2] if has_bias else _zero_bias(model, image, kernel)
    inputs, options = [image, operator.inputs[1], bias], _convolution_options(operator)
    return [
        _reshape(graph, reshape, source, image),
        new_operator(convolution, inputs, [result], schema().BuiltinOptions.Conv2DOptions, options),
        _reshape(graph, reshape, result, output),
    ]


def _convolution_options(operator: GraphOperator):
    options = schema().Conv2DOptionsT()
    options.strideW = options.strideH = options.dilationWFactor = options.dilationHFactor = 1
    options.padding = schema().Padding.VALID
    options.fusedActivationFunction = operator.builtinOptions.fusedActivationFunction
    return options


def fold_reshapes(model: Model) -> None:
    """Fold chains of RESHAPE operators into their last one, and removes those whose outputs are unused."""
    (graph,), kinds = model.subgraphs, operator_kinds(model)
    origins = {}
    for operator in graph.operators:
        if kinds[operator.opcodeIndex] == "RESHAPE":
            source = origins.get(operator.inputs[0], operator.inputs[0])
            operator.inputs = [source, *operator.inputs[1:]]
            origins[operator.outputs[0]] = source
    used = {*graph.outputs, *(tensor for operator in graph.operators for tensor in operator.inputs)}
    graph.operators = [
        operator
        for operator in graph.operators
        if kinds[operator.opcodeIndex] != "RESHAPE" or operator.outputs[0] in used
    ]


def _zero_bias(model: Model, source: int, kernel: GraphTensor) -> int:
    """Add a bias of zeros, because CONV_2D requires one, and return its index."""
    (graph,) = model.subgraphs
    scales = np.asarray(kernel.quantization.scale) * graph.tensors[source].quantization.scale[0]
    bias, quantization = schema().TensorT(), schema().QuantizationParametersT()
    quantization.scale, quantization.zeroPoint = scales.astype(np.float32), np.zeros(len(scales), np.int64)
    bias.type, bias.shape, bias.quantization = schema().TensorType.INT32, kernel.shape[:1], quantization
    bias.name, bias.buffer = b"zeros", add_buffer(model, np.zeros(int(kernel.shape[0]), np.int32))
    return add_tensor(graph, bias)


def _reshaped_copy(graph: Graph, tensor: int, shape: tuple[int, ...]) -> int:
    """Add a computed tensor with the type and scale of another one, and return its index."""
    new = copy.copy(graph.tensors[tensor])
    new.shape, new.shapeSignature = np.array(shape, np.int32), None
    new.name = (new.name if isinstance(new.name, bytes) else str(new.name).encode()) + b"/rows"
    new.buffer = 0
    return add_tensor(graph, new)


def _reshape(graph: Graph, code: int, source: int, target: int) -> GraphOperator:
    options = schema().ReshapeOptionsT()
    options.newShape = np.array(graph.tensors[target].shape, np.int32)
    return new_operator(code, [source], [target], schema().BuiltinOptions.ReshapeOptions, options)
