"""Split-K rewriting of FULLY_CONNECTED for accelerators that accumulate in fp16.

LiteRT's GPU accelerator in 16 bits adds the products of a dense one after the other to a 16-bit number. What it rounds away grows with the
number of products. A part of a sum is as exact as a shorter sum, and adding the parts up rounds a few times only.
"""

import copy

import numpy as np

from kerasbert.export.passes.context import PassContext
from kerasbert.export.passes.dead_code import eliminate_dead_code
from kerasbert.export.tflite.model import Model, code_of, new_operator, operator_kinds

# How many parts, the most first: `benchmarks/backends/split_k.py` says what each gains and takes.
PARTS = (8, 4, 2)
# Channels lie in fours in a GPU's memory: a part that started between them would have to be moved.
_LANES = 4


def split_k_factor(channels: int) -> int:
    """The number of parts in which a product over `channels` inputs is accumulated; 1: it is not split."""
    return next((parts for parts in PARTS if channels % (parts * _LANES) == 0), 1)


def split_k_fully_connected(model: Model, context: PassContext) -> None:
    """Splits every FULLY_CONNECTED that multiplies floats by a constant kernel (out, in), in float32 or widened from float16, along its
    input channels; the partial products are added up. Only in float recipes, and where the context says so.

    Left as they are: kernels whose channels cannot be divided so, and those that something else reads as well, such as an embedding table
    that is a decoder too. Inputs that several operators read, and kernels that several calls share, are divided once.
    """
    if context.split_k and not context.recipe.integer:
        _SplitK(model).apply()


