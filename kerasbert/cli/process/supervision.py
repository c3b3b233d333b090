"""Runs a command in a child process, so that a crash becomes a message of one line and leaves no files.

One such crash is the abort of TensorFlow's converter when memory runs out. The parent process loads no libraries.
"""

import contextlib
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kerasbert.children import die_with_parent, expect_children
from kerasbert.cli.process import claims
from kerasbert.cli.process.failures import FAILURE
from kerasbert.console.output import note
from kerasbert.files.atomic import recover
from kerasbert.files.cleanup import clear_abandoned
from kerasbert.files.exchange import Owns
from kerasbert.files.model_folder import has_interrupted_run, is_model_file
from kerasbert.files.site_folder import site_owner

if TYPE_CHECKING:
    import resource

_FORWARDED = (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))
_FROM_PROCESS = (0, -1, -6)  # SI_USER, SI_QUEUE, SI_TKILL; signals of a terminal reach the child directly
_LOG_READ = 1 << 16
_OUT_OF_MEMORY = (
    b"bad_alloc",
    b"Cannot allocate memory",
    b"out of memory",
    b"Out of memory",
    b"length_error",
    b"failed to allocate",
)


def can_supervise(arguments: Sequence[str]) -> bool:
    """Return True if a command line can run in a child process.

    This needs Linux, and a process without threads and libraries. Help and version run without a child.

    Args:
        arguments: The command line without the program's name.
    """
    possible = sys.platform == "linux" and threading.active_count() == 1 and "numpy" not in sys.modules
    return possible and bool(arguments) and not {"--help", "-h", "--version"} & set(arguments)


def supervise(run: Callable[[int], int]) -> int:
    """Call a function in a child process and return its exit code. Signals are forwarded to the child.

    Args:
        run: Receives a file descriptor for the output of native code.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as log:
        expect_children()
        claims_out, claims_in = os.pipe()
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, (*_FORWARDED, signal.SIGCHLD))
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            os.close(claims_out)
            _die_with(parent)
            claims.report_claims(claims_in)
            return run(log.fileno())
        os.close(claims_in)
        try:
            status, usage = _wait(child)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        paths = _read_claims(claims_out)
        if os.WIFEXITED(status):
            return os.WEXITSTATUS(status)
        log.seek(max(0, log.seek(0, os.SEEK_END) - _LOG_READ))
        reason = termination_message(os.WTERMSIG(status), log.read(), usage.ru_maxrss * 1024)
        note(f"error: {reason}{_clear(paths)}")
    return FAILURE


def termination_message(number: int, log: bytes, peak: int) -> str:
    """Return a message about a signal that terminated the command.

    Args:
        number: The signal.
        log: The output of native code.
        peak: The peak memory of the process in bytes.
    """
    used = f"it used {peak / 1e9:.1f} GB"
    if number == signal.SIGKILL:
        return f"the command was killed (SIGKILL), often because memory ran out; {used}"
    if any(word in log for word in _OUT_OF_MEMORY):
        return f"there is not enough memory for this command; {used}: free some, or use a smaller model, length or --batch-size"
    if number == signal.SIGABRT:
        return f"native code aborted (SIGABRT), often because memory ran out; {used}; --debug shows its output"
    name = signal.Signals(number).name
    if number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE):
        return f"native code crashed ({name}); --debug shows its output"
    return f"the command was terminated ({name})"


def _wait(child: int) -> "tuple[int, resource.struct_rusage]":
    while True:
        received = signal.sigwaitinfo((*_FORWARDED, signal.SIGCHLD))
        if received.si_signo == signal.SIGCHLD:
            exited, status, usage = os.wait4(child, os.WNOHANG)
            if exited:
                return status, usage
        elif received.si_code in _FROM_PROCESS:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, received.si_signo)


def _read_claims(descriptor: int) -> list[Path]:
    """Return the paths that the child claimed. The read must not block: a grandchild may still hold the other end open."""
    os.set_blocking(descriptor, False)
    try:
        content = os.read(descriptor, _LOG_READ)
    except BlockingIOError:
        content = b""
    os.close(descriptor)
    return [Path(os.fsdecode(path)) for path in content.split(b"\0") if path]


def _clear(paths: Sequence[Path]) -> str:
    """Remove temporary files of the child. Return advice if its training can be resumed, else ""."""
    clear_abandoned()
    advice = ""
    for path in paths:
        with contextlib.suppress(OSError):
            recover(path, _owner(path))
        if path.is_dir() and has_interrupted_run(path):
            advice = "; --resume continues from the last checkpoint"
    return advice


def _owner(path: Path) -> Owns:
    """Return which files of a folder that the child wrote are kerasbert's: those of a model, or of a site."""
    owns_site_file = site_owner(path)
    return lambda inside: is_model_file(inside) or owns_site_file(inside)


def _die_with(parent: int) -> None:
    """Ask the system to kill this process when its parent ends, even if the parent is killed."""
    die_with_parent()
    if os.getppid() != parent:
        os._exit(FAILURE)
