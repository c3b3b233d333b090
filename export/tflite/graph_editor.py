"""Edits of a decoded model's graph: operators by kind, constants, new tensors, and the removal of what nothing reads.

A pass names operators by their kind and tensors by their number. It never moves lists of indices itself:

    with GraphEditor(model) as graph:
        for dense in graph.operators("FULLY_CONNECTED"):
            graph.replace(dense, graph.operator("CONV_2D", [...], dense.outputs, padding=...))
"""

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from kerasbert.export.tflite.model import (
    GraphOperator,
    GraphTensor,
    Model,
    add_buffer,
    add_code,
    operator_kinds,
    schema,
)


class Operator:
    """An operator of a graph.

    Attributes:
        raw: The schema's object.
        kind: The builtin operator's name in the schema, such as `FULLY_CONNECTED`.
    """

    def __init__(self, raw: GraphOperator, kind: str):
        self.raw, self.kind = raw, kind

    @property
    def inputs(self) -> list[int]:
        """Numbers of the tensors that it reads; -1 for one that is left out."""
        return [int(tensor) for tensor in self.raw.inputs]

    @inputs.setter
    def inputs(self, tensors: Sequence[int]) -> None:
        """Make it read these tensors."""
        self.raw.inputs = np.array(tensors, np.int32)

    @property
    def outputs(self) -> list[int]:
        """Numbers of the tensors that it writes."""
        return [int(tensor) for tensor in self.raw.outputs]

    @property
    def options(self) -> Any:
        """The schema's object with the settings of this kind, such as `axis` of a GATHER."""
        return self.raw.builtinOptions


