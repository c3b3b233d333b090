"""Child processes: their end can be awaited, whatever the parent process has set, and they end with this process."""

import contextlib
import shutil
import signal
import sys
import threading

from kerasbert.errors import KerasBertError


def expect_children() -> None:
    """Let the system report the end of child processes to this one.

    Where SIGCHLD is ignored (after `trap '' CHLD` in a shell, under some daemons), the system discards the exit code of a child: a crash
    would look like success, and a wait for the signal would never end. A program inherits that setting from its parent. Nobody depends
    on it who waits for children, so the default is set again.

    Raises:
        KerasBertError: When SIGCHLD is ignored and this is not the main thread, which alone may set it.
    """
    ignored = getattr(signal, "SIGCHLD", None)
    if ignored is None or signal.getsignal(ignored) != signal.SIG_IGN:
        return
    if threading.current_thread() is not threading.main_thread():
        raise KerasBertError(
            "expected a process that waits for its children, received one that ignores SIGCHLD; call signal.signal(signal.SIGCHLD, "
            "signal.SIG_DFL) in the main thread first"
        )
    signal.signal(ignored, signal.SIG_DFL)


def end_with_this_process(command: list[str]) -> list[str]:
    """Put util-linux' `setpriv` before the command, where it is installed.

    The system then ends the command when this process is gone, also when that was killed.
    """
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    return [setpriv, "--pdeathsig", "KILL", *command] if setpriv and shutil.which(command[0]) else command


def die_with_parent() -> None:
    """Ask the system to end this process when its parent is gone, also when that was killed. A worker calls it first; Linux only."""
    with contextlib.suppress(OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)