class _SplitK:
    def __init__(self, content):
        self.content, (self.graph,) = content, content.subgraphs
        self.kinds = operator_kinds(content)
        self.widens = {
            int(operator.outputs[0]): operator
            for operator in self.graph.operators
            if self.kinds[operator.opcodeIndex] == "DEQUANTIZE"
        }
        self.inputs: dict[int, list[int]] = {}  # of a tensor, its parts
        self.kernels: dict[int, list[int]] = {}
        self.made: list = []

    def apply(self) -> None:
        whole = self._left_whole()
        for operator in self.graph.operators:
            if self.kinds[operator.opcodeIndex] == "FULLY_CONNECTED" and int(operator.inputs[1]) not in whole:
                self._divide(operator)
            else:
                self.made.append(operator)
        read = {*self.graph.outputs, *(tensor for operator in self.made for tensor in operator.inputs)}
        self.kinds = operator_kinds(self.content)  # there are new ones
        self.graph.operators = [
            operator
            for operator in self.made
            if self.kinds[operator.opcodeIndex] != "DEQUANTIZE" or operator.outputs[0] in read
        ]
        stored = {self._stored(kernel).buffer for kernel in self.kernels}
        eliminate_dead_code(self.content)
        for buffer in stored - {tensor.buffer for tensor in self.graph.tensors}:
            self.content.buffers[buffer].data = None

    def _left_whole(self) -> set[int]:
        """Tensors that no dense may have divided."""
        found = set()
        for operator in self.graph.operators:
            kind = self.kinds[operator.opcodeIndex]
            for place, tensor in enumerate(map(int, operator.inputs)):
                is_kernel = kind == "FULLY_CONNECTED" and place == 1
                if tensor >= 0 and kind != "DEQUANTIZE" and not (is_kernel and self._divisible(operator)):
                    found.add(tensor)
        return found

    def _stored(self, tensor: int):
        """The tensor that holds a kernel: itself, or what it is widened from."""
        return self.graph.tensors[int(self.widens[tensor].inputs[0]) if tensor in self.widens else tensor]

    def _divisible(self, operator) -> bool:
        from ai_edge_litert.schema_py_generated import TensorType

        source, kernel = map(int, operator.inputs[:2])
        stored = self._stored(kernel)
        floats = stored.type == (TensorType.FLOAT16 if kernel in self.widens else TensorType.FLOAT32)
        constant = self.content.buffers[stored.buffer].data is not None
        channels = int(stored.shape[-1])
        # A dense may read its rows out of a tensor of another shape.
        rows = channels == int(self.graph.tensors[source].shape[-1])
        return floats and constant and rows and split_k_factor(channels) > 1

    def _divide(self, operator) -> None:
        """The operators that stand for one dense."""
        from ai_edge_litert import schema_py_generated as schema

        source, kernel, *bias = map(int, operator.inputs)
        written, function = int(operator.outputs[0]), operator.builtinOptions.fusedActivationFunction
        shape, sums = tuple(self.graph.tensors[written].shape), []
        for part, piece in zip(self._parts_of_input(source), self._parts_of_kernel(kernel), strict=True):
            sums.append(self._tensor(written, shape))
            dense = _like(operator, [part, piece, *(bias if len(sums) == 1 else [])], [sums[-1]])
            dense.builtinOptions.fusedActivationFunction = schema.ActivationFunctionType.NONE
            self.made.append(dense)
        while len(sums) > 1:  # in pairs: every part is rounded as often
            last = len(sums) == 2
            pairs = [sums[place : place + 2] for place in range(0, len(sums), 2)]
            sums = [written if last else self._tensor(written, shape) for _ in pairs]
            for pair, total in zip(pairs, sums, strict=True):
                options = schema.AddOptionsT()
                options.fusedActivationFunction = function if last else schema.ActivationFunctionType.NONE
                code = code_of(self.content, schema.BuiltinOperator.ADD, 1)
                self.made.append(new_operator(code, pair, [total], schema.BuiltinOptions.AddOptions, options))

    def _parts_of_input(self, source: int) -> list[int]:
        from ai_edge_litert import schema_py_generated as schema

        if source not in self.inputs:
            *rows, channels = map(int, self.graph.tensors[source].shape)
            count = split_k_factor(channels)
            parts = [self._tensor(source, (*rows, channels // count)) for _ in range(count)]
            axis, options = schema.TensorT(), schema.SplitOptionsT()
            axis.name, axis.type, axis.shape = b"channels", schema.TensorType.INT32, np.array([], np.int32)
            axis.buffer = self._buffer(np.array([len(rows)], np.int32))
            self.graph.tensors.append(axis)
            options.numSplits = count
            code = code_of(self.content, schema.BuiltinOperator.SPLIT, 1)
            inputs = [len(self.graph.tensors) - 1, source]
            self.made.append(new_operator(code, inputs, parts, schema.BuiltinOptions.SplitOptions, options))
            self.inputs[source] = parts
        return self.inputs[source]

    def _parts_of_kernel(self, kernel: int) -> list[int]:
        """Tensors (out, in / parts) of float32."""
        from ai_edge_litert.schema_py_generated import TensorType

        if kernel not in self.kernels:
            stored, self.kernels[kernel] = self._stored(kernel), []
            kind = np.float32 if stored.type == TensorType.FLOAT32 else np.float16
            values = np.ascontiguousarray(self.content.buffers[stored.buffer].data, np.uint8).view(kind)
            for part in np.split(values.reshape(stored.shape), split_k_factor(int(stored.shape[-1])), axis=1):
                piece = self._tensor(kernel, part.shape)
                self.kernels[kernel].append(piece)
                if kernel not in self.widens:
                    self.graph.tensors[piece].buffer = self._buffer(part)
                    continue
                narrow = self._tensor(int(self.widens[kernel].inputs[0]), part.shape)
                self.graph.tensors[narrow].buffer = self._buffer(part)
                self.made.append(_like(self.widens[kernel], [narrow], [piece]))
        return self.kernels[kernel]

    def _buffer(self, values: np.ndarray) -> int:
        from ai_edge_litert.schema_py_generated import BufferT

        buffer = BufferT()
        buffer.data = np.ascontiguousarray(values).view(np.uint8).ravel()
        self.content.buffers.append(buffer)
        return len(self.content.buffers) - 1

    def _tensor(self, like: int, shape: tuple[int, ...]) -> int:
        """A new computed tensor of another one's type."""
        made = copy.copy(self.graph.tensors[like])
        made.shape, made.shapeSignature, made.buffer = np.array(shape, np.int32), None, 0
        made.name = b"part"  # a file has thousands of them
        self.graph.tensors.append(made)
        return len(self.graph.tensors) - 1


def _like(operator, inputs: list[int], outputs: list[int]):
    """The same operator between other tensors."""
    made = copy.copy(operator)
    made.builtinOptions = copy.copy(operator.builtinOptions)
    made.inputs, made.outputs = np.array(inputs, np.int32), np.array(outputs, np.int32)
    return made