class GraphEditor:
    """One graph of a decoded model.

    Reading needs no more than `GraphEditor(model)`. Edits of operators are collected in a `with` block and made at its end, so that a loop
    over `operators` may edit. Operators whose results nobody reads afterwards are removed then. Tensors and operator codes stay, since a
    file refers to them by number; `compact` removes the unused ones.

    Only for trusted files, see `graph_reader` for any others.

    Args:
        model: The model, see `kerasbert.export.tflite.model.decode`.
        graph: The number of the graph.
    """

    def __init__(self, model: Model, graph: int = 0):
        self.model, self.graph = model, model.subgraphs[graph]
        kinds = operator_kinds(model)
        self._operators = [Operator(raw, kinds[raw.opcodeIndex]) for raw in self.graph.operators]
        self._edits: dict[Operator, list[Operator]] = {}  # an operator and what stands in its place
        self._producers = {tensor: operator for operator in self._operators for tensor in operator.outputs}
        self._had_readers = self._read(self._operators)

    # -- reading --------------------------------------------------------------------------------------------------------------------------

    def operators(self, *kinds: str) -> list[Operator]:
        """Return the operators of these kinds in the order of execution; all without kinds."""
        return [operator for operator in self._operators if not kinds or operator.kind in kinds]

    @property
    def inputs(self) -> list[int]:
        """Numbers of the graph's inputs."""
        return [int(tensor) for tensor in self.graph.inputs]

    @property
    def outputs(self) -> list[int]:
        """Numbers of the graph's outputs."""
        return [int(tensor) for tensor in self.graph.outputs]

    def producer(self, tensor: int) -> Operator | None:
        """Return the operator that writes a tensor; None for an input or a constant."""
        return self._producers.get(tensor)

    def tensor(self, number: int) -> GraphTensor:
        """Return the schema's object of a tensor."""
        return self.graph.tensors[number]

    def name(self, tensor: int) -> str:
        """Return the tensor's name."""
        return self.tensor(tensor).name.decode("utf-8")

    def has_type(self, tensor: int, *types: str) -> bool:
        """Tell whether a tensor has one of these types of the schema, such as `FLOAT32`."""
        return self.tensor(tensor).type in [getattr(schema().TensorType, name) for name in types]

    def constant(self, tensor: int) -> np.ndarray:
        """Return the values of a constant of whole bytes, in its shape; empty for a tensor that is computed."""
        info = self.tensor(tensor)
        types = schema().TensorType
        dtypes = {types.FLOAT32: np.float32, types.FLOAT16: np.float16, types.INT8: np.int8, types.INT32: np.int32}
        data = self.model.buffers[info.buffer].data
        if data is None or len(data) == 0:
            return np.empty(0, dtypes[info.type])
        return np.ascontiguousarray(data, np.uint8).view(dtypes[info.type]).reshape(info.shape)

    # -- tensors --------------------------------------------------------------------------------------------------------------------------

    def add_tensor(self, like: int | GraphTensor, name: str, shape: Sequence[int] | None = None) -> int:
        """Add a computed tensor with the type and the scale of another one, and return its number.

        Args:
            like: The other tensor.
            name: Its name.
            shape: Its shape; None for that of the other one.
        """
        new = copy.copy(self.tensor(like) if isinstance(like, int) else like)
        if shape is not None:
            new.shape, new.shapeSignature = np.array(shape, np.int32), None
        new.name, new.buffer = name.encode(), 0
        self.graph.tensors.append(new)
        return len(self.graph.tensors) - 1

    def add_constant(self, name: str, values: np.ndarray, scale: np.ndarray | None = None) -> int:
        """Add a constant of int32 and return its number.

        Args:
            name: Its name.
            values: Its values.
            scale: The scale of each value of a quantized one.
        """
        constant = schema().TensorT()
        constant.type, constant.shape = schema().TensorType.INT32, np.array(values.shape, np.int32)
        if scale is not None:
            constant.quantization = schema().QuantizationParametersT()
            constant.quantization.scale = scale.astype(np.float32)
            constant.quantization.zeroPoint = np.zeros(len(scale), np.int64)
        number = self.add_tensor(constant, name)
        self.set_values(number, values)
        return number

    def set_values(self, tensor: int, values: np.ndarray) -> None:
        """Make a tensor a constant in a buffer of its own."""
        self.tensor(tensor).buffer = add_buffer(self.model, values)

    def free(self, *buffers: int) -> None:
        """Empty those of these buffers that no tensor reads."""
        for unused in set(buffers) - {tensor.buffer for graph in self.model.subgraphs for tensor in graph.tensors}:
            self.model.buffers[unused].data = None

    # -- operators ------------------------------------------------------------------------------------------------------------------------

    def operator(
        self, kind: str, inputs: Sequence[int], outputs: Sequence[int], version: int = 1, **options: Any
    ) -> Operator:
        """Create an operator. It is no part of the graph before it is inserted.

        Args:
            kind: The builtin operator's name in the schema, such as `CONV_2D`.
            inputs: Numbers of the tensors that it reads.
            outputs: Numbers of the tensors that it writes.
            version: The lowest version of the operator that computes it.
            options: Settings of this kind under the schema's names.
        """
        raw, settings = schema().OperatorT(), f"{kind.title().replace('_', '')}Options"
        raw.opcodeIndex = self._code(kind, version)
        if hasattr(schema().BuiltinOptions, settings):  # some kinds have none
            raw.builtinOptionsType = getattr(schema().BuiltinOptions, settings)
            raw.builtinOptions = getattr(schema(), f"{settings}T")()
        raw.inputs, raw.outputs = np.array(inputs, np.int32), np.array(outputs, np.int32)
        for name, value in options.items():
            setattr(raw.builtinOptions, name, value)
        return Operator(raw, kind)

    def like(self, operator: Operator, inputs: Sequence[int], outputs: Sequence[int]) -> Operator:
        """Create a copy of an operator with other inputs and outputs."""
        raw = copy.copy(operator.raw)
        raw.builtinOptions = copy.copy(raw.builtinOptions)
        raw.inputs, raw.outputs = np.array(inputs, np.int32), np.array(outputs, np.int32)
        return Operator(raw, operator.kind)

    def set_version(self, operators: Sequence[Operator], version: int) -> None:
        """Give operators of one kind a code of their own with this version."""
        if operators:
            code = add_code(self.model, getattr(schema().BuiltinOperator, operators[0].kind), version)
            for operator in operators:
                operator.raw.opcodeIndex = code

    def append(self, *new: Operator) -> None:
        """Append operators at the end of the graph."""
        self._operators.extend(new)

    def insert_before(self, operator: Operator, *new: Operator) -> None:
        """Insert operators before another one, behind those that were inserted there already."""
        place = self._edits.setdefault(operator, [operator])
        place[place.index(operator) : place.index(operator)] = new

    def insert_after(self, operator: Operator, *new: Operator) -> None:
        """Insert operators behind another one."""
        self._edits.setdefault(operator, [operator]).extend(new)

    def replace(self, operator: Operator, *new: Operator) -> None:
        """Put operators in the place of another one; none removes it."""
        place = self._edits.setdefault(operator, [operator])
        place[place.index(operator) : place.index(operator) + 1] = new

    def replace_uses(self, tensor: int, other: int) -> None:
        """Make everything that reads a tensor read another one: operators, outputs of the graph and its signatures."""
        for operator in self._current():
            if tensor in operator.inputs:
                operator.inputs = [other if each == tensor else each for each in operator.inputs]
        self._replace_ends("outputs", tensor, other)

    def replace_input(self, tensor: int, other: int) -> None:
        """Make a computed tensor an input of the graph and its signatures, in the place of another one."""
        self._replace_ends("inputs", tensor, other)

    def _replace_ends(self, side: str, tensor: int, other: int) -> None:
        setattr(self.graph, side, [other if each == tensor else each for each in getattr(self.graph, side)])
        for port in self._ports():
            if port.tensorIndex == tensor:
                port.tensorIndex = other

    # -- the end of the edits -------------------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is None:
            self.apply()

    def apply(self) -> None:
        """Make the collected edits, and remove the operators that nobody reads the results of from then on."""
        operators = self._current()
        while lost := self._without_readers(operators):
            operators = [each for each in operators if each not in lost]
        self._operators, self._edits, self._had_readers = operators, {}, self._read(operators)
        self._producers = {tensor: operator for operator in operators for tensor in operator.outputs}
        self.graph.operators = [operator.raw for operator in operators]

    def compact(self) -> None:
        """Remove unused tensors and operator codes of a model with one graph: an old runtime refuses a newer operator by its code alone."""
        graph, ports = self.graph, self._ports()
        used = {*graph.inputs, *graph.outputs, *(port.tensorIndex for port in ports)}
        used |= {tensor for each in graph.operators for tensor in (*each.inputs, *each.outputs) if tensor >= 0}
        blocks = [
            tensor.quantization.details
            for tensor in graph.tensors
            if tensor.quantization and tensor.quantization.details
        ]
        used |= {details.scales for details in blocks}  # of blocks of inputs
        numbers = {tensor: index for index, tensor in enumerate(sorted(map(int, used)))} | {-1: -1}
        graph.tensors = [graph.tensors[tensor] for tensor in sorted(used)]
        for holder in (graph, *graph.operators):
            holder.inputs = [numbers[int(tensor)] for tensor in holder.inputs]
            holder.outputs = [numbers[int(tensor)] for tensor in holder.outputs]
        for port in ports:
            port.tensorIndex = numbers[int(port.tensorIndex)]
        for details in blocks:
            details.scales = numbers[int(details.scales)]
        codes = sorted({operator.opcodeIndex for operator in graph.operators})
        self.model.operatorCodes = [self.model.operatorCodes[code] for code in codes]
        for operator in graph.operators:
            operator.opcodeIndex = codes.index(operator.opcodeIndex)

    def _current(self) -> list[Operator]:
        return [new for operator in self._operators for new in self._edits.get(operator, [operator])]

    def _read(self, operators: Sequence[Operator]) -> set[int]:
        return {*self.outputs, *(tensor for operator in operators for tensor in operator.inputs)}

    def _without_readers(self, operators: Sequence[Operator]) -> set[Operator]:
        """Return the operators whose results nobody reads any more."""
        read = self._read(operators)
        return {each for each in operators if self._had_readers & {*each.outputs} and not read & {*each.outputs}}

    def _ports(self) -> list[Any]:
        return [port for signature in self.model.signatureDefs for port in (*signature.inputs, *signature.outputs)]

    def _code(self, kind: str, version: int) -> int:
        """Return the number of an operator code of at least this version; adds one if the model has none."""
        builtin = getattr(schema().BuiltinOperator, kind)
        for number, code in enumerate(self.model.operatorCodes):
            if max(code.builtinCode, code.deprecatedBuiltinCode) == builtin and code.version >= version:
                return number
        return add_code(self.model, builtin, version)


def graphs_of(model: Model) -> list[GraphEditor]:
    """Return every graph of a model: the first one, and those of its loops."""
    return [GraphEditor(model, index) for index in range(len(model.subgraphs))]


def operators_of(graphs: Iterable[GraphEditor], *kinds: str) -> Iterator[tuple[GraphEditor, Operator]]:
    """Yield the operators of these kinds, each with its graph, in the order of execution; all without kinds."""
    for graph in graphs:
        for operator in graph.operators(*kinds):
            yield graph, operator
