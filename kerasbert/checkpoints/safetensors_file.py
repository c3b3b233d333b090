"""Reader and writer for safetensors files: checked before reading, written atomically.

The format: 8 bytes with the header's length (unsigned, little-endian), a JSON header with each tensor's dtype, shape and byte range,
then the data without gaps. Source: the specification in the safetensors project's README.
"""

import json
import math
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from kerasbert.checkpoints.messages import mismatch, one_line, short_repr
from kerasbert.checkpoints.shards import read_shards
from kerasbert.files.atomic import atomic_file
from kerasbert.files.json_text import parse_json
from kerasbert.files.lfs_pointer import refuse_pointer

WEIGHTS_FILE = "model.safetensors"
INDEX_FILE = "model.safetensors.index.json"
MAX_HEADER_BYTES = 100_000_000  # the safetensors library's own limit

_ITEM_BYTES = {
    **{"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "BOOL": 1},
    **{"I64": 8, "I32": 4, "I16": 2, "I8": 1, "U64": 8, "U32": 4, "U16": 2, "U8": 1},
}
_MAX_DIMENSIONS = 32
_TRUNCATED = "the file is truncated, get it again"
_DAMAGED = "the file is damaged, get it again"


@dataclass(frozen=True)
class TensorRange:
    """Location of one tensor in a file.

    Attributes:
        name: its name.
        dtype: its dtype in the format's words, such as "BF16".
        shape: its shape.
        begin: offset of its first byte in the file.
        end: offset after its last byte.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def read_tensors(folder: str | os.PathLike) -> dict[str, np.ndarray]:
    """Read every tensor of a checkpoint folder, from `model.safetensors` or the shards of `model.safetensors.index.json`.

    Floating-point tensors become float32. Integers and booleans keep their dtypes.

    Raises:
        KerasBertError: when the files are missing, damaged or inconsistent.
    """
    folder = Path(folder)
    if (folder / WEIGHTS_FILE).is_file():
        return read_file(folder / WEIGHTS_FILE)
    if (folder / INDEX_FILE).is_file():
        return read_shards(folder / INDEX_FILE, ".safetensors", read_file)
    received = "a folder with neither" if folder.is_dir() else "no such folder"
    raise mismatch(folder, f"{WEIGHTS_FILE} or {INDEX_FILE} in it", received, "is this a checkpoint folder?")


def read_file(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """Read every tensor of one safetensors file; dtypes as in `read_tensors`.

    Raises:
        KerasBertError: when the file is missing or damaged.
    """
    path = Path(path)
    ranges = read_header(path)
    try:
        with safetensors.safe_open(path, framework="np") as file:
            return {
                # NumPy has no bfloat16, and the library's support depends on other packages that are imported.
                tensor.name: _read_bfloat16(path, tensor)
                if tensor.dtype == "BF16"
                else _as_float32(file.get_tensor(tensor.name))
                for tensor in ranges
            }
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise mismatch(path, "a safetensors file", one_line(error), _DAMAGED) from error


def write_tensors(
    path: str | os.PathLike, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str] | None = None
) -> None:
    """Write one safetensors file atomically.

    Args:
        path: the file.
        tensors: arrays by name.
        metadata: the file's metadata; `{"format": "pt"}` by default, which transformers requires.

    Raises:
        KerasBertError: when the file cannot be written, as on a full disk. An existing file is then unchanged.
    """
    # The library copies raw memory, so transposed views must become contiguous first.
    contiguous = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    metadata = {"format": "pt"} if metadata is None else dict(metadata)
    try:
        with atomic_file(path) as partial:
            safetensors.numpy.save_file(contiguous, partial, metadata=metadata)
    except (safetensors.SafetensorError, OSError) as error:
        raise mismatch(
            path, "a writable file", one_line(error), "check the disk and the folder's permissions"
        ) from error


def write_shards(folder: str | os.PathLike, tensors: Mapping[str, np.ndarray], max_bytes: int) -> None:
    """Write tensors as `model.safetensors`, or as several files of at most `max_bytes` of tensors with an index.

    Args:
        folder: the folder of the files, which exists.
        tensors: arrays by name. An array that is larger by itself has a file of its own.
        max_bytes: of the tensors in a file.

    Raises:
        KerasBertError: when a file cannot be written.
    """
    folder, shards = Path(folder), [{}]
    for name, tensor in tensors.items():
        if shards[-1] and sum(each.nbytes for each in shards[-1].values()) + tensor.nbytes > max_bytes:
            shards.append({})
        shards[-1][name] = tensor
    if len(shards) == 1:
        write_tensors(folder / WEIGHTS_FILE, tensors)
        return
    names = [f"model-{number:05}-of-{len(shards):05}.safetensors" for number in range(1, len(shards) + 1)]
    for name, shard in zip(names, shards, strict=True):
        write_tensors(folder / name, shard)
    index = {
        "metadata": {"total_size": sum(tensor.nbytes for tensor in tensors.values())},
        "weight_map": {tensor: name for name, shard in zip(names, shards, strict=True) for tensor in shard},
    }
    with atomic_file(folder / INDEX_FILE) as partial:
        partial.write_text(json.dumps(index, indent=2) + "\n", "ascii")


def read_header(path: str | os.PathLike) -> list[TensorRange]:
    """Read the locations of a file's tensors, in the order of their data and checked against the file's size.

    Raises:
        KerasBertError: when the file is missing, or its header violates the format.
    """
    path = Path(path)
    if not path.is_file():
        raise mismatch(path, "a safetensors file", "a folder" if path.is_dir() else "no such file", "check the path")
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(64)
            refuse_pointer(path, start)
            file.seek(8)
            length = _header_length(path, start[:8], size)
            text = file.read(length)
    except OSError as error:
        raise mismatch(path, "a readable file", one_line(error), "check the file's permissions") from error
    header = _parse_header(path, text)
    header.pop("__metadata__", None)
    ranges = [_tensor_range(path, name, entry, 8 + length) for name, entry in header.items()]
    ranges.sort(key=lambda tensor: (tensor.begin, tensor.end))
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


def _parse_header(path: Path, text: bytes) -> dict[str, Any]:
    header = parse_json(text, path, expected=f"a JSON header of {len(text)} bytes", unique_names=True)
    if not isinstance(header, dict):
        raise mismatch(path, "a JSON object as header", short_repr(header), _DAMAGED)
    return header


def _tensor_range(path: Path, name: str, entry: Any, data_start: int) -> TensorRange:
    where = f"{path}: tensor {short_repr(name)}"
    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= entry.keys():
        raise mismatch(where, "dtype, shape and data_offsets", short_repr(entry), _DAMAGED)
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _ITEM_BYTES:
        raise mismatch(where, f"a dtype of {', '.join(_ITEM_BYTES)}", short_repr(dtype), _DAMAGED)
    if not _are_counts(shape) or len(shape) > _MAX_DIMENSIONS:
        raise mismatch(where, f"a shape of at most {_MAX_DIMENSIONS} whole numbers", short_repr(shape), _DAMAGED)
    if not _are_counts(offsets) or len(offsets) != 2:
        raise mismatch(where, "two data_offsets", short_repr(offsets), _DAMAGED)
    expected, received = math.prod(shape) * _ITEM_BYTES[dtype], offsets[1] - offsets[0]
    if expected != received:
        raise mismatch(
            where,
            f"{short_repr(expected)} bytes for {dtype} {short_repr(shape)}",
            f"{received} in data_offsets",
            _DAMAGED,
        )
    return TensorRange(name, dtype, tuple(shape), data_start + offsets[0], data_start + offsets[1])


def _are_counts(numbers: Any) -> bool:
    return isinstance(numbers, list) and all(type(n) is int and 0 <= n < 2**63 for n in numbers)


def _check_coverage(path: Path, ranges: list[TensorRange], data_start: int, size: int) -> None:
    """The tensors must cover the data exactly once, from its first byte to the file's last."""
    position = data_start
    for tensor in ranges:
        if tensor.end > size:
            expected = f"tensor {short_repr(tensor.name)} to end at byte {tensor.end}"
            raise mismatch(path, expected, f"a file of {size} bytes", _TRUNCATED)
        if tensor.begin != position:
            cause = "it overlaps another" if tensor.begin < position else "there is a gap before it"
            expected = f"tensor {short_repr(tensor.name)} to begin at byte {position}"
            raise mismatch(path, expected, str(tensor.begin), cause)
        position = tensor.end
    if position != size:
        raise mismatch(path, f"the last tensor to end the file at byte {position}", f"a file of {size} bytes", _DAMAGED)


def _read_bfloat16(path: Path, tensor: TensorRange) -> np.ndarray:
    """A bfloat16 is the upper half of a float32."""
    halves = np.fromfile(path, "<u2", (tensor.end - tensor.begin) // 2, offset=tensor.begin)
    return (halves.astype(np.uint32) << 16).view(np.float32).reshape(tensor.shape)


def _as_float32(tensor: np.ndarray) -> np.ndarray:
    return tensor.astype(np.float32, copy=False) if tensor.dtype.kind == "f" else tensor
