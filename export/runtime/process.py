"""Runs a step of a validation in a process of its own, so that a crash, a hang or a lack of memory stays there."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kerasbert.children import end_with_this_process, expect_children
from kerasbert.files.cleanup import cleanup_on_exit, temporary_folder

SECONDS = 600.0
_MAX_REASON = 300  # characters of a log in a reason
_RAISED = re.compile(r"[A-Za-z_.]*(Error|Exception)\b.*:")  # the last line of a traceback may be a text of several


@dataclass(frozen=True)
class ProcessResult:
    """The end of a process.

    Attributes:
        status: Its exit code, negative for a signal; None where it was stopped at the time limit.
        log: Its output and errors.
        seconds: The time limit.
    """

    status: int | None
    log: str
    seconds: float

    @property
    def ok(self) -> bool:
        """True for exit code 0."""
        return self.status == 0

    @property
    def failure_reason(self) -> str:
        """The reason why it did not end with exit code 0, in one line."""
        if self.status is None:
            end = f"stopped after {self.seconds:.0f} s, the time limit"
        elif self.status < 0:
            memory = ", often for memory" if self.status == -signal.SIGKILL else ""
            end = f"killed by {_signal_name(-self.status)}{memory}"
        else:
            end = f"exit code {self.status}"
        lines = [line.strip() for line in self.log.splitlines() if line.strip()]
        raised = [number for number, line in enumerate(lines) if _RAISED.match(line)]
        message = " ".join(lines[raised[-1] if raised else -1 :])
        return f"{end}: {message[:_MAX_REASON]}" if message else end


def run_module(
    module: str, arguments: Sequence[object], seconds: float = SECONDS, environment: Mapping[str, str] | None = None
) -> ProcessResult:
    """Run `python -m module arguments` with this interpreter, as `run_command` does."""
    return run_command([sys.executable, "-m", module, *map(str, arguments)], seconds, environment)


def run_command(
    command: Sequence[str | Path], seconds: float = SECONDS, environment: Mapping[str, str] | None = None
) -> ProcessResult:
    """Run a command in a session of its own, with its output and errors in one log.

    Nothing of it is left behind: in the end the whole session is killed, and its temporary files are removed.

    Args:
        command: A program and its arguments.
        seconds: The time limit.
        environment: Further variables.

    Raises:
        OSError: When there is no such program.
        KerasBertError: When the exit codes of children are lost; see `expect_children`.
    """
    expect_children()
    with temporary_folder("child") as scratch, subprocess.Popen(
        end_with_this_process(list(map(str, command))),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        env={**os.environ, "TMPDIR": str(scratch), **(environment or {})},
    ) as process, cleanup_on_exit(lambda: _kill_session(process)):  # fmt: skip
        try:
            output, _ = process.communicate(timeout=seconds)
            status = process.returncode
        except subprocess.TimeoutExpired:
            _kill_session(process)
            output, _ = process.communicate()
            status = None
        finally:
            _kill_session(process)
    return ProcessResult(status, output.decode("utf-8", "replace"), seconds)


def _kill_session(process: subprocess.Popen) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
