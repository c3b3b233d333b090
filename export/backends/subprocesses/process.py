"""A part of a validation in a process of its own: what crashes, hangs or eats all memory there takes nothing else along."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kerasbert.cleanup import cleanup_on_exit, temporary_folder

SECONDS = 600.0
_LAST_WORDS = 300
_RAISED = re.compile(r"[A-Za-z_.]*(Error|Exception)\b.*:")  # the last line of a traceback may be a text of several


@dataclass(frozen=True)
class Ended:
    """How a child ended. status: its exit code, negative for a signal; None where its time was up. log: all that it wrote."""

    status: int | None
    log: str
    seconds: float

    @property
    def well(self) -> bool:
        return self.status == 0

    @property
    def failure_reason(self) -> str:
        """Why it did not end well, in a line."""
        if self.status is None:
            how = f"stopped after {self.seconds:.0f} s, the time limit"
        elif self.status < 0:
            how = f"killed by {_signal_name(-self.status)}" + (
                ", often for memory" if self.status == -signal.SIGKILL else ""
            )
        else:
            how = f"exit code {self.status}"
        lines = [line.strip() for line in self.log.splitlines() if line.strip()]
        raised = [number for number, line in enumerate(lines) if _RAISED.match(line)]
        said = " ".join(lines[raised[-1] if raised else -1 :])
        return f"{how}: {said[:_LAST_WORDS]}" if said else how


def run_module(
    module: str, arguments: Sequence[object], seconds: float = SECONDS, environment: Mapping[str, str] | None = None
) -> Ended:
    """Runs `python -m module arguments` with this interpreter."""
    return run_child([sys.executable, "-m", module, *map(str, arguments)], seconds, environment)


def run_child(
    command: Sequence[str | Path], seconds: float = SECONDS, environment: Mapping[str, str] | None = None
) -> Ended:
    """Runs a command in a session of its own, its output and errors in one log, for so many seconds at most.

    Nothing of it is left behind, whatever happens here: the whole session is killed in the end, and what it put among the temporary files
    is removed. Raises OSError where there is no such command.
    """
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with temporary_folder("child") as scratch, subprocess.Popen(
        _mortal(list(map(str, command))), **pipes, start_new_session=True,
        env={**os.environ, "TMPDIR": str(scratch), **(environment or {})},
    ) as process, cleanup_on_exit(lambda: _end(process)):  # fmt: skip
        try:
            output, _ = process.communicate(timeout=seconds)
            status = process.returncode
        except subprocess.TimeoutExpired:
            _end(process)
            output, _ = process.communicate()
            status = None
        finally:
            _end(process)
    return Ended(status, output.decode("utf-8", "replace"), seconds)


def _mortal(command: list[str]) -> list[str]:
    """The command by way of util-linux' `setpriv`, where that is there: the system ends it when this process is gone, also when that was
    killed."""
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    return [setpriv, "--pdeathsig", "KILL", *command] if setpriv and shutil.which(command[0]) else command


def die_with_parent() -> None:
    """To be called first by a child: the system ends it when its parent is gone, also when that was killed. Linux only."""
    with contextlib.suppress(OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)


def _end(process: subprocess.Popen) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
