"""What is being written, beside its place: under which name, held by whom, and what a process that was killed left there."""

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
except ImportError:  # Windows: nothing is locked, and so nothing is taken for abandoned
    fcntl = None

NEW, OLD = (
    ".new",
    ".old",
)  # a folder that is complete and takes, or took, the place of another; one that was moved aside
_MARK = ".kerasbert-"
_TEMPORARY = re.compile(rf"\..*{re.escape(_MARK)}(lock|[a-z0-9_]{{8}}({re.escape(NEW)}|{re.escape(OLD)})?)")
_LONGEST_NAME = 100  # bytes; longer names are hashed, so that ours fit wherever theirs do


def hidden_prefix(name: str) -> str:
    """`.NAME.kerasbert-`, what the names of all temporary files and folders beside `name` begin with."""
    encoded = os.fsencode(name)
    return f".{name if len(encoded) <= _LONGEST_NAME else hashlib.sha256(encoded).hexdigest()[:16]}{_MARK}"


def is_temporary(name: str) -> bool:
    """Whether a file or folder of this name was made here, for as long as something is written."""
    return _TEMPORARY.fullmatch(name) is not None


def create(path: Path, folder: bool = False) -> tuple[Path, int | None]:
    """A new, empty file or folder beside `path`, and the descriptor that locks it until it is closed or the process ends (None where the
    file system has no locks)."""
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
        # Another process looked at it before it was locked, took it for abandoned and removes it.
        release(descriptor)


def abandoned(path: Path) -> Iterator[Path]:
    """Files and folders that processes made beside `path` to write it, and did not live to remove; locked while they are looked at."""
    prefix = hidden_prefix(path.name)
    try:
        names = sorted(name for name in os.listdir(path.parent) if name.startswith(prefix) and is_temporary(name))
    except OSError:
        return
    for name in names:
        left = path.parent / name
        with contextlib.suppress(OSError):
            if os.lstat(left).st_uid != _user() or (descriptor := try_lock(left)) is None:
                continue
            try:
                yield left
            finally:
                release(descriptor)


def clear_inside(folder: Path) -> None:
    """Removes the files that killed processes were writing anywhere in a folder. Links in it are not followed."""
    for parent, _, names in os.walk(folder):
        for left in (Path(parent, name) for name in names if is_temporary(name)):
            with contextlib.suppress(OSError):
                if (descriptor := try_lock(left)) is not None:
                    left.unlink()
                    release(descriptor)


def try_lock(path: Path) -> int | None:
    """A descriptor that locks a file or folder; None where another holds the lock.

    Raises OSError where there is no such thing, where it is a link, and where the file system has no locks.
    """
    if fcntl is None:
        raise OSError("no locks")
    kind = os.lstat(path).st_mode
    if stat.S_ISDIR(kind):
        flags = os.O_RDONLY | os.O_DIRECTORY
    elif stat.S_ISREG(kind):
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
    """Whether the descriptor's file or folder is the one at `path`."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def release(descriptor: int | None) -> None:
    if descriptor is not None:
        os.close(descriptor)


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
