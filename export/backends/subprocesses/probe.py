"""Opens and runs a file once in a process of its own: one that takes its process along is found before it takes ours.

python -m kerasbert.export.backends.subprocesses.probe model.tflite
"""

import os
import sys

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.backends.subprocesses.process import die_with_parent, run_module
from kerasbert.export.runtime.interpreters import open_at_any_length

SECONDS = 300.0
_REFUSED = 3  # the runtime said no, and lives


def failure_reason(path: str | os.PathLike) -> str:
    """How a process ended that ran the file, if badly; empty where it ended well, or refused the file in words."""
    ended = run_module(__name__, [path], SECONDS)
    return "" if ended.well or ended.status == _REFUSED else ended.failure_reason


def main() -> None:
    die_with_parent()
    try:
        model = open_at_any_length(sys.argv[1])
        model.fill({name: np.ones(port.shape, port.dtype) for name, port in model.inputs.items()})
        model.invoke()
    except KerasBertError:
        sys.exit(_REFUSED)


if __name__ == "__main__":
    main()
