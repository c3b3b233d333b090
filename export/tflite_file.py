"""Reads the structure of a `.tflite` file: operators, tensors, signatures. Nothing is run.

The file is a FlatBuffer of TensorFlow Lite's schema (`schema.fbs`, version 3, identifier `TFL3`). It may come from
anywhere, so every count and index is held against the file's own size before it is used.
"""

import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kerasbert.errors import KerasBertError

IDENTIFIER = b"TFL3"
_MALFORMED = (struct.error, IndexError, TypeError, ValueError, OverflowError, AttributeError, UnicodeDecodeError)


@dataclass(frozen=True)
class Quantization:
    """Affine quantization, real = scale * (q - zero_point): `scales` scales, more than one when per-channel along
    `axis`."""

    scales: int
    axis: int

    @property
    def per_channel(self) -> bool:
        return self.scales > 1


@dataclass(frozen=True)
class Tensor:
    """One tensor. `shape` has -1 where the length may be resized; `stored_shape` is what the file was planned with."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    stored_shape: tuple[int, ...]
    buffer: int
    nbytes: int
    quantization: Quantization | None

    @property
    def constant(self) -> bool:
        return self.nbytes > 0

    @property
    def elements(self) -> int:
        count = 1
        for dimension in self.stored_shape:
            count *= max(dimension, 0)
        return count


@dataclass(frozen=True)
class Operator:
    """One operator call: builtin name (`FULLY_CONNECTED`) or the custom code (`FlexErf`), and tensor indices (-1:
    none)."""

    name: str
    version: int
    custom: bool
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class Subgraph:
    name: str
    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]


@dataclass(frozen=True)
class Signature:
    """A named entry point: input and output name -> tensor index inside subgraph `subgraph`."""

    name: str
    subgraph: int
    inputs: dict[str, int]
    outputs: dict[str, int]


@dataclass(frozen=True)
class TFLiteFile:
    """What a `.tflite` file holds; `size` counts every byte of the file, packed metadata included."""

    size: int
    subgraphs: tuple[Subgraph, ...]
    signatures: tuple[Signature, ...]
    buffer_sizes: tuple[int, ...]

    @classmethod
    def read(cls, path_or_bytes: str | os.PathLike | bytes) -> "TFLiteFile":
        """Parses a file or its bytes.

        Raises:
            KerasBertError: the file is missing, is not a `.tflite` file, or is damaged.
        """
        data, name = load_bytes(path_or_bytes)
        schema = _schema()
        try:
            return _Reader(schema, data, name).file()
        except KerasBertError:
            raise
        except _MALFORMED as error:
            raise _damaged(name, str(error)) from error


def load_bytes(path_or_bytes: str | os.PathLike | bytes) -> tuple[bytes, str]:
    """The bytes of a `.tflite` and a name for messages; rejects what does not carry the TFL3 identifier."""
    name = check_identifier(path_or_bytes)
    if isinstance(path_or_bytes, bytes | bytearray | memoryview):
        return bytes(path_or_bytes), name
    try:
        return Path(path_or_bytes).read_bytes(), name
    except OSError as error:
        raise _unreadable(name, error) from error


def check_identifier(path_or_bytes: str | os.PathLike | bytes) -> str:
    """Looks at the first bytes only. Returns a name for messages.

    Raises:
        KerasBertError: a file that is not there, cannot be read, or is not a `.tflite` file.
    """
    if isinstance(path_or_bytes, bytes | bytearray | memoryview):
        head, name = bytes(path_or_bytes[:8]), "the given bytes"
    else:
        path = Path(path_or_bytes)
        name = str(path)
        if not path.is_file():
            raise KerasBertError(f"Expected a .tflite file. Received: {name}, which is {_kind(path)}. Check the path.")
        try:
            with path.open("rb") as file:
                head = file.read(8)
        except OSError as error:
            raise _unreadable(name, error) from error
    if head[4:] != IDENTIFIER:
        raise KerasBertError(
            f"Expected a .tflite file (identifier TFL3 at byte 4). Received: {name} with {head[4:]!r} there. "
            "Pass the output of `kerasbert convert`."
        )
    return name


def _unreadable(name: str, error: OSError) -> KerasBertError:
    return KerasBertError(f"Expected a readable .tflite file. Received: {name} ({error.strerror}).")


def _kind(path: Path) -> str:
    return "a folder" if path.is_dir() else "not there"


def _damaged(name: str, detail: str) -> KerasBertError:
    return KerasBertError(
        f"Expected an intact .tflite file. Received: {name}, truncated or damaged ({detail or 'bad offset'}). Copy "
        "or convert it again."
    )


def _schema():
    """TFLite's generated FlatBuffer classes; LiteRT ships them, TensorFlow too, the old tflite-runtime does not."""
    try:
        from ai_edge_litert import schema_py_generated as schema
    except ImportError:
        try:
            from tensorflow.lite.python import schema_py_generated as schema
        except ImportError as error:
            raise KerasBertError(
                "Expected ai-edge-litert for reading a .tflite file's structure. Received: an environment without it. "
                "Install ai-edge-litert."
            ) from error
    return schema


