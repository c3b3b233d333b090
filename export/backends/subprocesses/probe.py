"""Opens and runs a file once in a process of its own, so that a file that crashes its process is found before it crashes ours.

python -m kerasbert.export.backends.subprocesses.probe model.tflite
"""

import os
import sys

from kerasbert.children import die_with_parent
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreters import DEFAULT_LENGTH, open_model
from kerasbert.export.runtime.process import run_module
from kerasbert.export.tflite.model_file import ModelFile

SECONDS = 300.0
_REFUSED = 3  # exit code where the runtime refused the file and lived


def failure_reason(path: str | os.PathLike) -> str:
    """Return how a process crashed that ran the file; empty where it ended well, or refused the file with a message."""
    result = run_module(__name__, [path], SECONDS)
    return "" if result.ok or result.status == _REFUSED else result.failure_reason


def main() -> None:
    """Run the worker."""
    die_with_parent()
    try:
        open_model(ModelFile.read(sys.argv[1]), default_length=DEFAULT_LENGTH).run_ones()
    except KerasBertError:
        sys.exit(_REFUSED)


if __name__ == "__main__":
    main()
