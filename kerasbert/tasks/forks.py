"""Forked processes: TensorFlow waits there forever, for threads that the fork did not copy."""

import os

from kerasbert.errors import KerasBertError

_process_ids: list[int] = []  # of the process that made the first task


def check_not_forked() -> None:
    """Check that this process is not a fork of one that has made a task.

    Raises:
        KerasBertError: When it is.
    """
    if not _process_ids:
        _process_ids.append(os.getpid())
    if _process_ids[0] != os.getpid():
        raise KerasBertError(
            "expected a process that started TensorFlow itself, received a fork of one that had; start processes by spawn, or load tasks "
            "after the fork only"
        )
