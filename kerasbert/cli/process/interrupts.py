"""Interrupts: Ctrl-C, SIGTERM and SIGHUP.

A KeyboardInterrupt that is raised while TensorFlow's C++ calls Python aborts the process. There, the handler ends the process itself.
"""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TextIO

from kerasbert.cli.process.failures import INTERRUPTED
from kerasbert.console.escapes import escape_controls
from kerasbert.files.cleanup import cleanup_on_exit, run_cleanups

_native: list[None] = []  # one for each running block of native code
_DEFAULT_HANDLERS = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
if hasattr(signal, "SIGHUP"):  # the terminal was closed
    _DEFAULT_HANDLERS[signal.SIGHUP] = signal.SIG_DFL


@contextlib.contextmanager
def native_code(close: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Prevent Ctrl-C from raising in the block, which runs native code and writes no files.

    Args:
        close: Called before an interrupt ends the process.
    """
    _native.append(None)
    try:
        with cleanup_on_exit(close):
            yield
    finally:
        _native.pop()


@contextlib.contextmanager
def handle_interrupts(message: Callable[[], str]) -> Iterator[None]:
    """Handle Ctrl-C, SIGTERM and SIGHUP in the block.

    In `native_code` they print a message and end the process, without leaving temporary folders or child processes. Elsewhere they raise
    KeyboardInterrupt.

    Args:
        message: Returns the line to print.
    """
    stream = sys.stderr  # a library may have replaced sys.stderr when the signal arrives
    main = threading.current_thread() is threading.main_thread()
    # Signals that are ignored, or handled by a program around this one, keep their handlers.
    handled = [number for number, default in _DEFAULT_HANDLERS.items() if main and signal.getsignal(number) is default]

    def leave(number: int, frame: FrameType | None) -> None:
        if not _native:
            raise KeyboardInterrupt
        for each in handled:  # a second signal would wait for locks that the cleanups hold below it
            signal.signal(each, signal.SIG_IGN)
        run_cleanups()
        with contextlib.suppress(Exception):  # the reader of stderr may be gone
            _write(stream, escape_controls(message()))
        os._exit(INTERRUPTED)

    for number in handled:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, _DEFAULT_HANDLERS[number])


def _write(stream: TextIO, line: str) -> None:
    try:
        descriptor = stream.fileno()
    except (AttributeError, OSError, ValueError):  # a stream in memory
        stream.write(f"{line}\n")
        return
    # Not print: the interrupted code may be inside of one, and a text stream is not reentrant.
    cursor = "\x1b[?25h" if os.isatty(descriptor) else ""
    os.write(descriptor, f"{cursor}{line}\n".encode(errors="backslashreplace"))
