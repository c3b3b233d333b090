"""Replacement of one folder by another in a single step, without loss of files that belong to others."""

import contextlib
import errno
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.files.partials import is_temporary

Owns = Callable[[str], bool]  # True for the writer's own paths inside a folder, with "/" as separator

_AT_FDCWD, _RENAME_EXCHANGE, _RENAME_SWAP = -100, 2, 2
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


def exchange(one: Path, other: Path) -> bool:
    """Exchange two paths in one step (Linux: renameat2, macOS: renamex_np).

    Returns:
        False where the system or the file system does not support it.

    Raises:
        OSError: as `os.rename` does.
    """
    import ctypes

    paths = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            status = library.renamex_np(*paths, _RENAME_SWAP)
        else:
            status = library.renameat2(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _RENAME_EXCHANGE)
    except (OSError, AttributeError, TypeError):  # the C library lacks the function
        return False
    number = ctypes.get_errno()
    if status == 0:
        return True
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))


def link_foreign_files(old: Path, new: Path, owns: Owns, inside: str = "") -> None:
    """Hard-link the files of `old` that the writer does not own into `new`, so that both folders hold them.

    Files that cannot be linked are left for `remove_replaced`.

    Args:
        old: the folder to be replaced.
        new: its replacement.
        owns: returns True for the writer's own paths inside the folder.
        inside: the subfolder to process, with a "/" at its end.

    Raises:
        KerasBertError: when the replacement has a path of the same name, which would hide it.
        OSError: when a subfolder cannot be read; `check_movable` finds these beforehand.
    """
    for name in os.listdir(old / inside):
        path = f"{inside}{name}"
        if owns(path) or is_temporary(name):
            continue
        if _is_folder(old / path) and (new / path).is_file():
            raise _conflict(old / path, "a folder", "file")
        if not _is_folder(old / path):
            if os.path.lexists(new / path):
                what = "a link" if (old / path).is_symlink() else "a file"
                raise _conflict(old / path, what, "folder" if _is_folder(new / path) else "file")
            with contextlib.suppress(OSError):
                (new / inside).mkdir(parents=True, exist_ok=True)
                _link(old / path, new / path)
            continue
        link_foreign_files(old, new, owns, f"{path}/")
        if not os.listdir(old / path):
            (new / path).mkdir(parents=True, exist_ok=True)
        if (new / path).is_dir():
            shutil.copystat(old / path, new / path)


def _conflict(path: Path, received: str, expected: str) -> KerasBertError:
    return KerasBertError(
        f"expected a {expected} of kerasbert or nothing at {str(path)!r}, received {received} that it did not write; move it away, or name "
        "another folder"
    )


def check_movable(folder: Path, owns: Owns, inside: str = "") -> None:
    """Check that all subfolders that the writer does not own can be moved.

    Args:
        folder: the folder to be replaced.
        owns: returns True for the writer's own paths inside the folder.
        inside: the subfolder to check, with a "/" at its end.

    Raises:
        KerasBertError: when one is a mount point or not writable.
    """
    for name in os.listdir(folder / inside):
        path = f"{inside}{name}"
        if owns(path) or not _is_folder(folder / path):
            continue
        if os.path.ismount(folder / path):
            raise KerasBertError(
                f"expected folders that can move with the model, received {str(folder / path)!r}, where a disk is mounted; name another "
                "folder"
            )
        if not os.access(folder / path, os.R_OK | os.W_OK | os.X_OK):
            raise KerasBertError(
                f"expected folders that can move with the model, received {str(folder / path)!r}, which may not be changed; check who "
                "owns it"
            )
        check_movable(folder, owns, f"{path}/")


def remove_replaced(old: Path, new: Path, owns: Owns, inside: str = "") -> None:
    """Remove a folder that `new` has replaced, and move files that only the old folder holds to `new`.

    Files that can be neither removed nor moved stay.

    Args:
        old: the replaced folder.
        new: its replacement.
        owns: returns True for the writer's own paths inside the folder.
        inside: the subfolder to process, with a "/" at its end.
    """
    with contextlib.suppress(OSError):
        for name in os.listdir(old / inside):
            path = f"{inside}{name}"
            with contextlib.suppress(OSError):
                if _is_folder(old / path) and not owns(path):
                    remove_replaced(old, new, owns, f"{path}/")
                elif owns(path) or is_temporary(name) or _is_same(old / path, new / path):
                    _remove(old / path)
                elif not os.path.lexists(new / path):
                    (new / inside).mkdir(parents=True, exist_ok=True)
                    os.rename(old / path, new / path)
        os.rmdir(old / inside)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _link(source: Path, target: Path) -> None:
    if source.is_symlink():
        os.symlink(os.readlink(source), target)
    else:
        os.link(source, target)


def _is_same(one: Path, other: Path) -> bool:
    try:
        if one.is_symlink():
            return os.readlink(one) == os.readlink(other)
        return os.path.samestat(os.lstat(one), os.lstat(other))
    except OSError:
        return False


def _remove(path: Path) -> None:
    if _is_folder(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink()
