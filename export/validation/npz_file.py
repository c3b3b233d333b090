"""Reads arrays from untrusted `.npz` archives: every number is checked against the file before memory is taken for it.

The formats: a zip archive with a `.npy` file for each array; that is a magic string, a version, the header's length and the header, a
Python dict of dtype, order and shape, then the numbers. Source: `numpy/lib/format.py`.
"""

import ast
import math
import os
import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.files.read_limits import ReadBudget

_MAGIC = b"\x93NUMPY"
_LENGTHS = {(1, 0): "<H", (2, 0): "<I", (3, 0): "<I"}  # of the header, by version
_MAX_HEADER, _MAX_DIMENSIONS, _MAX_MEMBERS = 10_000, 32, 10_000
_BLOCK = 1 << 20
_BROKEN = (OSError, ValueError, EOFError, RuntimeError, KeyError, struct.error, zlib.error, zipfile.BadZipFile)


def read_npz(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """Read the arrays of an archive by name, numbers and texts; no pickle is read.

    Raises:
        KerasBertError: When the file is missing or no such archive, a header does not fit the member's size, an array holds objects, or
            more memory is needed than `read_limits` allows.
    """
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            return _arrays(path, archive)
    except FileNotFoundError:
        raise _bad(path, "no such file") from None
    except KerasBertError:
        raise
    except _BROKEN as error:
        raise _bad(path, f"{type(error).__name__}: {error}") from error


def _arrays(path: Path, archive: zipfile.ZipFile) -> dict[str, np.ndarray]:
    members, budget, arrays = archive.infolist(), ReadBudget.of_file(path), {}
    if len(members) > _MAX_MEMBERS:
        raise _bad(path, f"{len(members):,} members")
    for member in members:
        name = member.filename.removesuffix(".npy")
        if name == member.filename or name in arrays:
            raise _bad(
                path, f"a member {member.filename[:100]!r}{' twice' if name in arrays else ', which is no .npy'}"
            )
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise _bad(path, f"{member.filename[:100]!r} in a compression that NumPy does not write")
        budget.charge(member.file_size)
        with archive.open(member) as file:
            arrays[name] = _array(f"{path}: {name[:100]}", file, member.file_size)
    return arrays


def _array(where: str, file: IO[bytes], size: int) -> np.ndarray:
    start = file.read(8)
    version = (start[6], start[7]) if len(start) == 8 else None
    if version is None or start[:6] != _MAGIC or version not in _LENGTHS:
        raise _bad(where, "a member that is no .npy")
    width = struct.calcsize(_LENGTHS[version])
    (length,) = struct.unpack(_LENGTHS[version], file.read(width))
    if length > _MAX_HEADER:
        raise _bad(where, f"a header of {length:,} bytes")
    dtype, fortran, shape = _header(where, file.read(length).decode("utf-8" if version == (3, 0) else "latin-1"))
    expected, received = math.prod(shape) * dtype.itemsize, size - 8 - width - length
    if expected != received:
        raise _bad(where, f"a header of {dtype} {shape} ({expected:,} bytes) before {received:,} bytes")
    data = bytearray()
    while block := file.read(_BLOCK):
        data += block
        if len(data) > expected:
            break
    if len(data) != expected:
        raise _bad(where, f"{len(data):,} bytes where {expected:,} were announced")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")


def _header(where: str, text: str) -> tuple[np.dtype, bool, tuple[int, ...]]:
    try:
        header = ast.literal_eval(text.strip())
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        raise _bad(where, "a header that is no Python dict") from None
    if not isinstance(header, dict) or set(header) != {"descr", "fortran_order", "shape"}:
        raise _bad(where, "a header without descr, fortran_order and shape alone")
    shape, fortran = header["shape"], header["fortran_order"]
    counts = isinstance(shape, tuple) and all(type(number) is int and 0 <= number < 2**63 for number in shape)
    if not counts or len(shape) > _MAX_DIMENSIONS or type(fortran) is not bool:
        raise _bad(where, f"the shape {str(shape)[:100]}")
    try:
        dtype = np.dtype(header["descr"]) if isinstance(header["descr"], str) else None
    except (TypeError, ValueError, SyntaxError, OverflowError):
        dtype = None
    if dtype is None or dtype.hasobject or dtype.kind not in "biufSU" or not dtype.itemsize:
        raise _bad(where, f"the type {str(header['descr'])[:100]}, neither numbers nor texts")
    return dtype, fortran, shape


def _bad(where: object, received: str) -> KerasBertError:
    return KerasBertError(f"{where}: expected an .npz archive of arrays, received {received}; save it with numpy.savez")
