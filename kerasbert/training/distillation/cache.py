"""What a teacher says of each row of some data, kept on disk and read as it is asked for."""

import hashlib
import json
import math
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kerasbert.console.output import note
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_folder
from kerasbert.files.json_text import read_json_object
from kerasbert.processors import Features

TYPES = ("float32", "float16")
_INDEX, _FORMAT = "index.json", 1
_BATCH = 32


@dataclass(frozen=True)
class Layout:
    """How a tensor lies in its file. shape: of one row, (lists, ...), -1 for tokens: a row has as many as its longest list."""

    name: str
    shape: tuple[int, ...]

    def of_row(self, length: int) -> tuple[int, ...]:
        return tuple(length if size < 0 else size for size in self.shape)

    @property
    def per_token(self) -> bool:
        return -1 in self.shape


class TeacherCache:
    """One file a tensor, rows behind each other without padding, in a folder named after all that decides its content.

    Another teacher, other data or other objectives have another folder, so what is read is never of another training.
    """

    def __init__(self, folder: Path, layouts: Sequence[Layout], lengths: np.ndarray, kind: str):
        self.folder, self.layouts, self.lengths = folder, tuple(layouts), lengths
        self._files, self._starts = {}, {}
        for layout in layouts:
            path, starts = folder / f"{layout.name}.bin", _starts(layout, lengths)
            if not path.is_file() or path.stat().st_size != int(starts[-1]) * np.dtype(kind).itemsize:
                raise KerasBertError(
                    f"{path}: expected {int(starts[-1])} numbers, received a damaged cache; delete {folder}"
                )
            self._files[layout.name] = np.memmap(path, kind, "r") if starts[-1] else np.zeros(0, kind)
            self._starts[layout.name] = starts

    def read(self, rows: np.ndarray, length: int) -> dict[str, np.ndarray]:
        """Tensors of some rows by name, (rows * lists, ...) float32, padded with 0 to `length` tokens."""
        return {layout.name: self._read(layout, rows, length) for layout in self.layouts}

    def _read(self, layout: Layout, rows: np.ndarray, length: int) -> np.ndarray:
        found = np.zeros((len(rows), *layout.of_row(length)), np.float32)
        file, starts = self._files[layout.name], self._starts[layout.name]
        for place, row in enumerate(rows):
            shape = layout.of_row(int(self.lengths[row]))
            found[(place, *map(slice, shape))] = file[starts[row] : starts[row + 1]].reshape(shape)
        return found.reshape(-1, *found.shape[2:])


def teacher_cache(
    folder: str | os.PathLike,
    key: Mapping,
    rows: Features,
    compute: Callable[[np.ndarray], Mapping[str, tuple[np.ndarray, tuple[int, ...]]]],
    kind: str = "float32",
    batch_size: int = _BATCH,
) -> TeacherCache:
    """The cache of what a teacher says of `rows`; computed where there is none yet, and written whole or not at all.

    key: what else decides its content, JSON-able. compute: row numbers -> by name a tensor (n * lists, ...), padded to the longest of
    these rows, and those of its axes that count tokens. kind: of `TYPES`.

    Raises KerasBertError for a damaged cache, too little room on the disk, and numbers too large for `kind`.
    """
    key = {"format": _FORMAT, "kind": kind, "rows": rows_digest(rows), **key}
    place = Path(folder) / hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
    index = place / _INDEX
    if not index.is_file():
        _write(place, rows, compute, kind, batch_size, key)
    try:
        layouts = [Layout(entry["name"], tuple(entry["shape"])) for entry in read_json_object(index)["tensors"]]
    except (KeyError, TypeError) as error:
        raise KerasBertError(f"{index}: expected the index of a cache, received {error!r}; delete {place}") from error
    return TeacherCache(place, layouts, rows.lengths, kind)


