"""Tensors in a file with a checksum, which tells a damaged file from a whole one."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kerasbert.checkpoints.safetensors_file import read_file, write_tensors
from kerasbert.errors import KerasBertError

_CHECKSUM = "sha256"


def write_checked(path: str | os.PathLike, tensors: Mapping[str, np.ndarray]) -> None:
    """Write tensors and their checksum atomically.

    Args:
        path: The file.
        tensors: Arrays by name.
    """
    digest = np.frombuffer(_digest(tensors), np.uint8)
    write_tensors(Path(path), {**tensors, _CHECKSUM: digest})


def read_checked(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """Read the tensors of `write_checked`.

    Args:
        path: The file.

    Returns:
        The tensors by name.

    Raises:
        KerasBertError: When the file is damaged.
    """
    tensors = read_file(Path(path))
    digest = tensors.pop(_CHECKSUM, None)
    if digest is None or digest.tobytes() != _digest(tensors):
        received = "one without it" if digest is None else "other content"
        raise KerasBertError(
            f"{path}: expected a file as it was written, by its checksum, received {received}; restore it, or start again with --overwrite"
        )
    return tensors


def _digest(tensors: Mapping[str, np.ndarray]) -> bytes:
    """Return the SHA-256 of names, types, shapes and values."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        values = np.asarray(tensors[name], order="C")
        if values.dtype.kind not in "biu":
            values = values.astype(np.float32)  # as floats are read
        digest.update(f"{name} {values.dtype.str} {values.shape}\n".encode())
        digest.update(values.tobytes())
    return digest.digest()
