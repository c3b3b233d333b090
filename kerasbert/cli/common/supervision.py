"""A command in a child of a process that has loaded nothing, so that what ends the child from within becomes one line, and is cleared away:
an abort for want of memory in TensorFlow's converter, for one."""

import contextlib
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from kerasbert.cleanup import clear_abandoned
from kerasbert.cli.common import claims
from kerasbert.cli.common.failures import FAILURE
from kerasbert.console.output import note
from kerasbert.files.atomic import recover
from kerasbert.files.model_folder import has_interrupted_run, is_model_file

_FORWARDED = (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))
_BY_A_PROCESS = (0, -1, -6)  # SI_USER, SI_QUEUE, SI_TKILL: what a terminal sends reaches the child without us
_SET_DEATH_SIGNAL = 1
_LOG_READ = 1 << 16
_OF_MEMORY = (
    b"bad_alloc",
    b"Cannot allocate memory",
    b"out of memory",
    b"Out of memory",
    b"length_error",
    b"failed to allocate",
)


def can_supervise(arguments: Sequence[str]) -> bool:
    """Whether a command line can run in a child: where the system can, before threads and libraries are there, and for more than help."""
    possible = sys.platform == "linux" and threading.active_count() == 1 and "numpy" not in sys.modules
    return possible and bool(arguments) and not {"--help", "-h", "--version"} & set(arguments)


def supervise(run: Callable[[int], int]) -> int:
    """Calls `run` in a child, with the descriptor to which native code may write; gives its exit code. Signals reach the child."""
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as log:
        written, told = os.pipe()
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, (*_FORWARDED, signal.SIGCHLD))
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            os.close(written)
            _die_with(parent)
            claims.tell(told)
            return run(log.fileno())
        os.close(told)
        try:
            status, usage = _wait(child)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        places = _read(written)
        if os.WIFEXITED(status):
            return os.WEXITSTATUS(status)
        log.seek(max(0, log.seek(0, os.SEEK_END) - _LOG_READ))
        note(f"error: {why(os.WTERMSIG(status), log.read(), usage.ru_maxrss * 1024)}{_clear(places)}")
    return FAILURE


def why(number: int, log: bytes, peak: int) -> str:
    """Why a signal ended a command, in words. log: what native code wrote. peak: bytes that the process held at most."""
    held = f"it held {peak / 1e9:.1f} GB"
    if number == signal.SIGKILL:
        return f"the command was killed (SIGKILL), as the system does where memory runs out; {held}"
    if any(word in log for word in _OF_MEMORY):
        return f"there is not enough memory for this command; {held}: free some, or take a smaller model, length or --batch-size"
    if number == signal.SIGABRT:
        return f"native code ended the command (SIGABRT), as it often does where memory runs out; {held}; --debug shows what it wrote"
    name = signal.Signals(number).name
    if number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE):
        return f"native code ended the command ({name}); --debug shows what it wrote"
    return f"the command was ended ({name})"


def _wait(child: int):
    while True:
        found = signal.sigwaitinfo((*_FORWARDED, signal.SIGCHLD))
        if found.si_signo == signal.SIGCHLD:
            ended, status, usage = os.wait4(child, os.WNOHANG)
            if ended:
                return status, usage
        elif found.si_code in _BY_A_PROCESS:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, found.si_signo)


def _read(descriptor: int) -> list[Path]:
    """The claims that the child told; a child of its own may live on and hold the other end."""
    os.set_blocking(descriptor, False)
    try:
        told = os.read(descriptor, _LOG_READ)
    except BlockingIOError:
        told = b""
    os.close(descriptor)
    return [Path(os.fsdecode(place)) for place in told.split(b"\0") if place]


def _clear(places: list[Path]) -> str:
    """Removes what the child left; says whether its training can go on."""
    clear_abandoned()
    said = ""
    for place in places:
        with contextlib.suppress(OSError):
            recover(place, is_model_file)
        if place.is_dir() and has_interrupted_run(place):
            said = "; --resume goes on from the last saved state"
    return said


def _die_with(parent: int) -> None:
    """Has the system end this process when its parent is gone, also when that was killed."""
    with contextlib.suppress(OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(FAILURE)