def rows_digest(rows: Features) -> str:
    """Sixteen hex digits of all token ids and types."""
    digest = hashlib.sha256(str(rows.group).encode())
    for ids, types in zip(rows.tokens.input_ids, rows.tokens.token_type_ids, strict=True):
        digest.update(np.array([len(ids), *ids, *types], np.int32).tobytes())
    return digest.hexdigest()[:16]


def _write(place: Path, rows: Features, compute, kind: str, batch_size: int, key: Mapping) -> None:
    # Longest rows first: a batch holds rows of like length, and memory runs out at the start or never.
    order = np.argsort(-rows.lengths, kind="stable")
    layouts = [_layout(name, *found) for name, found in _of_rows(compute, order[:1])]
    size = sum(int(_starts(layout, rows.lengths)[-1]) for layout in layouts) * np.dtype(kind).itemsize
    _check_room(place, size)
    tokens = sum(layout.per_token for layout in layouts)
    note(
        f"note: writing {size / 1e6:,.1f} MB of the teacher's tensors for {len(rows):,} rows to {place}"
        + (f" ({tokens} of {len(layouts)} tensors are kept for each token)" if tokens else "")
    )
    with atomic_folder(place) as partial:
        files = {
            layout.name: _allocated(partial / f"{layout.name}.bin", layout, rows.lengths, kind) for layout in layouts
        }
        for start in range(0, len(order), batch_size):
            index = order[start : start + batch_size]
            for name, (values, _) in _of_rows(compute, index):
                _store(
                    files[name],
                    next(layout for layout in layouts if layout.name == name),
                    values,
                    index,
                    rows.lengths,
                    kind,
                )
        for file, _ in files.values():
            file.flush()
        tensors = [{"name": layout.name, "shape": layout.shape} for layout in layouts]
        (partial / _INDEX).write_text(json.dumps({**key, "tensors": tensors}, indent=2) + "\n", "utf-8")


def _of_rows(compute, index: np.ndarray) -> Iterator[tuple[str, tuple[np.ndarray, tuple[int, ...]]]]:
    """Tensors of rows by name, (rows, lists, ...), and their token axes in that shape."""
    for name, (values, axes) in compute(index).items():
        yield name, (values.reshape(len(index), -1, *values.shape[1:]), tuple(axis + 1 for axis in axes))


def _layout(name: str, values: np.ndarray, token_axes: tuple[int, ...]) -> Layout:
    return Layout(name, tuple(-1 if axis in token_axes else size for axis, size in enumerate(values.shape) if axis))


def _starts(layout: Layout, lengths: np.ndarray) -> np.ndarray:
    """Where each row begins in the file, and where the last one ends, in numbers; (rows + 1,) int64."""
    sizes = [math.prod(layout.of_row(int(length))) for length in lengths]
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)


def _allocated(path: Path, layout: Layout, lengths: np.ndarray, kind: str):
    starts = _starts(layout, lengths)
    return np.memmap(path, kind, "w+", shape=(int(starts[-1]),)), starts


def _store(target, layout: Layout, values: np.ndarray, index: np.ndarray, lengths: np.ndarray, kind: str) -> None:
    file, starts = target
    if np.abs(values).max(initial=0) > np.finfo(kind).max:
        raise KerasBertError(
            f"expected numbers within {kind} in {layout.name} of the teacher, received larger ones; cache as float32"
        )
    for place, row in enumerate(index):
        kept = values[place][tuple(map(slice, layout.of_row(int(lengths[row]))))]
        file[starts[row] : starts[row + 1]] = kept.reshape(-1)


def _check_room(place: Path, size: int) -> None:
    parent = next(folder for folder in place.absolute().parents if folder.exists())
    free = shutil.disk_usage(parent).free
    if size > free:
        raise KerasBertError(
            f"expected {size / 1e6:,.1f} MB of room for the teacher's tensors in {parent}, received {free / 1e6:,.1f} MB; "
            "free some, or train without a cache"
        )
