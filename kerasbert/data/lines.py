"""The text of data files, gzip-compressed or not, by line or as a whole. Decompressed sizes are limited."""

import contextlib
import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from kerasbert.data.encodings import check_encoding, encoding_advice, encoding_of, is_ascii_compatible
from kerasbert.data.foreign_formats import foreign_content
from kerasbert.errors import KerasBertError
from kerasbert.files.read_limits import VARIABLE, ReadBudget, read_memory

_ROW_BYTES = 200  # memory of a parsed row beside its text: a list, and a string object for each cell
_COPIES = 3  # of a line's text while it is split into cells
_LINES_IN_MEMORY = 16  # a line may take this fraction of the memory limit
_BLOCK_BYTES = 1 << 20
_HEAD_BYTES = 1 << 16  # by which encoding and line ends are recognized


def read_lines(path: Path, encoding: str | None = None) -> Iterator[tuple[int, str]]:
    r"""Yield (line number from 1 on, line with its line end) of a text file.

    A BOM is removed. A `.gz` file is decompressed. Lines end with `\n` or `\r\n`, or with `\r` in a file that has no `\n`; it is then
    replaced by `\n`.

    Args:
        path: The file.
        encoding: The encoding; None detects UTF-16 by its byte order mark, and is UTF-8 otherwise.

    Raises:
        KerasBertError: When the file cannot be read, is no text, has another encoding or a broken gzip; when a line is longer than
            32 MB, or decompression exceeds the memory of `read_limits`.
    """
    with _open(path, encoding) as source:
        yield from _numbered_lines(path, source)


def read_stream_lines(
    stream: BinaryIO | io.RawIOBase | io.BufferedIOBase, name: str, encoding: str | None = None
) -> Iterator[tuple[int, str]]:
    """Yield (line number, line) of a stream without a known end, such as stdin, as `read_lines` does for a file.

    Args:
        stream: The stream of bytes. It stays open.
        name: Its name, for errors.
        encoding: As for `read_lines`.

    Raises:
        KerasBertError: As `read_lines`; when all lines together take more than the memory of `read_limits`.
    """
    check_encoding(encoding)
    raw: Any = stream
    file = io.BufferedReader(raw, _HEAD_BYTES)
    try:
        head = file.peek(_HEAD_BYTES)
        if (foreign := foreign_content(Path(name), head)) is not None:
            raise KerasBertError(f"expected text in {name}, received {foreign[0]}; {foreign[1]}")
        source = _Source(file, head, encoding_of(Path(name), head, encoding), ReadBudget(name, 0))
        yield from _numbered_lines(Path(name), source)
    finally:
        file.detach()


def read_whole(path: Path, encoding: str | None = None) -> str:
    """Read all text of a file without its BOM. A `.gz` file is decompressed.

    Args:
        path: The file.
        encoding: As for `read_lines`.

    Raises:
        KerasBertError: When the file cannot be read, is no text, has another encoding or a broken gzip; when the decompressed text takes
            more memory than `read_limits` allows.
    """
    blocks = []
    with _open(path, encoding) as source:
        while block := source.file.read(_BLOCK_BYTES):
            if source.budget is not None:
                source.budget.charge(_COPIES * len(block))
            blocks.append(block)
    return _decode(path, b"".join(blocks), source.encoding).removeprefix("\ufeff")


def _numbered_lines(path: Path, source: "_Source") -> Iterator[tuple[int, str]]:
    longest = read_memory() // _LINES_IN_MEMORY
    for number, line in enumerate(_split_lines(source, longest), 1):
        if len(line) > longest:
            raise KerasBertError(
                f"{path}, line {number}: expected a line of at most {longest >> 20:,} MB, received a longer one; if you trust the "
                f"file, set {VARIABLE} to {_LINES_IN_MEMORY} times its megabytes"
            )
        if source.budget is not None:
            source.budget.charge(_ROW_BYTES + _COPIES * len(line))
        text = line if isinstance(line, str) else _decode(path, line, source.encoding, number)
        yield number, text.removeprefix("\ufeff") if number == 1 else text


@dataclass(frozen=True)
class _Source:
    """An open file.

    Attributes:
        file: The file, decompressed.
        head: Its first bytes, which are not consumed.
        encoding: The encoding.
        budget: The memory budget if the file is compressed, or has no known end. A plain file cannot hold more than its size.
    """

    file: Any  # io.BufferedReader, whose type checkers and Python disagree
    head: bytes
    encoding: str
    budget: ReadBudget | None


@contextlib.contextmanager
def _open(path: Path, encoding: str | None) -> Iterator[_Source]:
    compressed = path.name.endswith(".gz")
    check_encoding(encoding)
    try:
        with gzip.open(path, "rb") if compressed else path.open("rb", buffering=0) as raw:
            stream: Any = raw
            with io.BufferedReader(stream, _HEAD_BYTES) as file:
                head = file.peek(_HEAD_BYTES)
                if (foreign := foreign_content(path, head)) is not None:
                    raise KerasBertError(f"expected a text file {path}, received {foreign[0]}; {foreign[1]}")
                budget = ReadBudget.of_file(path) if compressed else None
                yield _Source(file, head, encoding_of(path, head, encoding), budget)
    except FileNotFoundError:
        raise KerasBertError(f"expected a data file {path}, received no such file") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise KerasBertError(f"expected a whole gzip file {path}, received {error}") from None
    except OSError as error:
        raise KerasBertError(f"expected a readable file {path}, received {error.strerror}") from None


def _split_lines(source: _Source, longest: int) -> Iterator[bytes | str]:
    """Yield the lines of a file, each at most one byte longer than `longest`; decoded if that is needed to find their ends."""
    if not is_ascii_compatible(source.encoding):
        text = io.TextIOWrapper(source.file, source.encoding, newline=None)
        try:
            while line := text.readline(longest + 1):
                yield line
        except UnicodeError as error:
            raise KerasBertError(
                f"expected {source.encoding.upper()} in {source.file.name}, received other bytes ({error}); "
                f"{encoding_advice()}"
            ) from None
        finally:
            text.detach()
    elif b"\r" in source.head[:-1] and b"\n" not in source.head:
        yield from _lines_with_carriage_returns(source.file, longest)
    else:
        while line := source.file.readline(longest + 1):
            yield line


def _lines_with_carriage_returns(file: Any, longest: int) -> Iterator[bytes]:
    rest = b""
    while block := file.read(_HEAD_BYTES):
        *lines, rest = (rest + block).split(b"\r")
        yield from (line + b"\n" for line in lines)
        if len(rest) > longest:
            break
    if rest:
        yield rest


def _decode(path: Path, content: bytes, encoding: str, number: int = 0) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        number = number or content.count(b"\n", 0, error.start) + 1
        offset = error.start - (content.rfind(b"\n", 0, error.start) + 1)
        byte = content[error.start]
        raise KerasBertError(
            f"expected {encoding.upper()} in {path}, received byte 0x{byte:02x} on line {number}, at offset {offset} of it; "
            f"{encoding_advice()}"
        ) from None
    except UnicodeError as error:  # of UTF-16 without a mark
        raise KerasBertError(
            f"expected {encoding.upper()} in {path}, received other bytes ({error}); {encoding_advice()}"
        ) from None
