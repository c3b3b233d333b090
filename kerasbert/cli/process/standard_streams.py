"""Standard streams that the caller has closed (`kerasbert ... >&-`, daemons)."""

import os
import sys

_FLAGS = (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)
_NAMES = ("stdin", "stdout", "stderr")


def open_closed_streams() -> tuple[str, ...]:
    """Open the null device in place of each standard stream that is closed.

    Otherwise the next file that is opened would get the number of a standard stream, and receive what is printed.

    Returns:
        The names of the streams that were closed.
    """
    closed = []
    for descriptor, (name, flags) in enumerate(zip(_NAMES, _FLAGS, strict=True)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, flags)  # it gets the lowest free number, which is this one
            closed.append(name)
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", errors="backslashreplace", closefd=False))
    return tuple(closed)
