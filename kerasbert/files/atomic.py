"""Writing so that a half-written output never carries the final name, and nothing of others is lost."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from kerasbert.cleanup import removed_by
from kerasbert.errors import KerasBertError
from kerasbert.files import partials
from kerasbert.files.exchange import Owns, carry_over, check_movable, exchange, settle


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike) -> Iterator[Path]:
    """Yields a temporary path beside `path`; renames it to `path` when the block ends without an error.

    On an error (a full disk and Ctrl-C included) the temporary file is removed and an existing `path` stays as it was. Where `path` is a
    link, the file that it names is written. What a killed process left of an earlier attempt is removed.

    Raises KerasBertError where there is no folder for it.
    """
    path = Path(os.path.realpath(path))
    _check_parent(path)
    for left in partials.abandoned(path):
        left.unlink()
    partial, lock = partials.create(path)

    def remove() -> None:
        partial.unlink(missing_ok=True)

    with removed_by(remove):
        try:
            yield partial
            partial.chmod(_mode(path, 0o666))
            os.replace(partial, path)
        finally:
            remove()
            partials.release(lock)


@contextlib.contextmanager
def atomic_folder(path: str | os.PathLike, owns: Owns = lambda path: True) -> Iterator[Path]:
    """Yields a new, empty folder beside `path`; it takes the place of `path`, in one step, when the block ends without an error.

    Of an existing folder everything goes that `owns`, given a path inside such as `a/b`, says is of the writer's making, so that no file of
    an earlier one can be mistaken for this one's; all else moves over. A process that is killed at any moment leaves one of both
    folders whole at `path`; the next one that writes there clears what else it left. Where the file system cannot exchange two folders,
    `path` may be missing after a kill, until `recover` puts it back.
    """
    path = Path(os.path.realpath(path))
    check_replaceable_as_a_whole(path, owns)
    path.parent.mkdir(parents=True, exist_ok=True)
    recover(path, owns)
    partial, lock = partials.create(path, folder=True)
    complete, aside = (partial.with_name(partial.name + ending) for ending in (partials.NEW, partials.OLD))
    locks = [lock]

    def remove() -> None:
        shutil.rmtree(partial, ignore_errors=True)  # links to what `path` holds as well
        _settle(complete, aside, path, owns)

    with removed_by(remove):
        try:
            yield partial
            partial.chmod(_mode(path, 0o777))
            if path.exists():
                with contextlib.suppress(OSError):
                    locks.append(partials.try_lock(path))
                carry_over(path, partial, owns)
                os.rename(partial, complete)
                _replace(complete, path, aside)
            else:
                os.rename(partial, path)
        finally:
            remove()
            for each in locks:
                partials.release(each)


def check_replaceable_as_a_whole(path: Path, owns: Owns) -> None:
    """Raises KerasBertError for a folder that no other can take the place of: where a disk is mounted, where this process works, one that
    may not be changed, and one with others' folders in it that cannot move over. owns: see `atomic_folder`."""
    path = Path(os.path.realpath(path))
    if not path.is_dir():
        return
    if os.path.ismount(path):
        raise KerasBertError(
            f"expected a folder that can be replaced, received {str(path)!r}, where a disk is mounted; name a new folder in it"
        )
    if Path.cwd().is_relative_to(path):
        raise KerasBertError(
            f"expected a folder that can be replaced, received {str(path)!r}, in which this command runs; run it from elsewhere, or name "
            "another"
        )
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        raise KerasBertError(f"expected a folder that can be changed, received {str(path)!r}; check who owns it")
    check_movable(path, owns)


def recover(path: str | os.PathLike, owns: Owns | None = None) -> list[Path]:
    """Puts a folder back that a killed process had moved aside to replace it, and clears what else it left beside it.

    owns: see `atomic_folder`; without it nothing is cleared. Returns what stays because somebody else's files are in it.
    """
    path = Path(os.path.realpath(path))
    for left in partials.abandoned(path):
        if left.name.endswith(partials.OLD) and not os.path.lexists(path):
            os.rename(left, path)
    if owns is None:
        return []
    for left in partials.abandoned(path):
        if not left.is_dir():
            left.unlink(missing_ok=True)
        elif not left.name.endswith((partials.NEW, partials.OLD)):
            shutil.rmtree(left, ignore_errors=True)
        elif path.is_dir():
            settle(left, path, owns)
    return list(partials.abandoned(path))


def _replace(complete: Path, path: Path, aside: Path) -> None:
    if not exchange(complete, path):
        os.rename(path, aside)
        os.rename(complete, path)


def _settle(complete: Path, aside: Path, path: Path, owns: Owns) -> None:
    if aside.exists() and not os.path.lexists(path):
        os.rename(aside, path)
    for each in (complete, aside):
        if each.exists():
            settle(each, path, owns)


def _check_parent(path: Path) -> None:
    if not path.parent.is_dir():
        raise KerasBertError(
            f"expected a file in a folder that is there, received {str(path)!r}; make {str(path.parent)!r} first"
        )


def _mode(path: Path, usual: int) -> int:
    """Permissions of what is there already; of something new the usual ones."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return usual & ~mask
