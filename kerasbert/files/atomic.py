"""Atomic writes: a half-written output never has the final name, and files of others are never lost."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.files import partials
from kerasbert.files.cleanup import cleanup_on_exit
from kerasbert.files.durability import sync_file, sync_folder, sync_tree
from kerasbert.files.exchange import Owns, check_movable, exchange, link_foreign_files, remove_replaced


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike) -> Iterator[Path]:
    """Yield a temporary path beside `path` and rename it to `path` when the block ends without an error.

    On an error, a full disk and Ctrl-C included, the temporary file is removed and an existing `path` is unchanged. Where `path` is a
    link, its target is written. Files that a killed process left there are removed first. The content is on the disk before the name, so
    a loss of power leaves the old or the new file complete.

    Raises:
        KerasBertError: when the parent folder does not exist.
    """
    path = Path(os.path.realpath(path))
    _check_parent(path)
    for abandoned in partials.abandoned_paths(path):
        abandoned.unlink()
    partial, lock = partials.create(path)

    def remove() -> None:
        partial.unlink(missing_ok=True)

    with cleanup_on_exit(remove):
        try:
            yield partial
            partial.chmod(_permissions(path, 0o666))
            sync_file(partial)
            os.replace(partial, path)
            sync_folder(path.parent)
        finally:
            remove()
            partials.release_lock(lock)


@contextlib.contextmanager
def atomic_folder(path: str | os.PathLike, owns: Owns = lambda path: True) -> Iterator[Path]:
    """Yield a new, empty folder beside `path` that replaces `path` in one step when the block ends without an error.

    Files of an existing folder that the writer owns are removed, so that none can be mistaken for a part of the new content. All
    others move to the new folder. A process that is killed, or a loss of power, leaves either the old or the new folder complete at
    `path`, and the next writer clears the rest. Where the file system cannot exchange two folders, `path` may be missing after a kill
    until `recover` restores it.

    Args:
        path: the folder to write.
        owns: returns True for the writer's own paths inside the folder, such as `a/b`.

    Raises:
        KerasBertError: when the folder cannot be replaced; see `check_replaceable`.
    """
    path = Path(os.path.realpath(path))
    check_replaceable(path, owns)
    path.parent.mkdir(parents=True, exist_ok=True)
    recover(path, owns)
    partial, lock = partials.create(path, folder=True)
    complete, aside = (partial.with_name(partial.name + suffix) for suffix in (partials.NEW, partials.OLD))
    locks = [lock]

    def remove() -> None:
        shutil.rmtree(partial, ignore_errors=True)  # its hard links too: `path` holds the same files
        _finish(complete, aside, path, owns)

    with cleanup_on_exit(remove):
        try:
            yield partial
            partial.chmod(_permissions(path, 0o777))
            if path.exists():
                with contextlib.suppress(OSError):
                    locks.append(partials.try_lock(path))
                link_foreign_files(path, partial, owns)
                sync_tree(partial)
                os.rename(partial, complete)
                _replace(complete, path, aside)
            else:
                sync_tree(partial)
                os.rename(partial, path)
            sync_folder(path.parent)
        finally:
            remove()
            for descriptor in locks:
                partials.release_lock(descriptor)


def check_replaceable(path: Path, owns: Owns) -> None:
    """Check that a new folder can take the place of an existing one.

    Args:
        path: the folder; one that does not exist passes.
        owns: see `atomic_folder`.

    Raises:
        KerasBertError: when the folder is a mount point, contains the working directory, is not writable, or holds folders of others
            that cannot be moved.
    """
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
    """Restore a folder that a killed process had moved aside, and clear the other files that it left.

    Args:
        path: the folder's usual place.
        owns: see `atomic_folder`; without it nothing is cleared.

    Returns:
        Abandoned folders that stay because they hold files of others.
    """
    path = Path(os.path.realpath(path))
    for abandoned in partials.abandoned_paths(path):
        if abandoned.name.endswith(partials.OLD) and not os.path.lexists(path):
            os.rename(abandoned, path)
    if owns is None:
        return []
    for abandoned in partials.abandoned_paths(path):
        if not abandoned.is_dir():
            abandoned.unlink(missing_ok=True)
        elif not abandoned.name.endswith((partials.NEW, partials.OLD)):
            shutil.rmtree(abandoned, ignore_errors=True)
        elif path.is_dir():
            remove_replaced(abandoned, path, owns)
    return list(partials.abandoned_paths(path))


def _replace(complete: Path, path: Path, aside: Path) -> None:
    if not exchange(complete, path):
        os.rename(path, aside)
        os.rename(complete, path)


def _finish(complete: Path, aside: Path, path: Path, owns: Owns) -> None:
    """Restore the old folder if `path` is missing, then remove the replaced ones."""
    if aside.exists() and not os.path.lexists(path):
        os.rename(aside, path)
    for replaced in (complete, aside):
        if replaced.exists():
            remove_replaced(replaced, path, owns)


def _check_parent(path: Path) -> None:
    if not path.parent.is_dir():
        raise KerasBertError(
            f"expected a file in an existing folder, received {str(path)!r}; make {str(path.parent)!r} first"
        )


def _permissions(path: Path, default: int) -> int:
    """The permissions of an existing file or folder, else `default` under the process' umask."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return default & ~mask
