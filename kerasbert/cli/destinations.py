"""Where a command will write: looked at before the work starts, so that an hour of training is not lost to a typo."""

import os
import tempfile
from pathlib import Path

from kerasbert.errors import KerasBertError

# What `save_pretrained` puts into every folder it writes: such a folder may be replaced.
OWN_FILE, RUN_FOLDER = "kerasbert.json", "run"


def check_out_folder(out: Path, source: str | os.PathLike | None = None) -> None:
    """Raises KerasBertError unless a model can be saved at `out`, which must not be the folder that it is read from."""
    if source is not None and os.path.isdir(source) and out.exists() and out.samefile(source):
        raise KerasBertError(f"expected another --out than the folder the model is read from, received {str(out)!r}")
    if out.exists():
        if not out.is_dir():
            raise KerasBertError(f"expected a folder as --out, received the file {str(out)!r}; name another")
        names = {entry.name for entry in out.iterdir()}
        if OWN_FILE not in names and not names <= {RUN_FOLDER}:
            raise KerasBertError(
                f"expected a new or empty folder as --out, or one of kerasbert's, received {str(out)!r}, which holds "
                "other files; name another"
            )
    _check_writable(out)


def check_out_file(out: Path, option: str, ending: str | tuple[str, ...] = "") -> None:
    """Raises KerasBertError unless a file can be written at `out`."""
    if not out.name.endswith(ending):
        endings = ending if isinstance(ending, str) else " or ".join(ending)
        raise KerasBertError(f"expected a file name ending in {endings} as {option}, received {str(out)!r}")
    if out.is_dir():
        raise KerasBertError(f"expected a file as {option}, received the folder {str(out)!r}")
    _check_writable(out)


def check_cache_folder(folder: Path) -> None:
    """Raises KerasBertError unless folders can be made in `folder`."""
    if folder.exists() and not folder.is_dir():
        raise KerasBertError(f"expected a folder as --cache, received the file {str(folder)!r}; name another")
    _check_writable(folder / "cache")


def _check_writable(out: Path) -> None:
    parent = next(folder for folder in out.absolute().parents if folder.exists())
    if not parent.is_dir():
        raise KerasBertError(
            f"expected a place in a folder for {str(out)!r}, received {str(parent)!r}, which is a file"
        )
    try:
        tempfile.TemporaryFile(dir=parent).close()
    except OSError as error:
        raise KerasBertError(
            f"expected a writable folder for {str(out)!r}, received {str(parent)!r} ({error.strerror})"
        ) from error
