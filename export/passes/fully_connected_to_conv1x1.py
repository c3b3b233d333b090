"""FULLY_CONNECTED as convolutions of size 1, for accelerators that take a FULLY_CONNECTED of one row only."""

import copy

import numpy as np

from kerasbert.export.tflite.model import Model, code_of, new_operator, operator_kinds


def fully_connected_to_conv1x1(model: Model) -> None:
    """Changes every FULLY_CONNECTED of a model with one graph to a CONV_2D over rows (1, 1, rows, in) with the same kernel.

    Both compute the same: products of 8 bits in sums of 32, a scale for each output channel, one rounding. Kernels of a convolution have
    had such scales since TFLite 2.1.
    """
    from ai_edge_litert import schema_py_generated as schema

    (graph,), kinds = model.subgraphs, operator_kinds(model)
    convolution = code_of(model, schema.BuiltinOperator.CONV_2D, 3)
    reshape = code_of(model, schema.BuiltinOperator.RESHAPE, 1)
    operators = []
    for operator in graph.operators:
        if kinds[operator.opcodeIndex] != "FULLY_CONNECTED":
            operators.append(operator)
            continue
        source, kernel, written = operator.inputs[0], graph.tensors[operator.inputs[1]], operator.outputs[0]
        if len(kernel.shape) == 2:  # a kernel that several calls share is changed once
            out, width = map(int, kernel.shape)
            kernel.shape = np.array([out, 1, 1, width], np.int32)
        rows = int(np.prod(graph.tensors[source].shape)) // int(kernel.shape[-1])
        wide = _reshaped(graph, source, (1, 1, rows, int(kernel.shape[-1])))
        result = _reshaped(graph, written, (1, 1, rows, int(kernel.shape[0])))
        operators.append(
            new_operator(reshape, [source], [wide], schema.BuiltinOptions.ReshapeOptions, _shape(graph, wide))
        )
        options = schema.Conv2DOptionsT()
        options.strideW = options.strideH = options.dilationWFactor = options.dilationHFactor = 1
        options.padding = schema.Padding.VALID
        options.fusedActivationFunction = operator.builtinOptions.fusedActivationFunction
        bias = (
            operator.inputs[2] if len(operator.inputs) > 2 and operator.inputs[2] >= 0 else _zeros(model, wide, kernel)
        )
        inputs = [wide, operator.inputs[1], bias]
        operators.append(new_operator(convolution, inputs, [result], schema.BuiltinOptions.Conv2DOptions, options))
        operators.append(
            new_operator(reshape, [result], [written], schema.BuiltinOptions.ReshapeOptions, _shape(graph, written))
        )
    graph.operators = operators


def fold_reshapes(model: Model) -> None:
    """Lets a RESHAPE of what another one gives read that one's input; those that nobody reads any more go."""
    (graph,), kinds = model.subgraphs, operator_kinds(model)
    shaped = {}
    for operator in graph.operators:
        if kinds[operator.opcodeIndex] == "RESHAPE":
            source = shaped.get(operator.inputs[0], operator.inputs[0])
            operator.inputs = [source, *operator.inputs[1:]]
            shaped[operator.outputs[0]] = source
    read = {*graph.outputs, *(tensor for operator in graph.operators for tensor in operator.inputs)}
    graph.operators = [
        operator
        for operator in graph.operators
        if kinds[operator.opcodeIndex] != "RESHAPE" or operator.outputs[0] in read
    ]


def _zeros(model: Model, source: int, kernel) -> int:
    """A new bias of zeros: a dense may be without one, a convolution not."""
    from ai_edge_litert import schema_py_generated as schema

    (graph,) = model.subgraphs
    steps = np.asarray(kernel.quantization.scale) * graph.tensors[source].quantization.scale[0]
    bias, buffer, grid = schema.TensorT(), schema.BufferT(), schema.QuantizationParametersT()
    grid.scale, grid.zeroPoint = steps.astype(np.float32), np.zeros(len(steps), np.int64)
    buffer.data = np.zeros(4 * int(kernel.shape[0]), np.uint8)
    model.buffers.append(buffer)
    bias.type, bias.shape, bias.quantization = schema.TensorType.INT32, kernel.shape[:1], grid
    bias.name, bias.buffer = b"zeros", len(model.buffers) - 1
    graph.tensors.append(bias)
    return len(graph.tensors) - 1


def _reshaped(graph, tensor: int, shape: tuple[int, ...]) -> int:
    """A new computed tensor with the type and scale of another one."""
    made = copy.copy(graph.tensors[tensor])
    made.shape, made.shapeSignature = np.array(shape, np.int32), None
    made.name = (made.name if isinstance(made.name, bytes) else str(made.name).encode()) + b"/rows"
    made.buffer = 0
    graph.tensors.append(made)
    return len(graph.tensors) - 1


def _shape(graph, tensor: int):
    from ai_edge_litert.schema_py_generated import ReshapeOptionsT

    options = ReshapeOptionsT()
    options.newShape = np.array(graph.tensors[tensor].shape, np.int32)
    return options
