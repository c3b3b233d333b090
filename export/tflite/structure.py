"""The parts of a `.tflite` file: operators, tensors, graphs and signatures; and its bytes.

The file is a FlatBuffer of TensorFlow Lite's schema (`schema.fbs`, version 3, identifier `TFL3`).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kerasbert.arguments import check_path
from kerasbert.console.numbers import format_bytes
from kerasbert.errors import KerasBertError
from kerasbert.files.lfs_pointer import refuse_pointer

IDENTIFIER = b"TFL3"
MOST_BYTES = 1 << 31


@dataclass(frozen=True)
class Quantization:
    """Affine quantization, real = scale * (q - zero_point).

    Attributes:
        scales: The number of scales, more than one when per-channel.
        axis: The axis of the channels.
        zero_points: The number of zero points.
        zeros: The smallest and the largest zero point.
        sound: Whether every scale is finite and not negative.
        block: The number of values that share a scale, where the scales are in a tensor of their own; 0 elsewhere.
        block_scales: The index of that tensor.
    """

    scales: int
    axis: int
    zero_points: int = 0
    zeros: tuple[int, int] = (0, 0)
    sound: bool = True
    block: int = 0
    block_scales: int = -1

    @property
    def per_channel(self) -> bool:
        """Whether each channel has its own scale."""
        return self.scales > 1


@dataclass(frozen=True)
class Tensor:
    """One tensor.

    Attributes:
        name: The tensor's name in the file.
        dtype: The element type in lower case, such as `float32` or `int4`.
        shape: The shape, with -1 for an axis that the caller may resize.
        stored_shape: The shape that the file was planned with.
        buffer: The index of its buffer.
        nbytes: Bytes in its buffer; 0 for a tensor that is computed.
        quantization: Scales and zero points, if it has any.
        variable: Whether it keeps its values from run to run.
        sparse: Whether its buffer holds fewer values than its shape.
    """

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
        """Whether the file stores its values."""
        return self.nbytes > 0

    @property
    def elements(self) -> int:
        """The number of its elements."""
        count = 1
        for dimension in self.stored_shape:
            count *= max(dimension, 0)
        return count


@dataclass(frozen=True)
class Operator:
    """One operator call.

    Attributes:
        name: The builtin name (`FULLY_CONNECTED`) or the custom code (`FlexErf`).
        version: The operator version.
        custom: Whether it is a custom operator.
        inputs: Indices of the tensors that it reads; -1 for an optional input that is left out.
        outputs: Indices of the tensors that it writes.
        options: Numeric options under the schema's names (`shrink_axis_mask`); `fused_activation_function` is a name.
    """

    name: str
    version: int
    custom: bool
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Mapping[str, int | float | bool | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Subgraph:
    """A graph. `inputs` and `outputs` are tensor indices."""

    name: str
    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()


@dataclass(frozen=True)
class Signature:
    """A named entry point.

    Attributes:
        name: The signature's key.
        subgraph: The index of its subgraph.
        inputs: Tensor indices in that subgraph by input name.
        outputs: Tensor indices in that subgraph by output name.
    """

    name: str
    subgraph: int
    inputs: dict[str, int]
    outputs: dict[str, int]


def load_bytes(path_or_bytes: str | os.PathLike | bytes) -> tuple[bytes, str]:
    """Load a `.tflite` file.

    Returns:
        Its bytes, and a name for messages.

    Raises:
        KerasBertError: when the file is missing, cannot be read, or lacks the TFL3 identifier.
    """
    name = check_identifier(path_or_bytes)
    if isinstance(path_or_bytes, bytes | bytearray | memoryview):
        return bytes(path_or_bytes), name
    try:
        return Path(path_or_bytes).read_bytes(), name
    except OSError as error:
        raise _unreadable(name, error) from error


def check_identifier(path_or_bytes: str | os.PathLike | bytes) -> str:
    """Check the first bytes of a `.tflite` file.

    Returns:
        A name for messages.

    Raises:
        KerasBertError: when the file is missing, cannot be read, or lacks the TFL3 identifier.
    """
    if isinstance(path_or_bytes, bytes | bytearray | memoryview):
        head, name = bytes(path_or_bytes[:8]), "the given bytes"
    else:
        path = Path(check_path(path_or_bytes, "the path of a .tflite file"))
        name = str(path)
        if not path.is_file():
            raise KerasBertError(f"expected a .tflite file, received {name}, which is {_kind(path)}; check the path")
        if path.stat().st_size > MOST_BYTES:
            raise KerasBertError(
                f"expected a .tflite file of at most {format_bytes(MOST_BYTES)}, the limit of a FlatBuffer, received {name} of "
                f"{format_bytes(path.stat().st_size)}; convert the model again"
            )
        try:
            with path.open("rb") as file:
                start = file.read(64)
        except OSError as error:
            raise _unreadable(name, error) from error
        refuse_pointer(name, start)
        head = start[:8]
    if head[4:] != IDENTIFIER:
        raise KerasBertError(
            f"expected a .tflite file (identifier TFL3 at byte 4), received {name} with {head[4:]!r} there; "
            "pass the output of `kerasbert convert`"
        )
    return name


def _unreadable(name: str, error: OSError) -> KerasBertError:
    return KerasBertError(
        f"expected a readable .tflite file, received {name} ({error.strerror}); check the path and its permissions"
    )


def _kind(path: Path) -> str:
    return "a folder" if path.is_dir() else "not there"