class _Reader:
    """One pass over the FlatBuffer, with bounds."""

    def __init__(self, schema, data: bytes, name: str):
        self.schema, self.data, self.name = schema, data, name
        self.builtin_names = _names(schema.BuiltinOperator)
        self.dtype_names = {code: text.lower() for code, text in _names(schema.TensorType).items()}

    def file(self) -> TFLiteFile:
        model = self.schema.Model.GetRootAs(self.data, 0)
        buffers = tuple(self._buffer_size(b) for b in self._each(model.BuffersLength, model.Buffers))
        codes = [self._operator_code(c) for c in self._each(model.OperatorCodesLength, model.OperatorCodes)]
        subgraphs = tuple(self._subgraph(g, codes, buffers) for g in self._each(model.SubgraphsLength, model.Subgraphs))
        if not subgraphs:
            raise _damaged(self.name, "no subgraph")
        signatures = tuple(
            self._signature(s, subgraphs) for s in self._each(model.SignatureDefsLength, model.SignatureDefs)
        )
        return TFLiteFile(len(self.data), subgraphs, signatures, buffers)

    def _each(self, length: Callable[[], int], item: Callable[[int], object]) -> Iterator:
        """Items of a vector of tables; each entry takes at least four bytes, so a longer vector than that is a lie."""
        count = length()
        if not 0 <= count <= len(self.data) // 4:
            raise _damaged(self.name, f"a vector of {count} entries")
        return (item(index) for index in range(count))

    def _numbers(self, length: Callable[[], int], item: Callable[[int], int]) -> tuple[int, ...]:
        return tuple(int(value) for value in self._each(length, item))

    def _text(self, raw: bytes | None) -> str:
        return (raw or b"").decode("utf-8", errors="replace")

    def _buffer_size(self, buffer) -> int:
        """Bytes inside the vector, or, for files over 2 GB, behind the FlatBuffer at an offset."""
        offset, size = buffer.Offset(), buffer.Size()
        if offset > 1:
            if offset + size > len(self.data):
                raise _damaged(self.name, f"a buffer of {size} bytes at {offset}, past the end")
            return int(size)
        count = buffer.DataLength()
        if count:
            start = buffer._tab.Vector(buffer._tab.Offset(4))
            if start < 0 or start + count > len(self.data):
                raise _damaged(self.name, f"a buffer of {count} bytes, past the end")
        return int(count)

    def _operator_code(self, code) -> tuple[str, int, bool]:
        # Codes above 127 sit in a newer field; the older one-byte field holds the smaller codes of old files.
        builtin = max(int(code.BuiltinCode()), int(code.DeprecatedBuiltinCode()))
        name = self.builtin_names.get(builtin, f"BUILTIN_{builtin}")
        if name == "CUSTOM":
            return self._text(code.CustomCode()) or "unnamed custom operator", int(code.Version()), True
        return name, int(code.Version()), False

    def _subgraph(self, graph, codes: list[tuple[str, int, bool]], buffers: tuple[int, ...]) -> Subgraph:
        tensors = tuple(self._tensor(t, buffers) for t in self._each(graph.TensorsLength, graph.Tensors))
        operators = tuple(
            self._operator(o, codes, len(tensors)) for o in self._each(graph.OperatorsLength, graph.Operators)
        )
        return Subgraph(self._text(graph.Name()), tensors, operators)

    def _tensor(self, tensor, buffers: tuple[int, ...]) -> Tensor:
        stored = self._numbers(tensor.ShapeLength, tensor.Shape)
        shape = self._numbers(tensor.ShapeSignatureLength, tensor.ShapeSignature) or stored
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
            _quantization(tensor.Quantization()),
        )

    def _operator(self, operator, codes: list[tuple[str, int, bool]], tensors: int) -> Operator:
        index = operator.OpcodeIndex()
        if index >= len(codes):
            raise _damaged(self.name, f"operator code {index} of {len(codes)}")
        inputs = self._numbers(operator.InputsLength, operator.Inputs)
        outputs = self._numbers(operator.OutputsLength, operator.Outputs)
        if any(not -1 <= tensor < tensors for tensor in inputs + outputs):
            raise _damaged(self.name, f"an operator with a tensor outside 0..{tensors - 1}")
        name, version, custom = codes[index]
        return Operator(name, version, custom, inputs, outputs)

    def _signature(self, signature, subgraphs: tuple[Subgraph, ...]) -> Signature:
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


def _quantization(parameters) -> Quantization | None:
    if parameters is None or parameters.ScaleLength() == 0:
        return None
    return Quantization(int(parameters.ScaleLength()), int(parameters.QuantizedDimension()))


def _names(enumeration) -> dict[int, str]:
    return {value: name for name, value in vars(enumeration).items() if isinstance(value, int)}
