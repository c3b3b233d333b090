"""The text of data files, gzip-compressed or not, by line or as a whole. Decompressed sizes are limited."""

import contextlib
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.files.read_limits import VARIABLE, ReadBudget, read_memory

_ROW_BYTES = 200  # memory of a parsed row beside its text: a list, and a string object for each cell
_COPIES = 3  # of a line's text while it is split into cells
_LINES_IN_MEMORY = 16  # a line may take this fraction of the memory limit
_BLOCK_BYTES = 1 << 20


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1 on, line with its line end) of a UTF-8 text file.

    A BOM is removed. A `.gz` file is decompressed.

    Args:
        path: The file.

    Raises:
        KerasBertError: When the file cannot be read or is not UTF-8, its gzip is broken, a line is longer than 32 MB, or decompression
            exceeds the memory of `read_limits`.
    """
    longest = read_memory() // _LINES_IN_MEMORY
    with _open(path) as (file, budget):
        number = 0
        while line := file.readline(longest + 1):
            number += 1
            if len(line) > longest:
                raise KerasBertError(
                    f"{path}, line {number}: expected a line of at most {longest >> 20:,} MB, received a longer one; if you trust the "
                    f"file, set {VARIABLE} to {_LINES_IN_MEMORY} times its megabytes"
                )
            if budget is not None:
                budget.charge(_ROW_BYTES + _COPIES * len(line))
            text = _decode(path, line, number)
            yield number, text.removeprefix("\ufeff") if number == 1 else text


def read_whole(path: Path) -> str:
    """Read all text of a UTF-8 file without its BOM. A `.gz` file is decompressed.

    Args:
        path: The file.

    Raises:
        KerasBertError: When the file cannot be read or is not UTF-8, its gzip is broken, or the decompressed text takes more
            memory than `read_limits` allows.
    """
    blocks = []
    with _open(path) as (file, budget):
        while block := file.read(_BLOCK_BYTES):
            if budget is not None:
                budget.charge(_COPIES * len(block))
            blocks.append(block)
    return _decode(path, b"".join(blocks)).removeprefix("\ufeff")


@contextlib.contextmanager
def _open(path: Path) -> Iterator[tuple[io.BufferedIOBase, ReadBudget | None]]:
    """Open a file, with a memory budget if it is compressed. A plain file cannot hold more than its size."""
    compressed = path.name.endswith(".gz")
    try:
        with gzip.open(path, "rb") if compressed else path.open("rb") as file:
            yield file, ReadBudget.of_file(path) if compressed else None
    except FileNotFoundError:
        raise KerasBertError(f"expected a data file {path}, received no such file") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise KerasBertError(f"expected a whole gzip file {path}, received {error}") from None
    except OSError as error:
        raise KerasBertError(f"expected a readable file {path}, received {error.strerror}") from None


def _decode(path: Path, content: bytes, number: int = 0) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        number = number or content.count(b"\n", 0, error.start) + 1
        offset = error.start - (content.rfind(b"\n", 0, error.start) + 1)
        byte = content[error.start]
        raise KerasBertError(
            f"expected UTF-8 in {path}, received byte 0x{byte:02x} on line {number}, at offset {offset} of it"
        ) from None
