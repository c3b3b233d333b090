"""The output folder of a process: --out, or a temporary folder for the workers of a cluster that write nothing."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.files.cleanup import temporary_folder


@contextlib.contextmanager
def output_folder(out: str, distribute: str | None, resume: bool = False) -> Iterator[Path]:
    """Provide the output folder of this process: --out, or a temporary folder for workers of a cluster that are not the chief.

    The temporary folder gets a copy of the state of a resumed run.

    Args:
        out: The folder of `--out`.
        distribute: The name of the distribution strategy, or None.
        resume: Whether a run is resumed.

    Raises:
        KerasBertError: When the worker cannot see the run that it resumes.
    """
    from kerasbert.files.model_folder import RUN_FOLDER
    from kerasbert.training.preparation import is_chief

    if distribute != "multi-worker" or is_chief():
        yield Path(out)
        return
    original = Path(out, RUN_FOLDER)
    if resume and not original.is_dir():
        raise KerasBertError(
            f"expected the interrupted training's folder {str(original)!r} on every worker, received none here; "
            "put --out on a disk that all workers share"
        )
    with temporary_folder("worker") as folder:  # the folder holds a lock file
        if resume:
            shutil.copytree(original, folder / "model" / RUN_FOLDER, symlinks=True)
        yield folder / "model"
