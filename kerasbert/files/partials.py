"""Temporary files and folders in the folder of their final path: names, locks, and the remains of killed processes."""

import contextlib
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: nothing is locked, so nothing is considered abandoned
    fcntl = None

NEW = ".new"  # suffix of a complete folder that replaces another, or that was replaced by an exchange
OLD = ".old"  # suffix of a folder that was moved aside
_INFIX = ".kerasbert-"
_TEMPORARY = re.compile(rf"\..*{re.escape(_INFIX)}(lock|[a-z0-9_]{{8}}({re.escape(NEW)}|{re.escape(OLD)})?)")
_MAX_NAME_BYTES = 100  # longer names are hashed, so that the temporary name fits into the file system's limit too


def hidden_prefix(name: str) -> str:
    """Return `.NAME.kerasbert-`, the prefix of all temporary files and folders beside `name`."""
    encoded = os.fsencode(name)
    return f".{name if len(encoded) <= _MAX_NAME_BYTES else hashlib.sha256(encoded).hexdigest()[:16]}{_INFIX}"


def is_temporary(name: str) -> bool:
    """Return True for the name of a temporary file or folder that this module made."""
    return _TEMPORARY.fullmatch(name) is not None


def create(path: Path, folder: bool = False) -> tuple[Path, int | None]:
    """Create a new, empty and locked file or folder beside `path`.

    Returns:
        Its path, and the descriptor that locks it until it is closed or the process ends; None where the file system has no locks.
    """
    while True:
        if folder:
            partial = Path(tempfile.mkdtemp(prefix=hidden_prefix(path.name), dir=path.parent))
        else:
            handle, name = tempfile.mkstemp(prefix=hidden_prefix(path.name), dir=path.parent)
            os.close(handle)
            partial = Path(name)
        try:
            descriptor = try_lock(partial)
        except FileNotFoundError:
            continue
        except OSError:
            return partial, None
        if descriptor is not None and is_open_at(descriptor, partial):
            return partial, descriptor
        # Before it was locked, another process considered it abandoned and removes it.
        release_lock(descriptor)


def abandoned_paths(path: Path) -> Iterator[Path]:
    """Iterate over the temporary files and folders beside `path` whose process was killed; each is locked until the next one."""
    prefix = hidden_prefix(path.name)
    try:
        names = sorted(name for name in os.listdir(path.parent) if name.startswith(prefix) and is_temporary(name))
    except OSError:
        return
    for name in names:
        candidate = path.parent / name
        with contextlib.suppress(OSError):
            if os.lstat(candidate).st_uid != _user() or (descriptor := try_lock(candidate)) is None:
                continue
            try:
                yield candidate
            finally:
                release_lock(descriptor)


def clear_inside(folder: Path) -> None:
    """Remove the temporary files of killed processes anywhere inside a folder, without following links."""
    for parent, _, names in os.walk(folder):
        for candidate in (Path(parent, name) for name in names if is_temporary(name)):
            with contextlib.suppress(OSError):
                if (descriptor := try_lock(candidate)) is not None:
                    candidate.unlink()
                    release_lock(descriptor)


def try_lock(path: Path) -> int | None:
    """Lock a file or folder without waiting.

    Returns:
        The descriptor that holds the lock, or None where another process holds it.

    Raises:
        OSError: when the path does not exist, is a link, or is on a file system without locks.
    """
    if fcntl is None:
        raise OSError("no locks")
    mode = os.lstat(path).st_mode
    if stat.S_ISDIR(mode):
        flags = os.O_RDONLY | os.O_DIRECTORY
    elif stat.S_ISREG(mode):
        flags = os.O_RDWR
    else:
        raise OSError(f"{path} is no file or folder")
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def is_open_at(descriptor: int, path: Path) -> bool:
    """Return True if the descriptor's file or folder is still the one at `path`."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def release_lock(descriptor: int | None) -> None:
    """Release the lock of `try_lock`; None holds nothing."""
    if descriptor is not None:
        os.close(descriptor)


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
