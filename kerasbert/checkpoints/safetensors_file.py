"""Weights in the safetensors format: checked before they are read, written atomically.

The format: 8 bytes with the header's length (unsigned, little-endian), a JSON header that names each tensor's dtype,
shape and byte range, then the data without gaps. Source: the specification in the safetensors project's README.
"""

import math
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy

from kerasbert.checkpoints.messages import mismatch, one_line, shown
from kerasbert.checkpoints.shards import read_shards
from kerasbert.files.atomic import atomic_file
from kerasbert.files.json_text import parse_json

WEIGHTS_FILE = "model.safetensors"
INDEX_FILE = "model.safetensors.index.json"
MAX_HEADER_BYTES = 100_000_000  # the safetensors library's own limit

_ITEM_BYTES = {
    **{"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "BOOL": 1},
    **{"I64": 8, "I32": 4, "I16": 2, "I8": 1, "U64": 8, "U32": 4, "U16": 2, "U8": 1},
}
_MAX_DIMENSIONS = 32
_TRUNCATED = "the file is truncated, get it again"


@dataclass(frozen=True)
class TensorRange:
    """Where one tensor lies: its dtype as the file names it, its shape, and bytes [begin, end) of the file."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def read_tensors(folder: str | os.PathLike) -> dict[str, np.ndarray]:
    """Every tensor of a checkpoint folder, from `model.safetensors` or the shards of `model.safetensors.index.json`.

    Floating-point tensors come as float32 (bfloat16 and float16 widened), integers and booleans as they are.
    Raises KerasBertError when the files are missing, damaged, or disagree with each other.
    """
    folder = Path(folder)
    if (folder / WEIGHTS_FILE).is_file():
        return read_file(folder / WEIGHTS_FILE)
    if (folder / INDEX_FILE).is_file():
        return read_shards(folder / INDEX_FILE, ".safetensors", read_file)
    received = "a folder with neither" if folder.is_dir() else "no such folder"
    raise mismatch(folder, f"{WEIGHTS_FILE} or {INDEX_FILE} in it", received)


def read_file(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """Every tensor of one safetensors file; dtypes as in `read_tensors`.

    Raises KerasBertError when it is missing or damaged.
    """
    path = Path(path)
    ranges = read_header(path)
    try:
        with safetensors.safe_open(path, framework="np") as file:
            return {
                # NumPy itself has no bfloat16, so those are not left to what else happens to be imported.
                r.name: _read_bfloat16(path, r) if r.dtype == "BF16" else _as_float32(file.get_tensor(r.name))
                for r in ranges
            }
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise mismatch(path, "a safetensors file", one_line(error)) from error


def write_tensors(
    path: str | os.PathLike, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str] | None = None
) -> None:
    """Writes one safetensors file, atomically. `metadata` defaults to `{"format": "pt"}`, which transformers asks for.

    Raises KerasBertError when it cannot be written, as on a full disk; an existing file then stays as it was.
    """
    # The library copies raw memory, so a transposed view has to become contiguous first.
    contiguous = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    metadata = {"format": "pt"} if metadata is None else dict(metadata)
    try:
        with atomic_file(path) as partial:
            safetensors.numpy.save_file(contiguous, partial, metadata=metadata)
    except (safetensors.SafetensorError, OSError) as error:
        raise mismatch(path, "to write it", one_line(error), "check the disk and the folder's permissions") from error


def read_header(path: str | os.PathLike) -> list[TensorRange]:
    """The tensors that a file holds, in the order of their data, every number checked against the file's size.

    Raises KerasBertError, naming the file and the numbers, for whatever the format does not allow.
    """
    path = Path(path)
    if not path.is_file():
        raise mismatch(path, "a safetensors file", "a folder" if path.is_dir() else "no such file")
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = _header_length(path, file.read(8), size)
            text = file.read(length)
    except OSError as error:
        raise mismatch(path, "to read it", one_line(error)) from error
    header = _parse_header(path, text)
    header.pop("__metadata__", None)
    ranges = [_tensor_range(path, name, entry, 8 + length) for name, entry in header.items()]
    ranges.sort(key=lambda r: (r.begin, r.end))
    _check_coverage(path, ranges, 8 + length, size)
    return ranges


def _header_length(path: Path, first: bytes, size: int) -> int:
    if len(first) < 8:
        raise mismatch(path, "a safetensors file of at least 8 bytes", str(len(first)), _TRUNCATED)
    (length,) = struct.unpack("<Q", first)
    if length > MAX_HEADER_BYTES:
        raise mismatch(path, f"a header of at most {MAX_HEADER_BYTES} bytes", str(length), "not a safetensors file")
    if 8 + length > size:
        raise mismatch(path, f"8 bytes and a header of {length}", f"a file of {size}", _TRUNCATED)
    return length


def _parse_header(path: Path, text: bytes) -> dict:
    header = parse_json(text, path, expected=f"a JSON header of {len(text)} bytes", unique_names=True)
    if not isinstance(header, dict):
        raise mismatch(path, "a JSON object as header", shown(header))
    return header


def _tensor_range(path: Path, name: str, entry, data_start: int) -> TensorRange:
    where = f"{path}: tensor {shown(name)}"
    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= entry.keys():
        raise mismatch(where, "dtype, shape and data_offsets", shown(entry))
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _ITEM_BYTES:
        raise mismatch(where, f"a dtype of {', '.join(_ITEM_BYTES)}", shown(dtype))
    if not _are_counts(shape) or len(shape) > _MAX_DIMENSIONS:
        raise mismatch(where, f"a shape of at most {_MAX_DIMENSIONS} whole numbers", shown(shape))
    if not _are_counts(offsets) or len(offsets) != 2:
        raise mismatch(where, "two data_offsets", shown(offsets))
    expected, received = math.prod(shape) * _ITEM_BYTES[dtype], offsets[1] - offsets[0]
    if expected != received:
        raise mismatch(where, f"{shown(expected)} bytes for {dtype} {shown(shape)}", f"{received} in data_offsets")
    return TensorRange(name, dtype, tuple(shape), data_start + offsets[0], data_start + offsets[1])


def _are_counts(numbers) -> bool:
    return isinstance(numbers, list) and all(type(n) is int and 0 <= n < 2**63 for n in numbers)


def _check_coverage(path: Path, ranges: list[TensorRange], data_start: int, size: int) -> None:
    """The format wants the data covered once, from its first byte to the file's last."""
    reached = data_start
    for r in ranges:
        if r.end > size:
            expected = f"tensor {shown(r.name)} to end at byte {r.end}"
            raise mismatch(path, expected, f"a file of {size} bytes", _TRUNCATED)
        if r.begin != reached:
            fault = "it overlaps another" if r.begin < reached else "there is a gap before it"
            raise mismatch(path, f"tensor {shown(r.name)} to begin at byte {reached}", str(r.begin), fault)
        reached = r.end
    if reached != size:
        raise mismatch(path, f"the last tensor to end the file at byte {reached}", f"a file of {size} bytes")


def _read_bfloat16(path: Path, r: TensorRange) -> np.ndarray:
    """A bfloat16 is the upper half of a float32."""
    halves = np.fromfile(path, "<u2", (r.end - r.begin) // 2, offset=r.begin)
    return (halves.astype(np.uint32) << 16).view(np.float32).reshape(r.shape)


def _as_float32(tensor: np.ndarray) -> np.ndarray:
    return tensor.astype(np.float32, copy=False) if tensor.dtype.kind == "f" else tensor
