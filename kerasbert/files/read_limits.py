"""Limit on the memory for reading one file, so that a small hostile file cannot exhaust the machine.

A file may always take a fixed multiple of its own size, so a user's own large files are read like small ones. One limit for all
readers applies below that, and to content that expands to more. An environment variable, which every message names, raises it.
"""

import os
from pathlib import Path

from kerasbert.errors import KerasBertError

VARIABLE = "KERASBERT_READ_MEMORY_MB"
DEFAULT_MB = 512
# The most compact rows ("a\tb\n") take about 50 bytes of memory for each of their own; text takes 2 to 5.
BYTES_PER_FILE_BYTE = 64


def read_memory() -> int:
    """Return the limit in bytes.

    Raises:
        KerasBertError: when the environment variable is not a positive whole number.
    """
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return DEFAULT_MB << 20
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text)):
        raise KerasBertError(
            f"expected {VARIABLE} as a positive whole number of megabytes, received {text!r}; correct or unset the variable"
        )
    return int(text) << 20


class ReadBudget:
    """Memory that reading a file may take: a multiple of the file's size, or the limit if that is more.

    Args:
        where: the file, for the error.
        size: its bytes on disk.

    Attributes:
        max_bytes: the bytes that it may take.
    """

    def __init__(self, where: object, size: int) -> None:
        self.max_bytes = max(read_memory(), BYTES_PER_FILE_BYTE * size)
        self._where, self._used = where, 0

    @classmethod
    def of_file(cls, path: str | os.PathLike) -> "ReadBudget":
        """Return the budget of a file; one without a known size, such as a pipe, counts as empty."""
        try:
            return cls(path, Path(path).stat().st_size)
        except (OSError, ValueError):
            return cls(path, 0)

    def charge(self, count: int) -> None:
        """Add `count` bytes to the memory in use.

        Raises:
            KerasBertError: when the sum exceeds the budget.
        """
        self._used += count
        if self._used > self.max_bytes:
            raise too_large_error(self._where, "more", self.max_bytes)


def too_large_error(where: object, received: str, max_bytes: int | None = None) -> KerasBertError:
    """Return the error for content that takes too much memory.

    Args:
        where: the file.
        received: the amount that it takes, in words.
        max_bytes: the limit, if not `read_memory()`.
    """
    return KerasBertError(
        f"{where}: expected content that takes at most {(max_bytes or read_memory()) >> 20:,} MB of memory, received {received}; "
        f"if you trust the file, set {VARIABLE} to a larger number"
    )
