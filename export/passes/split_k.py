"""Split-K rewriting of FULLY_CONNECTED for accelerators that accumulate in fp16.

LiteRT's GPU accelerator accumulates the products of a Dense layer one after the other in 16 bits. The rounding error grows with the number
of products. A partial sum has the error of a shorter sum, and adding the partial sums rounds a few times only.
"""

import copy
from collections.abc import Sequence

import numpy as np

from kerasbert.export.passes.context import PassContext
from kerasbert.export.passes.dead_code import eliminate_dead_code
from kerasbert.export.tflite.model import (
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

# Numbers of parts, the largest first. `benchmarks/backends/split_k.py` measures accuracy and cost of each.
PARTS = (8, 4, 2)
# A GPU stores channels in groups of four. A part that starts inside a group would have to be moved.
_LANES = 4


def split_k_factor(channels: int) -> int:
    """Return the number of parts in which a product over `channels` inputs is accumulated; 1 if it is not split."""
    return next((parts for parts in PARTS if channels % (parts * _LANES) == 0), 1)


def split_k_fully_connected(model: Model, context: PassContext) -> None:
    """Split every float FULLY_CONNECTED along its input channels and adds the partial products.

    It does so only if the context asks for it, and only in float recipes. The kernel `(out, in)` is a constant, in float32 or dequantized
    from float16. Kernels stay whole whose channels do not divide evenly, or that have other readers, such as an embedding table that is
    also a decoder. An input of several operators, and a kernel of several calls, is split once.
    """
    if context.split_k and not context.recipe.integer:
        _SplitK(model).apply()


class _SplitK:
    """The rewriting of one model.

    Attributes:
        operators: The new operators of the graph, in the order of execution.
        dequantize: The DEQUANTIZE operator of each tensor that has one.
        input_parts: The parts of each input that is split.
        kernel_parts: The parts of each kernel that is split.
    """

    def __init__(self, model: Model):
        self.model, (self.graph,) = model, model.subgraphs
        self.kinds = operator_kinds(model)
        self.dequantize = {
            int(operator.outputs[0]): operator
            for operator in self.graph.operators
            if self.kinds[operator.opcodeIndex] == "DEQUANTIZE"
        }
        self.input_parts: dict[int, list[int]] = {}
        self.kernel_parts: dict[int, list[int]] = {}
        self.operators: list[GraphOperator] = []

    def apply(self) -> None:
        whole = self._whole_tensors()
        for operator in self.graph.operators:
            if self.kinds[operator.opcodeIndex] == "FULLY_CONNECTED" and int(operator.inputs[1]) not in whole:
                self._split(operator)
            else:
                self.operators.append(operator)
        self._remove_unused_operators()
        split_buffers = {self._stored(kernel).buffer for kernel in self.kernel_parts}
        eliminate_dead_code(self.model)
        for buffer in split_buffers - {tensor.buffer for tensor in self.graph.tensors}:
            self.model.buffers[buffer].data = None

    def _remove_unused_operators(self) -> None:
        used = {*self.graph.outputs, *(tensor for operator in self.operators for tensor in operator.inputs)}
        self.kinds = operator_kinds(self.model)  # the model has new operator codes
        self.graph.operators = [
            operator
            for operator in self.operators
            if self.kinds[operator.opcodeIndex] != "DEQUANTIZE" or operator.outputs[0] in used
        ]

    def _whole_tensors(self) -> set[int]:
        """Return the tensors that some operator reads whole."""
        whole = set()
        for operator in self.graph.operators:
            kind = self.kinds[operator.opcodeIndex]
            for position, tensor in enumerate(map(int, operator.inputs)):
                is_kernel = kind == "FULLY_CONNECTED" and position == 1
                if tensor >= 0 and kind != "DEQUANTIZE" and not (is_kernel and self._can_split(operator)):
                    whole.add(tensor)
        return whole

    def _stored(self, tensor: int) -> GraphTensor:
        """Return the tensor that stores a kernel: itself, or the one that it is dequantized from."""
        return self.graph.tensors[int(self.dequantize[tensor].inputs[0]) if tensor in self.dequantize else tensor]

    def _can_split(self, operator: GraphOperator) -> bool:
        types = schema().TensorType
        source, kernel = map(int, operator.inputs[:2])
        stored = self._stored(kernel)
        is_float = stored.type == (types.FLOAT16 if kernel in self.dequantize else types.FLOAT32)
        is_constant = self.model.buffers[stored.buffer].data is not None
        channels = int(stored.shape[-1])
        # FULLY_CONNECTED may read its rows from a tensor of another shape.
        has_same_rows = channels == int(self.graph.tensors[source].shape[-1])
        return is_float and is_constant and has_same_rows and split_k_factor(channels) > 1

    def _split(self, operator: GraphOperator) -> None:
        """Add the partial products of a FULLY_CONNECTED and their sum. The first one has the bias, the sum the activation function."""
        source, kernel, *bias = map(int, operator.inputs)
        output, activation = int(operator.outputs[0]), operator.builtinOptions.fusedActivationFunction
        shape, products = tuple(self.graph.tensors[output].shape), []
        for input_part, kernel_part in zip(self._split_input(source), self._split_kernel(kernel), strict=True):
            products.append(self._tensor(output, shape))
            first_bias = bias if len(products) == 1 else []
            dense = _operator_like(operator, [input_part, kernel_part, *first_bias], [products[-1]])
            dense.builtinOptions.fusedActivationFunction = schema().ActivationFunctionType.NONE
            self.operators.append(dense)
        self._add_up(products, output, activation)

    def _add_up(self, tensors: list[int], output: int, activation: int) -> None:
        """Add tensors in pairs, so that each is rounded equally often; the last sum is written to `output`."""
        shape = tuple(self.graph.tensors[output].shape)
        while len(tensors) > 1:
            is_last = len(tensors) == 2
            pairs = [tensors[first : first + 2] for first in range(0, len(tensors), 2)]
            tensors = [output if is_last else self._tensor(output, shape) for _ in pairs]
            for pair, total in zip(pairs, tensors, strict=True):
                options = schema().AddOptionsT()
                options.fusedActivationFunction = activation if is_last else schema().ActivationFunctionType.NONE
                code = code_of(self.model, schema().BuiltinOperator.ADD, 1)
                self.operators.append(new_operator(code, pair, [total], schema().BuiltinOptions.AddOptions, options))

    def _split_input(self, source: int) -> list[int]:
        """Return tensors `(..., in / parts)`, written by a SPLIT operator."""
        if source not in self.input_parts:
            *rows, channels = map(int, self.graph.tensors[source].shape)
            count = split_k_factor(channels)
            parts = [self._tensor(source, (*rows, channels // count)) for _ in range(count)]
            axis, options = schema().TensorT(), schema().SplitOptionsT()
            axis.name, axis.type, axis.shape = b"channels", schema().TensorType.INT32, np.array([], np.int32)
            axis.buffer = add_buffer(self.model, np.array([len(rows)], np.int32))
            options.numSplits = count
            inputs = [add_tensor(self.graph, axis), source]
            code = code_of(self.model, schema().BuiltinOperator.SPLIT, 1)
            self.operators.append(new_operator(code, inputs, parts, schema().BuiltinOptions.SplitOptions, options))
            self.input_parts[source] = parts
        return self.input_parts[source]

    def _split_kernel(self, kernel: int) -> list[int]:
        """Return float32 tensors `(out, in / parts)`: constants, or dequantized from float16 constants."""
        if kernel not in self.kernel_parts:
            stored, self.kernel_parts[kernel] = self._stored(kernel), []
            dtype = np.float32 if stored.type == schema().TensorType.FLOAT32 else np.float16
            values = np.ascontiguousarray(self.model.buffers[stored.buffer].data, np.uint8).view(dtype)
            for part in np.split(values.reshape(stored.shape), split_k_factor(int(stored.shape[-1])), axis=1):
                tensor = self._tensor(kernel, part.shape)
                self.kernel_parts[kernel].append(tensor)
                if kernel not in self.dequantize:
                    self.graph.tensors[tensor].buffer = add_buffer(self.model, part)
                    continue
                half = self._tensor(int(self.dequantize[kernel].inputs[0]), part.shape)
                self.graph.tensors[half].buffer = add_buffer(self.model, part)
                self.operators.append(_operator_like(self.dequantize[kernel], [half], [tensor]))
        return self.kernel_parts[kernel]

    def _tensor(self, like: int, shape: tuple[int, ...]) -> int:
        """Add a computed tensor with the type of another one, and return its index."""
        new = copy.copy(self.graph.tensors[like])
        new.shape, new.shapeSignature, new.buffer = np.array(shape, np.int32), None, 0
        new.name = b"part"  # short, because a file has thousands of them
        return add_tensor(self.graph, new)


def _operator_like(operator: GraphOperator, inputs: Sequence[int], outputs: Sequence[int]) -> GraphOperator:
    """Return a copy of an operator with other inputs and outputs."""
    new = copy.copy(operator)
    new.builtinOptions = copy.copy(operator.builtinOptions)
    new.inputs, new.outputs = np.array(inputs, np.int32), np.array(outputs, np.int32)
    return new
