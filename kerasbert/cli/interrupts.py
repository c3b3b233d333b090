"""Ctrl-C. A KeyboardInterrupt raised while TensorFlow's C++ calls back into Python aborts the process, so there we end it ourselves."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator

from kerasbert.cli.failures import INTERRUPTED

# What to close before the process ends; not empty while native code runs.
_open: list[Callable[[], None]] = []


@contextlib.contextmanager
def native_code(close: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Work in which Ctrl-C must not raise. Nothing is written meanwhile, so nothing is left half-written."""
    _open.append(close)
    try:
        yield
    finally:
        _open.pop()


@contextlib.contextmanager
def interrupts_told(message: Callable[[], str]) -> Iterator[None]:
    """While it lasts, Ctrl-C in `native_code` prints `message()` and ends the process; elsewhere it raises KeyboardInterrupt as ever."""
    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if not ours:
        yield
        return

    def leave(number, frame):
        if not _open:
            raise KeyboardInterrupt
        for close in reversed(_open):
            with contextlib.suppress(Exception):
                close()
        # Not print: the interrupted code may be inside one, and a text stream refuses to be entered twice.
        cursor = "\x1b[?25h" if sys.stderr.isatty() else ""
        os.write(sys.stderr.fileno(), f"{cursor}{message()}\n".encode())
        os._exit(INTERRUPTED)

    signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
