"""A pytest plugin that keeps every `.tflite` file with metadata that the tests write, for `benchmarks.parity.model_files`.

KEPT_FILES=kept python -m pytest -p benchmarks.parity.keep_files tests/export tests/cli
"""

import functools
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from kerasbert.export.tflite import metadata

VARIABLE = "KEPT_FILES"


def _keeping(write: Callable[..., bytes], folder: Path) -> Callable[..., bytes]:
    @functools.wraps(write)
    def keep(*arguments: object) -> bytes:
        content = write(*arguments)
        # Equal files have one name; a rename leaves no half of a file to tests in another process.
        path = folder / f"{hashlib.sha256(content).hexdigest()[:16]}.tflite"
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_bytes(content)
        partial.replace(path)
        return content

    return keep


# Before any test imports these functions by name.
if os.environ.get(VARIABLE):
    _folder = Path(os.environ[VARIABLE])
    _folder.mkdir(parents=True, exist_ok=True)
    metadata.append = _keeping(metadata.append, _folder)
    metadata.append_mark = _keeping(metadata.append_mark, _folder)
