"""Reads the graphs of a FlatBuffer of unknown origin: every count and offset is checked against the file's size."""

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.tflite.graph_faults import find_fault
from kerasbert.export.tflite.structure import (
    Operator,
    Quantization,
    Signature,
    Subgraph,
    Tensor,
)
from kerasbert.export.tflite.verifier import verify

_MALFORMED = (struct.error, IndexError, TypeError, ValueError, OverflowError, AttributeError, UnicodeDecodeError)

NO_INPUTS = {"CALL_ONCE", "HASHTABLE", "VAR_HANDLE"}
NO_OUTPUTS = {"CALL_ONCE", "ASSIGN_VARIABLE", "HASHTABLE_IMPORT"}
# Runtimes do not count the inputs of these operators, or rules read the second one.
TWO_INPUTS = {"BATCH_MATMUL", "FULLY_CONNECTED", "GATHER"}
FIRST_OPTIONAL_INPUT = {
    "FULLY_CONNECTED": 2, "CONV_2D": 2, "DEPTHWISE_CONV_2D": 2, "CONV_3D": 2, "TRANSPOSE_CONV": 3, "SVDF": 3, "LSTM": 1,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": 1, "BIDIRECTIONAL_SEQUENCE_LSTM": 1, "BIDIRECTIONAL_SEQUENCE_RNN": 1,
}  # fmt: skip


Graphs: TypeAlias = tuple[tuple[Subgraph, ...], tuple[Signature, ...], tuple[tuple[int, int], ...]]


def read_graphs(content: bytes, name: str) -> Graphs:
    """Parse the FlatBuffer of a file.

    Args:
        content: The bytes of the file.
        name: The file's name in messages.

    Returns:
        The graphs, the entry points, and offset and size of each buffer in bytes.

    Raises:
        KerasBertError: When the file is damaged, and when neither ai-edge-litert nor TensorFlow is installed.
    """
    schema = _installed_schema()
    if schema is None:
        raise KerasBertError(
            "expected ai-edge-litert for reading a .tflite file's structure, received an environment without it; "
            "install ai-edge-litert"
        )
    try:
        verify(content)
        return _Reader(schema, content, name).graphs()
    except KerasBertError:
        raise
    except _MALFORMED as error:
        raise _damaged(name, str(error)) from error


def _damaged(name: str, detail: str) -> KerasBertError:
    return KerasBertError(
        f"expected an intact .tflite file, received {name}, truncated or damaged ({detail or 'bad offset'}); copy "
        "or convert it again"
    )


def check_structure(content: bytes, name: str = "the given bytes") -> Graphs | None:
    """Verify a file before it is run, because runtimes crash on some damaged files.

    An environment with tflite-runtime alone lacks the schema. There only the offsets are verified.

    Args:
        content: The bytes of the file.
        name: The file's name in messages.

    Returns:
        What `read_graphs` returns; None where tflite-runtime alone is installed.

    Raises:
        KerasBertError: when the file is damaged.
    """
    if not has_schema():
        try:
            verify(content)
        except ValueError as error:
            raise _damaged(name, str(error)) from error
        return None
    subgraphs, signatures, _ = graphs = read_graphs(content, name)
    if fault := find_fault(subgraphs, signatures):
        raise _damaged(name, fault)
    return graphs


def has_schema() -> bool:
    """Tell whether TFLite's FlatBuffer classes are installed, which reading graphs needs."""
    return _installed_schema() is not None


def _installed_schema() -> Any:
    """Return the module of TFLite's generated FlatBuffer classes, or None: the old tflite-runtime does not ship them."""
    try:
        from ai_edge_litert import schema_py_generated as schema
    except ImportError:
        try:
            from tensorflow.lite.python import schema_py_generated as schema
        except ImportError:
            return None
    return schema


