"""Reader for files of `torch.save`, without PyTorch and without running the pickle inside.

There are two formats. Since PyTorch 1.6 it is a zip archive without compression: `data.pkl`, which describes the tensors, `byteorder`,
and `data/<key>` for each storage. The older format is a stream of pickles (magic number, protocol, system, description, storage keys),
followed by the storages, each after its number of elements (8 bytes). Source: `torch/serialization.py`.
"""

import os
import struct
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from kerasbert.checkpoints.messages import first_three, mismatch, one_line, pluralize, short_repr
from kerasbert.checkpoints.restricted_unpickler import MAX_PICKLE_BYTES, Storage, TensorView, brief_repr, read_pickle
from kerasbert.checkpoints.shards import read_shards
from kerasbert.errors import KerasBertError
from kerasbert.files.lfs_pointer import refuse_pointer

WEIGHTS_FILE = "pytorch_model.bin"
INDEX_FILE = "pytorch_model.bin.index.json"

_ZIP_START = b"PK\x03\x04"
_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_PROTOCOL = 1001
_DAMAGED = "the file is damaged, get it again"
_DTYPES = {
    **{"F32": "f4", "F16": "f2", "BF16": "u2", "F64": "f8"},
    **{"I64": "i8", "I32": "i4", "I16": "i2", "I8": "i1", "U8": "u1", "BOOL": "u1"},
}


def read_tensors(folder: str | os.PathLike) -> dict[str, np.ndarray]:
    """Read every tensor of a folder's `pytorch_model.bin`, or of the shards of `pytorch_model.bin.index.json`.

    Floating-point tensors become float32, which is exact for float16 and bfloat16. Integers and booleans keep their dtypes. Tensors
    that share memory in the file share it here. All arrays are read-only.

    Raises:
        KerasBertError: when the files are missing, damaged or inconsistent, or hold anything but tensors.
    """
    folder = Path(folder)
    if (folder / WEIGHTS_FILE).is_file():
        return read_file(folder / WEIGHTS_FILE)
    if (folder / INDEX_FILE).is_file():
        return read_shards(folder / INDEX_FILE, ".bin", read_file)
    raise mismatch(
        folder, f"{WEIGHTS_FILE} or {INDEX_FILE} in it", "a folder with neither", "is this a checkpoint folder?"
    )


