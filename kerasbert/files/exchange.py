"""One folder in the place of another, in a single step, and nothing lost of what others keep in it."""

import contextlib
import errno
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.files.partials import is_temporary

Owns = Callable[[str], bool]  # whether a path inside of a folder, with "/" between its parts, is of the writer's making

_AT_FDCWD, _RENAME_EXCHANGE, _RENAME_SWAP = -100, 2, 2
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


def exchange(one: Path, other: Path) -> bool:
    """Lets two paths change places in one step (Linux: renameat2, macOS: renamex_np). False where the system or the file system cannot.

    Raises OSError as `os.rename` does.
    """
    import ctypes

    paths = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            status = library.renamex_np(*paths, _RENAME_SWAP)
        else:
            status = library.renameat2(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _RENAME_EXCHANGE)
    except (OSError, AttributeError, TypeError):  # no such function here
        return False
    number = ctypes.get_errno()
    if status == 0:
        return True
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))


def carry_over(old: Path, new: Path, owns: Owns, inside: str = "") -> None:
    """Puts into `new` by hard links what `old` holds beyond the writer's own; both folders have it then.

    What cannot be linked is left to `settle`. Raises OSError for a folder inside that cannot be read: see `check_movable`.
    """
    for name in os.listdir(old / inside):
        path = f"{inside}{name}"
        if owns(path) or is_temporary(name):
            continue
        if not _is_folder(old / path):
            with contextlib.suppress(OSError):
                (new / inside).mkdir(parents=True, exist_ok=True)
                _linked(old / path, new / path)
            continue
        carry_over(old, new, owns, f"{path}/")
        if not os.listdir(old / path):
            (new / path).mkdir(parents=True, exist_ok=True)
        if (new / path).is_dir():
            shutil.copystat(old / path, new / path)


def check_movable(folder: Path, owns: Owns, inside: str = "") -> None:
    """Raises KerasBertError for a folder inside that is not the writer's and cannot move over."""
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


def settle(old: Path, heir: Path, owns: Owns, inside: str = "") -> None:
    """Removes a folder whose place `heir` has taken: the writer's own, and what `heir` has too. What it has not moves there.

    What can neither be removed nor moved stays where it is.
    """
    with contextlib.suppress(OSError):
        for name in os.listdir(old / inside):
            path = f"{inside}{name}"
            with contextlib.suppress(OSError):
                if _is_folder(old / path) and not owns(path):
                    settle(old, heir, owns, f"{path}/")
                elif owns(path) or is_temporary(name) or _is_same(old / path, heir / path):
                    _remove(old / path)
                elif not os.path.lexists(heir / path):
                    (heir / inside).mkdir(parents=True, exist_ok=True)
                    os.rename(old / path, heir / path)
        os.rmdir(old / inside)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _linked(source: Path, target: Path) -> None:
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
