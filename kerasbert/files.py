"""Writing so that a half-written output never carries the final name."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kerasbert.leftovers import removed_by


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike) -> Iterator[Path]:
    """Yields a temporary path beside `path`; renames it to `path` when the block ends without an error.

    On an error (a full disk and Ctrl-C included) the temporary file is removed and an existing `path` stays as it was.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    os.close(handle)
    partial = Path(name)

    def remove() -> None:
        partial.unlink(missing_ok=True)

    with removed_by(remove):
        try:
            yield partial
            partial.chmod(0o666 & ~_umask())
            os.replace(partial, path)
        finally:
            remove()


@contextlib.contextmanager
def atomic_folder(path: str | os.PathLike, keep: tuple[str, ...] = ()) -> Iterator[Path]:
    """Yields a new, empty folder beside `path`; it takes the place of `path` when the block ends without an error.

    An existing folder at `path` is replaced as a whole, so no file of an earlier run can be mistaken for this one's; `keep` names what
    moves over from it.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent))
    replaced = partial.with_suffix(".old")

    def remove() -> None:
        if replaced.exists() and not path.exists():
            os.replace(replaced, path)
        shutil.rmtree(replaced, ignore_errors=True)
        shutil.rmtree(partial, ignore_errors=True)

    with removed_by(remove):
        try:
            yield partial
            partial.chmod(0o777 & ~_umask())
            for name in keep:
                if (path / name).exists():
                    os.replace(path / name, partial / name)
            if path.exists():
                os.replace(path, replaced)
            os.replace(partial, path)
        finally:
            remove()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
