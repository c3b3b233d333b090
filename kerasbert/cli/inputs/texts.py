"""Texts of a command: on the command line, in a file, or from stdin."""

import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from kerasbert.errors import KerasBertError


def check_sources(texts: Sequence[str], file: Path | None, what: str = "texts") -> None:
    """Check that texts come from one place.

    Args:
        texts: The texts of the command line.
        file: The file, or None.
        what: The plural noun for the texts in the message.

    Raises:
        KerasBertError: When they come from two places, or from none.
    """
    if bool(texts) == (file is not None):
        received = "both" if texts else "neither"
        raise KerasBertError(
            f"expected {what} or --file, received {received}; give one of them, or - to read {what} from stdin"
        )


def given_texts(texts: Sequence[str], file: Path | None, what: str = "texts") -> list[str]:
    """Return the texts of a command.

    Args:
        texts: The texts of the command line; a dash alone stands for stdin.
        file: A file with one text per line, or None.
        what: The plural noun for the texts in messages.

    Raises:
        KerasBertError: When they come from two places or from none, or the file cannot be read.
    """
    check_sources(texts, file, what)
    if file is None and list(texts) != ["-"]:
        return list(texts)
    return next(read_text_lines(file, None, None, sys.maxsize))


def read_text_lines(file: Path | None, encoding: str | None, max_rows: int | None, rows: int) -> Iterator[list[str]]:
    """Yield the first lines of a file, or of stdin, that are not empty, in parts.

    Args:
        file: The file; None for stdin.
        encoding: Its encoding; None to detect it.
        max_rows: The most lines to read; None for all.
        rows: Lines in a part.

    Raises:
        KerasBertError: When there is none, or the file cannot be read.
    """
    from kerasbert.data.lines import read_lines, read_stream_lines

    name = "stdin" if file is None else str(file)
    lines = read_stream_lines(sys.stdin.buffer, name, encoding) if file is None else read_lines(file, encoding)
    texts = (line for line in (line.removesuffix("\n").removesuffix("\r") for _, line in lines) if line.strip())
    texts, done = islice(texts, max_rows), 0
    while found := list(islice(texts, rows)):
        done += len(found)
        yield found
    if not done:
        raise KerasBertError(f"expected texts in {name}, one per line, received none")
