"""The file of an index, `.kbindex`, as Python, Kotlin and JavaScript read and write it. Its form is in `docs/concepts/index-file.md`.

All numbers are little-endian. The file begins with `KBSI` and the version, uint32 each. Sections follow: a tag of four letters, the CRC-32
of the content, its bytes as uint64, the content, and zeros up to a multiple of 8. `INFO` is the first, `DONE` with the number of rows the
last. `PROJ` has the projection, if there is one. Each `ROWS` has up to 65,536 rows.
"""

import io
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file
from kerasbert.retrieval.rows import Rows
from kerasbert.retrieval.stored_vectors import BIT, INT8, StoredVectors

ENDING = ".kbindex"
MAGIC, VERSION = b"KBSI", 2
_ALIGNMENT = 8
_HEAD = struct.Struct("<4sIQ")  # tag, checksum, bytes
_MOST_ROWS, _MOST_BYTES = 1 << 16, 1 << 27  # of a section; Kotlin and JavaScript hold one in an array
_MOST_DIMENSIONS = 1 << 14
_BITS = {INT8: 8, BIT: 1}


@dataclass(frozen=True)
class IndexInfo:
    """What the vectors of an index are.

    Attributes:
        model: The name of the vectors, see `vectors_name`; those of another name cannot be compared with them.
        opened_as: The name or path under which the model was opened.
        model_dimensions: Numbers in a vector of the model.
        dimensions: Numbers in a vector of the index.
        form: `int8` or `bit`.
        chunk: The most tokens of a text; 0 for whole texts.
        overlap: Tokens with which a text repeats the end of the one before it, at most.
    """

    model: str
    opened_as: str
    model_dimensions: int
    dimensions: int
    form: str
    chunk: int
    overlap: int


def write_index(path: str | os.PathLike, info: IndexInfo, projection: np.ndarray | None, rows: Rows) -> None:
    """Write an index; a file of that name is replaced whole.

    Args:
        path: The file.
        info: What the vectors are.
        projection: float32 `(model_dimensions, dimensions)`, or None.
        rows: The rows.
    """
    with atomic_file(path) as partial, partial.open("wb") as file:
        file.write(MAGIC + struct.pack("<I", VERSION))
        _write_section(file, b"INFO", _info_bytes(info))
        if projection is not None:
            _write_section(file, b"PROJ", np.ascontiguousarray(projection, "<f4").tobytes())
        for part in rows.parts(_MOST_ROWS, _MOST_BYTES):
            _write_section(file, b"ROWS", _rows_bytes(part, info.form))
        _write_section(file, b"DONE", struct.pack("<Q", len(rows)))