def read_file(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """Read every tensor of one file of either format; dtypes as in `read_tensors`.

    Raises:
        KerasBertError: when the file is missing or damaged, or holds anything but tensors.
    """
    path = Path(path)
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(64)
            refuse_pointer(path, start)
            file.seek(0)
            return _read_zip(path, file, size) if start.startswith(_ZIP_START) else _read_legacy(path, file, size)
    except KerasBertError:
        raise
    except (OSError, ValueError, EOFError, RuntimeError, struct.error, zipfile.BadZipFile) as error:
        raise mismatch(path, "a file of torch.save", one_line(error), _DAMAGED) from error


def _read_zip(path: Path, file: BinaryIO, size: int) -> dict[str, np.ndarray]:
    with zipfile.ZipFile(file) as archive:
        members = _check_members(path, archive, size)
        root = _find_root(path, members)
        description = archive.read(members[f"{root}/data.pkl"])
        views = _check_views(path, read_pickle(path, BytesIO(description), len(description)))
        order = _byte_order(path, archive.read(f"{root}/byteorder") if f"{root}/byteorder" in members else b"little")
        storages = {}
        for storage in _storages(path, views):
            member = members.get(f"{root}/data/{storage.key}")
            expected = storage.count * storage.kind.item_bytes
            if member is None or member.file_size != expected:
                received = "none" if member is None else f"{member.file_size} bytes"
                raise mismatch(path, f"storage {short_repr(storage.key)} of {expected} bytes", received, _DAMAGED)
            storages[storage] = _decode(storage, archive.read(member), order)
    return {name: _make_array(view, storages[view.storage]) for name, view in views.items()}


def _check_members(path: Path, archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """The members by name. torch.save does not compress, so all members together cannot be larger than the file."""
    members = {}
    for member in archive.infolist():
        if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
            raise mismatch(
                path,
                "an archive without compression",
                f"{short_repr(member.filename)} compressed",
                "save it again with torch.save",
            )
        if member.filename in members:
            raise mismatch(path, "each member once", f"{short_repr(member.filename)} twice", _DAMAGED)
        members[member.filename] = member
    total = sum(member.file_size for member in members.values())
    if total > size:
        raise mismatch(path, f"members of at most {size} bytes, the file's size", str(total), _DAMAGED)
    return members


def _find_root(path: Path, members: dict[str, zipfile.ZipInfo]) -> str:
    """The top folder of the archive, which has the file's name at the time of writing."""
    roots = [name.removesuffix("/data.pkl") for name in members if name.endswith("/data.pkl") and name.count("/") == 1]
    if len(roots) != 1:
        raise mismatch(path, "one data.pkl in the archive", str(len(roots)), "it is not a file of torch.save")
    if members[f"{roots[0]}/data.pkl"].file_size > MAX_PICKLE_BYTES:
        received = str(members[f"{roots[0]}/data.pkl"].file_size)
        raise mismatch(path, f"a data.pkl of at most {MAX_PICKLE_BYTES} bytes", received, _DAMAGED)
    return roots[0]


def _byte_order(path: Path, text: bytes) -> str:
    orders = {b"little": "<", b"big": ">"}
    if text not in orders:
        raise mismatch(path, "the byte order little or big", short_repr(text), _DAMAGED)
    return orders[text]


def _read_legacy(path: Path, file: BinaryIO, size: int) -> dict[str, np.ndarray]:
    _check_legacy_start(path, file, size)
    views = _check_views(path, read_pickle(path, file, size - file.tell()))
    keys = read_pickle(path, file, size - file.tell())
    by_key = {storage.key: storage for storage in _storages(path, views)}
    if type(keys) is not list or not all(type(key) is str for key in keys) or sorted(keys) != sorted(by_key):
        raise mismatch(path, f"a list of {pluralize(by_key, 'storage')}, each once", brief_repr(keys), _DAMAGED)
    storages = {by_key[key]: _read_legacy_storage(path, file, by_key[key], size) for key in keys}
    if file.tell() != size:
        raise mismatch(path, f"its last storage to end at byte {size}", str(file.tell()), _DAMAGED)
    return {name: _make_array(view, storages[view.storage]) for name, view in views.items()}


def _check_legacy_start(path: Path, file: BinaryIO, size: int) -> None:
    if file.read(10).startswith(b"version ht"):
        raise mismatch(path, "a file of torch.save", "a Git LFS pointer to one", "fetch it with `git lfs pull`")
    file.seek(0)
    try:
        magic = read_pickle(path, file, size)
    except KerasBertError:
        magic = None
    if magic != _LEGACY_MAGIC or type(magic) is not int:
        raise mismatch(
            path,
            "a file of torch.save",
            "neither its zip archive nor its older format",
            "is this a PyTorch checkpoint?",
        )
    protocol, system = (read_pickle(path, file, size - file.tell()) for _ in range(2))
    if protocol != _LEGACY_PROTOCOL:
        raise mismatch(
            path, f"protocol {_LEGACY_PROTOCOL}", brief_repr(protocol), "save it again with a current PyTorch"
        )
    if not isinstance(system, dict) or system.get("little_endian") is not True:
        raise mismatch(
            path, "a file from a little-endian machine", brief_repr(system), "save it again in the zip format"
        )


def _read_legacy_storage(path: Path, file: BinaryIO, storage: Storage, size: int) -> np.ndarray:
    count = int.from_bytes(file.read(8), "little")
    expected = storage.count * storage.kind.item_bytes
    if count != storage.count:
        raise mismatch(path, f"storage {short_repr(storage.key)} of {storage.count} numbers", str(count), _DAMAGED)
    if expected > size - file.tell():
        received = str(size - file.tell())
        raise mismatch(
            path, f"{expected} bytes of storage {short_repr(storage.key)}", received, "the file is truncated"
        )
    return _decode(storage, file.read(expected), "<")


def _check_views(path: Path, description: Any) -> dict[str, TensorView]:
    if type(description) is not dict:
        raise mismatch(
            path,
            "a dict of tensors by name",
            short_repr(type(description).__name__),
            "save the model's state_dict() alone",
        )
    foreign = [
        str(name) for name, value in description.items() if type(name) is not str or type(value) is not TensorView
    ]
    if foreign:
        advice = "save the model's state_dict() alone"
        raise mismatch(path, "a dict of tensors by name", f"something else at {first_three(foreign)}", advice)
    return description


def _storages(path: Path, views: dict[str, TensorView]) -> set[Storage]:
    """The storages in use. torch.save writes each with one kind; reading one repeatedly would take more memory than the file."""
    storages = {view.storage for view in views.values()}
    if len({storage.key for storage in storages}) != len(storages):
        raise mismatch(path, "one kind and size for each storage", f"{len(storages)} views of fewer storages", _DAMAGED)
    return storages


def _decode(storage: Storage, data: bytes, order: str) -> np.ndarray:
    """The storage's elements, floating-point ones as float32. Done once for each storage; tensors are views of the result."""
    numbers = np.frombuffer(data, np.dtype(order + _DTYPES[storage.kind.name]))
    if storage.kind.name == "BF16":  # the upper half of a float32
        numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
    elif numbers.dtype.kind == "f":
        numbers = numbers.astype(np.float32, copy=False)
    elif storage.kind.name == "BOOL":
        numbers = numbers != 0
    else:
        numbers = numbers.astype(numbers.dtype.newbyteorder("="), copy=False)
    numbers.flags.writeable = False
    return numbers


def _make_array(view: TensorView, numbers: np.ndarray) -> np.ndarray:
    # The view is checked against its storage, and the storage against the file. The stride of an axis of length 1 is never used and
    # may be any number.
    axes = zip(view.shape, view.strides, strict=True)
    strides = tuple(stride * numbers.itemsize if length > 1 and 0 not in view.shape else 0 for length, stride in axes)
    return np.lib.stride_tricks.as_strided(numbers[view.offset :], view.shape, strides, writeable=False)
