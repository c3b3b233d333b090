"""How much memory reading one file may take, so that a small hostile file cannot fill the machine.

A file may always take a fixed multiple of its own size: large files of a user's own are read like small ones. Below that, and for what
unpacks to more, one limit holds for all readers. It is raised by an environment variable, which every message names.
"""

import os
from pathlib import Path

from kerasbert.errors import KerasBertError

VARIABLE = "KERASBERT_READ_MEMORY_MB"
DEFAULT_MB = 512
# The most compact rows ("a\tb\n") take about 50 bytes of memory for each of their own; text takes 2 to 5.
TIMES_ITS_SIZE = 64


def read_memory() -> int:
    """The limit in bytes. Raises KerasBertError where the environment variable is no positive whole number."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return DEFAULT_MB << 20
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text)):
        raise KerasBertError(f"expected {VARIABLE} as a positive whole number of megabytes, received {text!r}")
    return int(text) << 20


class ReadBudget:
    """What reading a file of `size` bytes may take: `size` times a constant, or the limit if that is more.

    Args:
      where: the file, for the message.
      size: its bytes on disk.

    Attributes:
      most: the bytes it may take.
    """

    def __init__(self, where: object, size: int):
        self.most = max(read_memory(), TIMES_ITS_SIZE * size)
        self._where, self._used = where, 0

    @classmethod
    def of_file(cls, path: str | os.PathLike) -> "ReadBudget":
        """The budget of a file; one whose size cannot be told (a pipe) has no bytes."""
        try:
            return cls(path, Path(path).stat().st_size)
        except (OSError, ValueError):
            return cls(path, 0)

    def charge(self, count: int) -> None:
        """Notes `count` bytes more. Raises KerasBertError when they are too many."""
        self._used += count
        if self._used > self.most:
            raise too_large(self._where, "more", self.most)


def too_large(where: object, received: str, most: int | None = None) -> KerasBertError:
    """The error about content that takes too much memory, to be raised. received: how much. most: the limit, if it is another one."""
    return KerasBertError(
        f"{where}: expected content that takes at most {(most or read_memory()) >> 20:,} MB of memory, received {received}; "
        f"if you trust the file, set {VARIABLE} to a larger number"
    )