def read_index(path: str | os.PathLike) -> tuple[IndexInfo, np.ndarray | None, Rows]:
    """Read an index.

    Args:
        path: The file.

    Returns:
        What the vectors are, the projection or None, and the rows.

    Raises:
        KerasBertError: When it is another file, damaged, or of another version.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            return _read(file, os.fstat(file.fileno()).st_size)
    except OSError as error:
        raise KerasBertError(
            f"expected an index of kerasbert index, received {str(path)!r} ({error.strerror}); check the path"
        ) from error
    except _DamagedError as error:
        raise KerasBertError(
            f"expected an index of kerasbert index, received {str(path)!r}, {error}; build it again"
        ) from error


class _DamagedError(Exception):
    """What is wrong with a file."""


def _read(file: BinaryIO, size: int) -> tuple[IndexInfo, np.ndarray | None, Rows]:
    start = file.read(_ALIGNMENT)
    if start[:4] != MAGIC:
        raise _DamagedError("which is another file")
    if len(start) < _ALIGNMENT:
        raise _DamagedError("which was cut short")
    if (version := int.from_bytes(start[4:], "little")) != VERSION:
        # The first version had big-endian numbers.
        version = min(version, int.from_bytes(start[4:], "big"))
        raise _DamagedError(f"of version {version}, where this program reads {VERSION}")
    info = projection = None
    parts: list[Rows] = []
    for tag, content in _sections(file, size):
        if (tag == b"INFO") != (info is None):
            raise _DamagedError("which is damaged")
        try:
            if info is None:
                info = _info_of(content)
            elif tag == b"PROJ" and projection is None and not parts:
                projection = _projection_of(content, info)
            elif tag == b"ROWS":
                parts.append(_rows_of(content, info))
            elif tag == b"DONE":
                if struct.unpack("<Q", content)[0] != sum(map(len, parts)) or file.read(1):
                    raise _DamagedError("which is damaged")
                if projection is None and info.dimensions != info.model_dimensions:
                    raise _DamagedError("which is damaged")
                return info, projection, _all_of(parts, info)
            else:
                raise _DamagedError("which is damaged")
        except (struct.error, ValueError, IndexError) as error:
            raise _DamagedError("which is damaged") from error
    raise _DamagedError("which was cut short")


def _sections(file: BinaryIO, size: int) -> Iterator[tuple[bytes, bytes]]:
    while head := file.read(_HEAD.size):
        if len(head) < _HEAD.size:
            raise _DamagedError("which was cut short")
        tag, checksum, length = _HEAD.unpack(head)
        padding = -length % _ALIGNMENT
        if length + padding > size - file.tell():  # nothing is allocated for what the file does not have
            raise _DamagedError("which was cut short")
        content = file.read(length)
        if zlib.crc32(content) != checksum or any(file.read(padding)):
            raise _DamagedError("which is damaged")
        yield tag, content


def _write_section(file: BinaryIO, tag: bytes, content: bytes) -> None:
    file.write(_HEAD.pack(tag, zlib.crc32(content), len(content)))
    file.write(content)
    file.write(bytes(-len(content) % _ALIGNMENT))


def _info_bytes(info: IndexInfo) -> bytes:
    texts = b"".join(
        struct.pack("<I", len(text)) + text for text in (info.model.encode("utf-8"), info.opened_as.encode("utf-8"))
    )
    numbers = info.model_dimensions, info.dimensions, _BITS[info.form], info.chunk, info.overlap
    return texts + struct.pack("<5I", *numbers)


def _info_of(content: bytes) -> IndexInfo:
    stream, texts = io.BytesIO(content), []
    for _ in range(2):
        (length,) = struct.unpack("<I", stream.read(4))
        text = stream.read(length)
        if len(text) < length:
            raise _DamagedError("which is damaged")
        texts.append(text.decode("utf-8"))
    model_dimensions, dimensions, bits, chunk, overlap = struct.unpack("<5I", stream.read())
    form = {number: name for name, number in _BITS.items()}.get(bits)
    if form is None or not 1 <= dimensions <= model_dimensions <= _MOST_DIMENSIONS:
        raise _DamagedError("which is damaged")
    return IndexInfo(texts[0], texts[1], model_dimensions, dimensions, form, chunk, overlap)


def _projection_of(content: bytes, info: IndexInfo) -> np.ndarray:
    projection = np.frombuffer(content, "<f4").reshape(info.model_dimensions, info.dimensions)
    if not np.isfinite(projection).all():
        raise _DamagedError("which is damaged")
    return projection


def _rows_bytes(rows: Rows, form: str) -> bytes:
    names = [name.encode("utf-8") for name in rows.names]
    values = rows.vectors.values
    stored = values if form == INT8 else np.packbits(values > 0, axis=1, bitorder="little")
    parts = [
        struct.pack("<II", len(rows), len(names)),
        rows.documents.astype("<u4").tobytes(),
        rows.starts.astype("<u4").tobytes(),
        rows.ends.astype("<u4").tobytes(),
        rows.vectors.scales.astype("<f4").tobytes(),
        rows.checksums.astype("<u4").tobytes(),
        np.cumsum([len(name) for name in names]).astype("<u4").tobytes(),
        np.ascontiguousarray(stored).tobytes(),
        rows.texts,
        *names,
    ]
    return b"".join(parts)


def _rows_of(content: bytes, info: IndexInfo) -> Rows:
    count, documents = struct.unpack_from("<II", content)
    width = info.dimensions if info.form == INT8 else -(-info.dimensions // 8)
    if not 1 <= documents <= count or len(content) < 8 + count * (16 + width) + 8 * documents:
        raise _DamagedError("which is damaged")
    place = 8

    def numbers(kind: str, many: int) -> np.ndarray:
        nonlocal place
        found = np.frombuffer(content, kind, many, place)
        place += found.nbytes
        return found

    of_document, starts, ends = (numbers("<u4", count).astype(np.int64) for _ in range(3))
    scales = numbers("<f4", count)
    checksums, name_ends = (numbers("<u4", documents) for _ in range(2))
    stored = numbers("i1" if info.form == INT8 else "u1", count * width).reshape(count, width)
    if info.form == BIT:
        bits = np.unpackbits(stored.view(np.uint8), axis=1, count=info.dimensions, bitorder="little")
        stored = bits.astype(np.int8) * 2 - 1
    names_start = place + int(ends[-1])
    well_formed = (
        (np.diff(ends, prepend=0) >= 0).all()
        and (np.diff(name_ends.astype(np.int64), prepend=0) >= 0).all()
        and names_start + int(name_ends[-1]) == len(content)
        and of_document.max() < documents
        and (np.isfinite(scales) & (scales >= 0)).all()
    )
    if not well_formed:
        raise _DamagedError("which is damaged")
    texts, names = content[place:names_start], content[names_start:]
    bounds = [0, *name_ends.tolist()]
    decoded = tuple(names[start:end].decode("utf-8") for start, end in zip(bounds, bounds[1:], strict=False))
    texts.decode("utf-8")
    behind = np.frombuffer(texts, np.uint8)[ends[ends < len(texts)]]
    if (behind & 0xC0 == 0x80).any():  # a text ends within a character
        raise _DamagedError("which is damaged")
    if len(set(decoded)) < len(decoded):
        raise _DamagedError("which is damaged")
    return Rows(StoredVectors(stored, scales), of_document.astype(np.int32), starts, ends, texts, decoded, checksums)


def _all_of(parts: list[Rows], info: IndexInfo) -> Rows:
    """Return the rows of all sections, each array joined once."""
    if len(parts) < 2:
        return parts[0] if parts else Rows.none(info.dimensions)
    return Rows.all_of(parts)
