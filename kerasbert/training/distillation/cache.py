"""A cache on disk of the teacher's tensors for each row of the training data."""

import hashlib
import json
import math
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kerasbert.console.output import note
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_folder
from kerasbert.files.json_text import read_json_object
from kerasbert.processors import Features

TYPES = ("float32", "float16")
_INDEX, _FORMAT = "index.json", 1
_BATCH = 32

TeacherArrays = Mapping[str, tuple[np.ndarray, tuple[int, ...]]]
"""Arrays `(rows * group, ...)` by name, each with its axes that count tokens."""


@dataclass(frozen=True)
class TensorLayout:
    """The layout of a tensor in its file.

    Attributes:
        name: The tensor's name, and the file's.
        shape: The shape of one row, `(group, ...)`; -1 for token axes, which have the length of the row's longest list.
    """

    name: str
    shape: tuple[int, ...]

    def row_shape(self, length: int) -> tuple[int, ...]:
        """Return the shape of a row of `length` tokens."""
        return tuple(length if size < 0 else size for size in self.shape)

    @property
    def per_token(self) -> bool:
        """True if the size grows with the length of a row."""
        return -1 in self.shape


class TeacherCache:
    """Teacher tensors on disk: one file a tensor, with its rows one after the other, without padding.

    The folder's name is a digest of everything that determines the content, so another teacher, other data or other objectives use another
    folder.

    Args:
        folder: The folder of the files.
        layouts: The tensors.
        lengths: Tokens of each row, `(rows,)`.
        kind: The type of the numbers, one of `TYPES`.

    Raises:
        KerasBertError: When a file is missing or has another size.
    """

    def __init__(self, folder: Path, layouts: Sequence[TensorLayout], lengths: np.ndarray, kind: str):
        self.folder, self.layouts, self.lengths = folder, tuple(layouts), lengths
        self._files: dict[str, np.ndarray] = {}
        self._offsets: dict[str, np.ndarray] = {}
        for layout in layouts:
            path, offsets = folder / f"{layout.name}.bin", _row_offsets(layout, lengths)
            if not path.is_file() or path.stat().st_size != int(offsets[-1]) * np.dtype(kind).itemsize:
                raise KerasBertError(
                    f"{path}: expected {int(offsets[-1])} numbers, received a damaged cache; delete {folder}"
                )
            self._files[layout.name] = np.memmap(path, kind, "r") if offsets[-1] else np.zeros(0, kind)
            self._offsets[layout.name] = offsets

    def read(self, rows: np.ndarray, length: int) -> dict[str, np.ndarray]:
        """Return the tensors of some rows by name, `(rows * group, ...)` float32, with zeros up to `length` tokens."""
        return {layout.name: self._read(layout, rows, length) for layout in self.layouts}

    def _read(self, layout: TensorLayout, rows: np.ndarray, length: int) -> np.ndarray:
        values = np.zeros((len(rows), *layout.row_shape(length)), np.float32)
        file, offsets = self._files[layout.name], self._offsets[layout.name]
        for position, row in enumerate(rows):
            shape = layout.row_shape(int(self.lengths[row]))
            values[(position, *map(slice, shape))] = file[offsets[row] : offsets[row + 1]].reshape(shape)
        return values.reshape(-1, *values.shape[2:])


def open_teacher_cache(
    folder: str | os.PathLike,
    key: Mapping[str, Any],
    features: Features,
    compute: Callable[[np.ndarray], TeacherArrays],
    kind: str = "float32",
    batch_size: int = _BATCH,
) -> TeacherCache:
    """Open the cache of the teacher's tensors, after writing it if there is none.

    The write is atomic.

    Args:
        folder: The folder of all caches.
        key: Settings that determine the content beside the features, JSON-able.
        features: The rows.
        compute: Maps row numbers to the teacher's tensors, padded to the longest of these rows.
        kind: The type of the numbers, one of `TYPES`.
        batch_size: Rows computed at once.

    Raises:
        KerasBertError: When the cache is damaged, the disk is too full, or a number is too large for `kind`.
    """
    key = {"format": _FORMAT, "kind": kind, "rows": features_digest(features), **key}
    path = Path(folder) / hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
    index = path / _INDEX
    if not index.is_file():
        _write_cache(path, features, compute, kind, batch_size, key)
    try:
        layouts = [TensorLayout(entry["name"], tuple(entry["shape"])) for entry in read_json_object(index)["tensors"]]
    except (KeyError, TypeError) as error:
        raise KerasBertError(f"{index}: expected the index of a cache, received {error!r}; delete {path}") from error
    return TeacherCache(path, layouts, features.lengths, kind)


