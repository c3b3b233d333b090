"""Where every line of the package goes out: results to stdout, notes and errors to stderr. Nothing else prints."""

import os
import sys
from collections.abc import Callable, Iterable
from typing import TextIO

from kerasbert.console.tables import Block, render

_takers: list[Callable[[str], None]] = []  # of progress bars on the terminal now, the last one on top


def write(blocks: Block | Iterable[Block], stream: TextIO | None = None) -> None:
    """Prints lines and tables: in the width of the terminal, or as wide as they are where `stream` is none.

    Args:
        blocks: see `kerasbert.console.tables.render`. Control characters are shown escaped.
        stream: stdout if left out. What its encoding lacks is shown escaped too.
    """
    stream = stream or sys.stdout
    write_exactly(render(blocks, terminal_width(stream)), stream)


def write_exactly(text: str, stream: TextIO | None = None) -> None:
    """Prints text that holds no control characters any more."""
    stream = stream or sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)


def note(line: str) -> None:
    """A line for people on stderr, above the progress bar if there is one."""
    text = render(line, terminal_width(sys.stderr))
    if _takers:
        _takers[-1](text)
    else:
        write_exactly(text, sys.stderr)


def take_notes(show: Callable[[str], None]) -> None:
    """From now on `show` gets the notes, ready to be printed: a progress bar is on the terminal, which they must not break."""
    _takers.append(show)


def leave_notes(show: Callable[[str], None]) -> None:
    """Notes go where they went before `take_notes`; nothing happens where it was not called."""
    if show in _takers:
        _takers.remove(show)


def terminal_width(stream: TextIO) -> int | None:
    """Cells in a line of the terminal behind a stream, or `COLUMNS` where that is set; None where it is no terminal."""
    try:
        if not stream.isatty():
            return None
        columns = os.environ.get("COLUMNS", "")
        return (
            int(columns)
            if columns.isdecimal() and int(columns)
            else os.get_terminal_size(stream.fileno()).columns or 80
        )
    except (AttributeError, OSError, ValueError):
        return None
