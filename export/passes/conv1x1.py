"""Rewrites FULLY_CONNECTED as convolutions of size 1, for accelerators whose FULLY_CONNECTED takes one row only."""

import numpy as np

from kerasbert.export.passes.context import PassContext
from kerasbert.export.tflite.graph_editor import GraphEditor, Operator
from kerasbert.export.tflite.model import Model, schema


def fully_connected_to_conv1x1(model: Model, context: PassContext) -> None:
    """Change every FULLY_CONNECTED to a CONV_2D over `(1, 1, rows, in)` with the same kernel.

        before:  (1, rows, in) -> FULLY_CONNECTED -> (1, rows, out)
        after:   (1, rows, in) -> RESHAPE -> (1, 1, rows, in) -> CONV_2D -> (1, 1, rows, out) -> RESHAPE -> (1, rows, out)

    Both compute the same: 8-bit products, 32-bit sums, one scale per output channel, one rounding. Kernels of a convolution have supported
    such scales since TFLite 2.1.
    """
    with GraphEditor(model) as graph:
        for operator in graph.operators("FULLY_CONNECTED"):
            graph.replace(operator, *_convolution(graph, operator))


def _convolution(graph: GraphEditor, dense: Operator) -> list[Operator]:
    """Return RESHAPE, CONV_2D and RESHAPE in place of a FULLY_CONNECTED."""
    (source, number, *bias), (output,) = dense.inputs, dense.outputs
    kernel = graph.tensor(number)
    if len(kernel.shape) == 2:  # a kernel that several calls share is changed once
        out, width = map(int, kernel.shape)
        kernel.shape = np.array([out, 1, 1, width], np.int32)
    out, width = int(kernel.shape[0]), int(kernel.shape[-1])
    rows = int(np.prod(graph.tensor(source).shape)) // width
    image = graph.add_tensor(source, f"{graph.name(source)}/rows", (1, 1, rows, width))
    result = graph.add_tensor(output, f"{graph.name(output)}/rows", (1, 1, rows, out))
    if not bias or bias[0] < 0:  # CONV_2D requires one
        scales = np.asarray(kernel.quantization.scale) * graph.tensor(source).quantization.scale[0]
        bias = [graph.add_constant("zeros", np.zeros(out, np.int32), scales)]
    convolution = graph.operator(
        "CONV_2D", [image, number, *bias], [result], version=3, padding=schema().Padding.VALID,
        strideW=1, strideH=1, dilationWFactor=1, dilationHFactor=1,
        fusedActivationFunction=dense.options.fusedActivationFunction,
    )  # fmt: skip
    return [_reshape(graph, source, image), convolution, _reshape(graph, result, output)]


def _reshape(graph: GraphEditor, source: int, target: int) -> Operator:
    return graph.operator("RESHAPE", [source], [target], newShape=np.array(graph.tensor(target).shape, np.int32))


def fold_reshapes(model: Model, context: PassContext) -> None:
    """Fold chains of RESHAPE operators into their last one.

    before:  a -> RESHAPE -> b -> RESHAPE -> c
    after:   a -> RESHAPE -> c
    """
    with GraphEditor(model) as graph:
        for operator in graph.operators("RESHAPE"):
            earlier = graph.producer(operator.inputs[0])
            if earlier is not None and earlier.kind == "RESHAPE":  # whose input is the start of the chain by now
                operator.inputs = [earlier.inputs[0], *operator.inputs[1:]]