def features_digest(features: Features) -> str:
    """Return sixteen hex digits of all token ids and types."""
    digest, tokens = hashlib.sha256(str(features.group).encode()), features.token_lists
    for ids, types in zip(tokens.input_ids, tokens.token_type_ids, strict=True):
        digest.update(np.array([len(ids), *ids, *types], np.int32).tobytes())
    return digest.hexdigest()[:16]


def _write_cache(
    path: Path,
    features: Features,
    compute: Callable[[np.ndarray], TeacherArrays],
    kind: str,
    batch_size: int,
    key: Mapping[str, Any],
) -> None:
    # Longest rows first: batches hold rows of similar length, and memory runs out in the first batch or never.
    order = np.argsort(-features.lengths, kind="stable")
    layouts = {name: _layout(name, values, token_axes) for name, values, token_axes in _row_arrays(compute, order[:1])}
    offsets = {name: _row_offsets(layout, features.lengths) for name, layout in layouts.items()}
    size = sum(int(ends[-1]) for ends in offsets.values()) * np.dtype(kind).itemsize
    _check_disk_space(path, size)
    per_token = sum(layout.per_token for layout in layouts.values())
    note(
        f"note: writing {size / 1e6:,.1f} MB of the teacher's tensors for {len(features):,} rows to {path}"
        + (f" ({per_token} of {len(layouts)} tensors are kept for each token)" if per_token else "")
    )
    with atomic_folder(path) as partial:
        files = {
            name: np.memmap(partial / f"{name}.bin", kind, "w+", shape=(int(offsets[name][-1]),)) for name in layouts
        }
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            for name, values, _ in _row_arrays(compute, rows):
                if np.abs(values).max(initial=0) > np.finfo(kind).max:
                    raise KerasBertError(
                        f"expected numbers within {kind} in {name} of the teacher, received larger ones; cache as float32"
                    )
                for row, row_values in zip(rows, values, strict=True):
                    unpadded = row_values[tuple(map(slice, layouts[name].row_shape(int(features.lengths[row]))))]
                    files[name][offsets[name][row] : offsets[name][row + 1]] = unpadded.reshape(-1)
        for file in files.values():
            file.flush()
        tensors = [{"name": layout.name, "shape": layout.shape} for layout in layouts.values()]
        (partial / _INDEX).write_text(json.dumps({**key, "tensors": tensors}, indent=2) + "\n", "utf-8")


def _row_arrays(
    compute: Callable[[np.ndarray], TeacherArrays], rows: np.ndarray
) -> Iterator[tuple[str, np.ndarray, tuple[int, ...]]]:
    """Name, values `(rows, group, ...)` and token axes of each tensor."""
    for name, (values, token_axes) in compute(rows).items():
        yield name, values.reshape(len(rows), -1, *values.shape[1:]), tuple(axis + 1 for axis in token_axes)


def _layout(name: str, values: np.ndarray, token_axes: tuple[int, ...]) -> TensorLayout:
    shape = tuple(-1 if axis in token_axes else size for axis, size in enumerate(values.shape) if axis)
    return TensorLayout(name, shape)


def _row_offsets(layout: TensorLayout, lengths: np.ndarray) -> np.ndarray:
    """The position in the file of each row's first number, and of the end, `(rows + 1,)` int64."""
    sizes = [math.prod(layout.row_shape(int(length))) for length in lengths]
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)


def _check_disk_space(path: Path, size: int) -> None:
    parent = next(folder for folder in path.absolute().parents if folder.exists())
    free = shutil.disk_usage(parent).free
    if size > free:
        raise KerasBertError(
            f"expected {size / 1e6:,.1f} MB of room for the teacher's tensors in {parent}, received {free / 1e6:,.1f} MB; "
            "free some, or train without a cache"
        )