class _Reader:
    """One pass over the FlatBuffer that checks every count and index."""

    def __init__(self, schema: Any, data: bytes, name: str):
        self.schema, self.data, self.name = schema, data, name
        self.entries = 0
        self.builtin_names = _names(schema.BuiltinOperator)
        self.option_names = _names(schema.BuiltinOptions)
        self.activation_names = _names(schema.ActivationFunctionType)
        self.dtype_names = {code: text.lower() for code, text in _names(schema.TensorType).items()}

    def graphs(self) -> Graphs:
        model = self.schema.Model.GetRootAs(self.data, 0)
        spans = tuple(self._span(b) for b in self._each(model.BuffersLength, model.Buffers))
        buffers = tuple(size for _, size in spans)
        codes = [self._operator_code(c) for c in self._each(model.OperatorCodesLength, model.OperatorCodes)]
        subgraphs = tuple(self._subgraph(g, codes, buffers) for g in self._each(model.SubgraphsLength, model.Subgraphs))
        if not subgraphs:
            raise _damaged(self.name, "no subgraph")
        signatures = tuple(
            self._signature(s, subgraphs) for s in self._each(model.SignatureDefsLength, model.SignatureDefs)
        )
        return subgraphs, signatures, spans

    def _each(self, length: Callable[[], int], item: Callable[[int], object]) -> Iterator:
        """Iterate over a vector of tables.

        An entry takes at least four bytes, which bounds the length of a vector. The total is bounded too: a hostile file may store many
        vectors at one place, which would take forever to read.
        """
        count = length()
        self.entries += max(count, 0)
        if not 0 <= count <= len(self.data) // 4 or self.entries > len(self.data):
            raise _damaged(self.name, f"a vector of {count} entries")
        return (item(index) for index in range(count))

    def _numbers(self, length: Callable[[], int], values: Callable[[], np.ndarray]) -> tuple[int, ...]:
        """Read a vector of numbers, with the same bounds as a vector of tables."""
        self._each(length, lambda index: index)
        return tuple(values().tolist()) if length() else ()

    def _text(self, raw: bytes | None) -> str:
        return (raw or b"").decode("utf-8", errors="replace")

    def _span(self, buffer: Any) -> tuple[int, int]:
        """Return offset and size of a buffer: inside its vector, or, in files over 2 GB, behind the FlatBuffer."""
        start, size = int(buffer.Offset()), int(buffer.Size())
        if start <= 1:
            size = int(buffer.DataLength())
            start = int(buffer._tab.Vector(buffer._tab.Offset(4))) if size else 0
        if start < 0 or start + size > len(self.data):
            raise _damaged(self.name, f"a buffer of {size} bytes at {start}, past the end")
        return start, size

    def _operator_code(self, code: Any) -> tuple[str, int, bool]:
        # A newer field holds codes above 127. The older one-byte field holds the smaller codes of old files.
        builtin = max(int(code.BuiltinCode()), int(code.DeprecatedBuiltinCode()))
        name = self.builtin_names.get(builtin, f"BUILTIN_{builtin}")
        if name == "CUSTOM":
            return self._text(code.CustomCode()) or "unnamed custom operator", int(code.Version()), True
        return name, int(code.Version()), False

    def _subgraph(self, graph: Any, codes: list[tuple[str, int, bool]], buffers: tuple[int, ...]) -> Subgraph:
        tensors = tuple(self._tensor(t, buffers) for t in self._each(graph.TensorsLength, graph.Tensors))
        operators = tuple(
            self._operator(o, codes, len(tensors)) for o in self._each(graph.OperatorsLength, graph.Operators)
        )
        inputs = self._numbers(graph.InputsLength, graph.InputsAsNumpy)
        outputs = self._numbers(graph.OutputsLength, graph.OutputsAsNumpy)
        if any(not 0 <= tensor < len(tensors) for tensor in inputs + outputs):
            raise _damaged(self.name, f"a graph that starts or ends with a tensor outside 0..{len(tensors) - 1}")
        return Subgraph(self._text(graph.Name()), tensors, operators, inputs, outputs)

    def _tensor(self, tensor: Any, buffers: tuple[int, ...]) -> Tensor:
        stored = self._numbers(tensor.ShapeLength, tensor.ShapeAsNumpy)
        shape = self._numbers(tensor.ShapeSignatureLength, tensor.ShapeSignatureAsNumpy) or stored
        if any(size < 0 for size in stored):
            raise _damaged(self.name, f"a tensor of the shape {stored}")
        buffer = int(tensor.Buffer())
        if buffer >= len(buffers):
            raise _damaged(self.name, f"buffer {buffer} of {len(buffers)}")
        dtype = self.dtype_names.get(tensor.Type(), f"type_{tensor.Type()}")
        return Tensor(
            self._text(tensor.Name()),
            dtype,
            shape,
            stored,
            buffer,
            buffers[buffer],
            self._quantization(tensor.Quantization()),
            bool(tensor.IsVariable()),
            tensor.Sparsity() is not None,
        )

    def _quantization(self, parameters: Any) -> Quantization | None:
        if parameters is None:
            return None
        if parameters.DetailsType() != self.schema.QuantizationDetails.BlockwiseQuantization:
            return _quantization(parameters)
        details, table = self.schema.BlockwiseQuantization(), parameters.Details()
        if table is None:
            raise _damaged(self.name, "scales of blocks that are not there")
        details.Init(table.Bytes, table.Pos)
        return Quantization(0, 0, block=int(details.BlockSize()), block_scales=int(details.Scales()))

    def _operator(self, operator: Any, codes: list[tuple[str, int, bool]], tensors: int) -> Operator:
        index = operator.OpcodeIndex()
        if index >= len(codes):
            raise _damaged(self.name, f"operator code {index} of {len(codes)}")
        start, size = int(operator.LargeCustomOptionsOffset()), int(operator.LargeCustomOptionsSize())
        if start > 1 and start + size > len(self.data):
            raise _damaged(self.name, f"custom options of {size} bytes at {start}, past the end")
        inputs = self._numbers(operator.InputsLength, operator.InputsAsNumpy)
        outputs = self._numbers(operator.OutputsLength, operator.OutputsAsNumpy)
        if any(not -1 <= tensor < tensors for tensor in inputs + outputs):
            raise _damaged(self.name, f"an operator with a tensor outside 0..{tensors - 1}")
        name, version, custom = codes[index]
        if not custom and (missing := _missing_tensor(name, inputs, outputs)):
            raise _damaged(self.name, f"an operator {name} without {missing}")
        return Operator(name, version, custom, inputs, outputs, self._options(operator))

    def _options(self, operator: Any) -> Mapping[str, int | float | bool | str]:
        """Return the numeric options of an operator by name."""
        table, kind = operator.BuiltinOptions(), self.option_names.get(operator.BuiltinOptionsType())
        if table is None or kind is None or not hasattr(self.schema, f"{kind}T"):
            return {}
        packed = getattr(self.schema, kind)()
        packed.Init(table.Bytes, table.Pos)
        fields = vars(getattr(self.schema, f"{kind}T").InitFromObj(packed))
        options: dict[str, Any] = {
            _snake_case(key): value for key, value in fields.items() if isinstance(value, int | float)
        }
        if "fused_activation_function" in options:
            activation = options["fused_activation_function"]
            options["fused_activation_function"] = self.activation_names.get(activation, f"activation {activation}")
        return options

    def _signature(self, signature: Any, subgraphs: tuple[Subgraph, ...]) -> Signature:
        subgraph = int(signature.SubgraphIndex())
        if subgraph >= len(subgraphs):
            raise _damaged(self.name, f"a signature of subgraph {subgraph}")
        inputs = {
            self._text(m.Name()): int(m.TensorIndex()) for m in self._each(signature.InputsLength, signature.Inputs)
        }
        outputs = {
            self._text(m.Name()): int(m.TensorIndex()) for m in self._each(signature.OutputsLength, signature.Outputs)
        }
        if any(index >= len(subgraphs[subgraph].tensors) for index in [*inputs.values(), *outputs.values()]):
            raise _damaged(self.name, "a signature of a tensor that is not there")
        return Signature(self._text(signature.SignatureKey()), subgraph, inputs, outputs)


