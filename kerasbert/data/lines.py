"""The text of data files, gzip-compressed or not: line by line or whole, with bounds on what a small hostile file can unpack to."""

import contextlib
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from kerasbert.errors import KerasBertError
from kerasbert.files.read_limits import VARIABLE, ReadBudget, read_memory

# What a line costs once it is a row, in bytes beside its own: a list, and a string a cell.
_ROW = 200
_COPIES = 3  # of a line, while it becomes cells
_LINES_IN_MEMORY = 16  # a line may take this part of the limit
_BLOCK = 1 << 20


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yields (line number from 1 on, line with its end) of a UTF-8 text file with or without BOM, gzip-compressed if it ends in `.gz`.

    Raises:
      KerasBertError: a file that cannot be read, not UTF-8, broken gzip, a line of more than 32 MB, or a compressed file of which the
        lines take more memory than `read_limits` allows.
    """
    longest = read_memory() // _LINES_IN_MEMORY
    with _opened(path) as (file, budget):
        number = 0
        while line := file.readline(longest + 1):
            number += 1
            if len(line) > longest:
                raise KerasBertError(
                    f"{path}, line {number}: expected a line of at most {longest >> 20:,} MB, received a longer one; if you trust the "
                    f"file, set {VARIABLE} to {_LINES_IN_MEMORY} times its megabytes"
                )
            if budget is not None:
                budget.charge(_ROW + _COPIES * len(line))
            text = _decoded(path, line, number)
            yield number, text.removeprefix("\ufeff") if number == 1 else text


def read_whole(path: Path) -> str:
    """All text of such a file. Raises KerasBertError as `read_lines`; the whole file may be one line."""
    blocks = []
    with _opened(path) as (file, budget):
        while block := file.read(_BLOCK):
            if budget is not None:
                budget.charge(_COPIES * len(block))
            blocks.append(block)
    return _decoded(path, b"".join(blocks)).removeprefix("\ufeff")


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, ReadBudget | None]]:
    """The file, and what may be read of it where it is compressed: a plain one holds no more than it weighs."""
    packed = path.name.endswith(".gz")
    try:
        with gzip.open(path, "rb") if packed else path.open("rb") as file:
            yield file, ReadBudget.of_file(path) if packed else None
    except FileNotFoundError:
        raise KerasBertError(f"expected a data file {path}, received no such file") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise KerasBertError(f"expected a whole gzip file {path}, received {error}") from None
    except OSError as error:
        raise KerasBertError(f"expected a readable file {path}, received {error.strerror}") from None


def _decoded(path: Path, content: bytes, number: int = 0) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        number = number or content.count(b"\n", 0, error.start) + 1
        offset = error.start - (content.rfind(b"\n", 0, error.start) + 1)
        byte = content[error.start]
        raise KerasBertError(
            f"expected UTF-8 in {path}, received byte 0x{byte:02x} on line {number}, at offset {offset} of it"
        ) from None
