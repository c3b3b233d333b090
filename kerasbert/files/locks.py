"""Inter-process locks that end with their process."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.files import partials
from kerasbert.files.cleanup import cleanup_on_exit


@contextlib.contextmanager
def locked(path: str | os.PathLike) -> Iterator[None]:
    """Hold the lock of `path` against other processes for the duration of the block.

    The lock is a hidden file beside `path` that holds this process' number. On a file system without locks nothing is locked.

    Args:
        path: the file or folder; it need not exist, but its parent folder must.

    Raises:
        KerasBertError: when another process holds the lock; the message names that process.
    """
    path = Path(os.path.realpath(path))
    lock = path.with_name(partials.hidden_prefix(path.name) + "lock")
    descriptor = _acquire(lock, path)

    def remove() -> None:
        lock.unlink(missing_ok=True)

    if descriptor is None:
        yield
        return
    with cleanup_on_exit(remove):
        try:
            yield
        finally:
            remove()
            partials.release_lock(descriptor)


def _acquire(lock: Path, path: Path) -> int | None:
    while True:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        try:
            descriptor = partials.try_lock(lock)
        except FileNotFoundError:  # its previous holder has just ended
            continue
        except OSError:
            return None
        if descriptor is None:
            raise KerasBertError(
                f"expected {str(path)!r} for this command alone, received one that {_holder(lock)} is writing to; wait until it ends, or "
                "name another"
            )
        if partials.is_open_at(descriptor, lock):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()} {os.uname().nodename}\n".encode())
            return descriptor
        partials.release_lock(descriptor)


def _holder(lock: Path) -> str:
    try:
        number, _, machine = lock.read_text("utf-8").strip().partition(" ")
    except (OSError, ValueError):
        return "another process"
    if not number.isdecimal():
        return "another process"
    return f"process {number}" + (f" on {machine[:80]}" if machine != os.uname().nodename else "")
