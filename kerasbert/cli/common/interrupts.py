"""Ctrl-C, and being told to end. A KeyboardInterrupt raised while TensorFlow's C++ calls back into Python aborts the process, so there we
end it ourselves."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator

from kerasbert.cleanup import cleanup_on_exit, run_cleanups
from kerasbert.cli.common.failures import INTERRUPTED
from kerasbert.console.escapes import escape_controls

_native: list[None] = []  # one for each block of native code that runs
_USUAL = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
if hasattr(signal, "SIGHUP"):  # the terminal is gone
    _USUAL[signal.SIGHUP] = signal.SIG_DFL


@contextlib.contextmanager
def native_code(close: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Work in which Ctrl-C must not raise. Nothing is written meanwhile, so nothing is left half-written. close: what to do before the
    process ends in it."""
    _native.append(None)
    try:
        with cleanup_on_exit(close):
            yield
    finally:
        _native.pop()


@contextlib.contextmanager
def interrupts_told(message: Callable[[], str]) -> Iterator[None]:
    """While it lasts, Ctrl-C, SIGTERM and SIGHUP in `native_code` print `message()` and end the process, which leaves no temporary folder
    and no child behind; elsewhere they raise KeyboardInterrupt."""
    stream = sys.stderr  # a library may have put another in its place when the signal comes
    main = threading.current_thread() is threading.main_thread()
    # A signal that is ignored, or that a program around us handles, stays so.
    ours = [number for number, usual in _USUAL.items() if main and signal.getsignal(number) is usual]

    def leave(number, frame):
        if not _native:
            raise KeyboardInterrupt
        run_cleanups()
        with contextlib.suppress(Exception):  # nobody may be there to read it any more
            _write(stream, escape_controls(message()))
        os._exit(INTERRUPTED)

    for number in ours:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, _USUAL[number])


def _write(stream, line: str) -> None:
    try:
        descriptor = stream.fileno()
    except (AttributeError, OSError, ValueError):  # a stream in memory
        stream.write(f"{line}\n")
        return
    # Not print: the interrupted code may be inside one, and a text stream refuses to be entered twice.
    cursor = "\x1b[?25h" if os.isatty(descriptor) else ""
    os.write(descriptor, f"{cursor}{line}\n".encode(errors="backslashreplace"))
