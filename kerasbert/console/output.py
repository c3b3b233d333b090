"""The only module that prints: results go to stdout, notes and errors to stderr."""

import os
import sys
from collections.abc import Callable, Iterable
from typing import TextIO

from kerasbert.console.tables import Block, render

_note_handlers: list[Callable[[str], None]] = []  # of the progress bars on the terminal; the last one gets the notes


def write(blocks: Block | Iterable[Block], stream: TextIO | None = None) -> None:
    """Print lines and tables, fitted to the terminal; unlimited in width where `stream` is not a terminal.

    Args:
        blocks: see `kerasbert.console.tables.render`. Control characters are escaped.
        stream: stdout by default. Characters that its encoding lacks are escaped.
    """
    stream = stream or sys.stdout
    write_exactly(render(blocks, terminal_width(stream)), stream)


def write_exactly(text: str, stream: TextIO | None = None) -> None:
    """Print text whose control characters are already escaped."""
    stream = stream or sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)


def note(line: str) -> None:
    """Print a line for people on stderr, above the progress bar if there is one."""
    text = render(line, terminal_width(sys.stderr))
    if _note_handlers:
        _note_handlers[-1](text)
    else:
        write_exactly(text, sys.stderr)


def add_note_handler(handler: Callable[[str], None]) -> None:
    """Send notes to `handler`, ready to be printed, so that they do not break the progress bar on the terminal."""
    _note_handlers.append(handler)


def remove_note_handler(handler: Callable[[str], None]) -> None:
    """Send notes to where they went before `add_note_handler`; an unknown handler is ignored."""
    if handler in _note_handlers:
        _note_handlers.remove(handler)


def terminal_width(stream: TextIO | None) -> int | None:
    """Return the width of the stream's terminal in cells, or `COLUMNS` if that is set; None for a stream without terminal."""
    try:
        if stream is None or not stream.isatty():
            return None
        columns = os.environ.get("COLUMNS", "")
        if columns.isdecimal() and int(columns):
            return int(columns)
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (AttributeError, OSError, ValueError):
        return None