def _missing_tensor(name: str, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> str:
    """Names a required tensor that a builtin operator lacks: runtimes read it without checking, and crash."""
    if name not in NO_OUTPUTS and -1 in (outputs or (-1,)):
        return "an output"
    if name not in NO_INPUTS and -1 in (inputs[: FIRST_OPTIONAL_INPUT.get(name)] or (-1,)):
        return "an input"
    if name in TWO_INPUTS and len(inputs) < 2:
        return "a second input"
    return ""


def _quantization(parameters: Any) -> Quantization | None:
    if parameters.ScaleLength() == 0:
        return None
    scales, count = parameters.ScaleAsNumpy(), int(parameters.ZeroPointLength())
    zeros = parameters.ZeroPointAsNumpy() if count else np.zeros(1, np.int64)
    sound = bool(np.isfinite(scales).all() and (scales >= 0).all())
    zero_range = (int(zeros.min()), int(zeros.max()))
    return Quantization(len(scales), int(parameters.QuantizedDimension()), count, zero_range, sound)


def _names(enumeration: type) -> dict[int, str]:
    return {value: name for name, value in vars(enumeration).items() if isinstance(value, int)}


def _snake_case(name: str) -> str:
    """Return `shrink_axis_mask` for `shrinkAxisMask`."""
    return re.sub("([A-Z])", r"_\1", name).lower()
