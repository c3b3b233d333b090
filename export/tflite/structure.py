"""The structure of a `.tflite` file: operators, tensors, signatures.

The file is a FlatBuffer of TensorFlow Lite's schema (`schema.fbs`, version 3, identifier `TFL3`). It may come from
anywhere, so every count and index is held against the file's own size before it is used.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kerasbert.console.numbers import format_bytes
from kerasbert.errors import KerasBertError

IDENTIFIER = b"TFL3"
MOST_BYTES = 1 << 31
_NUMPY = {name: name for name in ("float16", "float32", "int8", "int16", "int32", "int64", "uint8", "bool")}


@dataclass(frozen=True)
class Quantization:
    """Affine quantization, real = scale * (q - zero_point): `scales` scales, more than one when per-channel along
    `axis`. `zero_points`: how many, between `zeros`. `sound`: whether every scale is finite and not negative."""

    scales: int
    axis: int
    zero_points: int = 0
    zeros: tuple[int, int] = (0, 0)
    sound: bool = True

    @property
    def per_channel(self) -> bool:
        return self.scales > 1


@dataclass(frozen=True)
class Tensor:
    """One tensor. `shape` has -1 where the length may be resized; `stored_shape` is what the file was planned with. `variable`: it keeps
    its values from run to run. `sparse`: its buffer holds fewer values than its shape says."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    stored_shape: tuple[int, ...]
    buffer: int
    nbytes: int
    quantization: Quantization | None
    variable: bool = False
    sparse: bool = False

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
    """One operator call: builtin name (`FULLY_CONNECTED`) or the custom code (`FlexErf`), tensor indices (-1: none), and the numbers of
    its options by name, as the schema has them (`shrink_axis_mask`); `fused_activation_function` as its name."""

    name: str
    version: int
    custom: bool
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Mapping[str, int | float | bool | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Subgraph:
    """A graph; `inputs` and `outputs` are tensor indices."""

    name: str
    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()


@dataclass(frozen=True)
class Signature:
    """A named entry point: input and output name -> tensor index inside subgraph `subgraph`."""

    name: str
    subgraph: int
    inputs: dict[str, int]
    outputs: dict[str, int]


@dataclass(frozen=True)
class FileStructure:
    """What a `.tflite` file holds; `size` counts every byte of the file, packed metadata included. spans: where each buffer stands, as
    offset and bytes."""

    size: int
    subgraphs: tuple[Subgraph, ...]
    signatures: tuple[Signature, ...]
    spans: tuple[tuple[int, int], ...]
    data: bytes = field(repr=False, compare=False)

    def constant(self, tensor: Tensor) -> np.ndarray | None:
        """A constant tensor's values; None for one that is computed, or whose values are no whole bytes (int4)."""
        if not tensor.constant or tensor.dtype not in _NUMPY:
            return None
        start, size = self.spans[tensor.buffer]
        values = np.frombuffer(self.data, _NUMPY[tensor.dtype], size // np.dtype(_NUMPY[tensor.dtype]).itemsize, start)
        return values.reshape(tensor.stored_shape) if values.size == tensor.elements else None


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
            raise KerasBertError(f"expected a .tflite file, received {name}, which is {_kind(path)}; check the path")
        if path.stat().st_size > MOST_BYTES:
            raise KerasBertError(
                f"expected a .tflite file of at most {format_bytes(MOST_BYTES)}, what a FlatBuffer holds, received {name} of "
                f"{format_bytes(path.stat().st_size)}; convert the model again"
            )
        try:
            with path.open("rb") as file:
                head = file.read(8)
        except OSError as error:
            raise _unreadable(name, error) from error
    if head[4:] != IDENTIFIER:
        raise KerasBertError(
            f"expected a .tflite file (identifier TFL3 at byte 4), received {name} with {head[4:]!r} there; "
            "pass the output of `kerasbert convert`"
        )
    return name


def _unreadable(name: str, error: OSError) -> KerasBertError:
    return KerasBertError(f"expected a readable .tflite file, received {name} ({error.strerror})")


def _kind(path: Path) -> str:
    return "a folder" if path.is_dir() else "not there"
