"""Split-K rewriting of FULLY_CONNECTED for accelerators that accumulate in fp16.

LiteRT's GPU accelerator accumulates the products of a Dense layer one after the other in 16 bits. The rounding error grows with the number
of products. A partial sum has the error of a shorter sum, and adding the partial sums rounds a few times only.
"""

from collections.abc import Sequence

import numpy as np

from kerasbert.export.passes.context import PassContext
from kerasbert.export.tflite.graph_editor import GraphEditor, Operator
from kerasbert.export.tflite.model import Model, schema

# Numbers of parts, the largest first. `benchmarks/backends/split_k.py` measures accuracy and cost of each.
PARTS = (8, 4, 2)
# A GPU stores channels in groups of four. A part that starts inside a group would have to be moved.
_LANES = 4


def split_k_factor(channels: int) -> int:
    """Return the number of parts in which a product over `channels` inputs is accumulated; 1 if it is not split."""
    return next((parts for parts in PARTS if channels % (parts * _LANES) == 0), 1)


def split_k_fully_connected(model: Model, context: PassContext) -> None:
    """Split every float FULLY_CONNECTED along its input channels, and add the partial products.

        before:  x -> FULLY_CONNECTED -> y

                             +-> FULLY_CONNECTED -+
        after:   x -> SPLIT -+                    +-> ADD -> y
                             +-> FULLY_CONNECTED -+

    It does so only if the context asks for it, and only in float recipes. The kernel `(out, in)` is a constant, in float32 or dequantized
    from float16. Kernels stay whole whose channels do not divide evenly, or that have other readers, such as an embedding table that is
    also a decoder. An input of several operators, and a kernel of several calls, is split once.
    """
    if context.split_k and not context.recipe.integer:
        with GraphEditor(model) as graph:
            split = _SplitK(graph)
            split.apply()
        graph.compact()
        graph.free(*split.buffers)


class _SplitK:
    """The rewriting of one graph.

    Attributes:
        input_parts: The parts of each input that is split.
        kernel_parts: The parts of each kernel that is split.
        buffers: The buffers of these kernels.
    """

    def __init__(self, graph: GraphEditor):
        self.graph = graph
        self.input_parts: dict[int, list[int]] = {}
        self.kernel_parts: dict[int, list[int]] = {}
        self.buffers: set[int] = set()

    def apply(self) -> None:
        whole = self._whole_tensors()
        for operator in self.graph.operators("FULLY_CONNECTED"):
            if operator.inputs[1] not in whole:
                self._split(operator)

    def _whole_tensors(self) -> set[int]:
        """Return the tensors that some operator reads whole."""
        whole = set()
        for operator in self.graph.operators():
            for position, tensor in enumerate(operator.inputs):
                is_kernel = operator.kind == "FULLY_CONNECTED" and position == 1
                if tensor >= 0 and operator.kind != "DEQUANTIZE" and not (is_kernel and self._can_split(operator)):
                    whole.add(tensor)
        return whole

    def _dequantize(self, kernel: int) -> Operator | None:
        """Return the operator that dequantizes a kernel from float16; None for a kernel in float32."""
        producer = self.graph.producer(kernel)
        return producer if producer is not None and producer.kind == "DEQUANTIZE" else None

    def _stored(self, kernel: int) -> int:
        """Return the tensor that stores a kernel: itself, or the one that it is dequantized from."""
        dequantize = self._dequantize(kernel)
        return kernel if dequantize is None else dequantize.inputs[0]

    def _can_split(self, operator: Operator) -> bool:
        source, kernel = operator.inputs[:2]
        stored = self._stored(kernel)
        if not self.graph.has_type(stored, "FLOAT32" if stored == kernel else "FLOAT16"):
            return False
        channels = int(self.graph.tensor(stored).shape[-1])
        # FULLY_CONNECTED may read its rows from a tensor of another shape.
        has_same_rows = channels == int(self.graph.tensor(source).shape[-1])
        return self.graph.constant(stored).size > 0 and has_same_rows and split_k_factor(channels) > 1

    def _split(self, operator: Operator) -> None:
        """Replace a FULLY_CONNECTED. The first partial product has the bias, the last sum the activation function."""
        (source, kernel, *bias), (output,) = operator.inputs, operator.outputs
        inputs, kernels, products = self._split_input(operator, source), self._split_kernel(operator, kernel), []
        for input_part, kernel_part in zip(inputs, kernels, strict=True):
            product = self._part(output, self.graph.tensor(output).shape)
            dense = self.graph.like(operator, [input_part, kernel_part, *(() if products else bias)], [product])
            dense.options.fusedActivationFunction = schema().ActivationFunctionType.NONE
            self.graph.insert_before(operator, dense)
            products.append(product)
        self._add_up(operator, products, output)
        self.graph.replace(operator)

    def _add_up(self, operator: Operator, tensors: list[int], output: int) -> None:
        """Add tensors in pairs, so that each is rounded equally often; the last sum is the output."""
        while len(tensors) > 1:
            is_last = len(tensors) == 2
            activation = operator.options if is_last else schema().AddOptionsT()
            pairs = [tensors[first : first + 2] for first in range(0, len(tensors), 2)]
            tensors = [output if is_last else self._part(output, self.graph.tensor(output).shape) for _ in pairs]
            for pair, total in zip(pairs, tensors, strict=True):
                function = activation.fusedActivationFunction
                self.graph.insert_before(
                    operator, self.graph.operator("ADD", pair, [total], fusedActivationFunction=function)
                )

    def _split_input(self, operator: Operator, source: int) -> list[int]:
        """Return tensors `(..., in / parts)`, written by a SPLIT operator."""
        if source not in self.input_parts:
            *rows, channels = map(int, self.graph.tensor(source).shape)
            count = split_k_factor(channels)
            parts = [self._part(source, (*rows, channels // count)) for _ in range(count)]
            axis = self.graph.add_constant("channels", np.array(len(rows), np.int32))
            self.graph.insert_before(operator, self.graph.operator("SPLIT", [axis, source], parts, numSplits=count))
            self.input_parts[source] = parts
        return self.input_parts[source]

    def _split_kernel(self, operator: Operator, kernel: int) -> list[int]:
        """Return float32 tensors `(out, in / parts)`: constants, or dequantized from float16 constants."""
        if kernel not in self.kernel_parts:
            stored, dequantize, self.kernel_parts[kernel] = self._stored(kernel), self._dequantize(kernel), []
            self.buffers.add(self.graph.tensor(stored).buffer)
            values = self.graph.constant(stored)
            for part in np.split(values, split_k_factor(values.shape[-1]), axis=1):
                tensor = self._part(kernel, part.shape)
                self.kernel_parts[kernel].append(tensor)
                if dequantize is None:
                    self.graph.set_values(tensor, part)
                    continue
                half = self._part(stored, part.shape)
                self.graph.set_values(half, part)
                self.graph.insert_before(operator, self.graph.like(dequantize, [half], [tensor]))
        return self.kernel_parts[kernel]

    def _part(self, like: int, shape: Sequence[int]) -> int:
        return self.graph.add_tensor(like, "part", shape)  # a short name, because a file has thousands of them
