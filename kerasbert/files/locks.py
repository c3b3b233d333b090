"""One process at a time writes to a place; the lock ends with the process, however that ends."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from kerasbert.cleanup import removed_by
from kerasbert.errors import KerasBertError
from kerasbert.files import partials


@contextlib.contextmanager
def locked(path: str | os.PathLike) -> Iterator[None]:
    """While it lasts, no other process gets the lock of `path`, which need not be there; its folder must.

    The lock is a hidden file beside `path` with this process' number in it. Where the file system has no locks there is none.

    Raises KerasBertError, with the number of the process that has it.
    """
    path = Path(os.path.realpath(path))
    lock = path.with_name(partials.hidden_prefix(path.name) + "lock")
    descriptor = _take(lock, path)

    def remove() -> None:
        lock.unlink(missing_ok=True)

    if descriptor is None:
        yield
        return
    with removed_by(remove):
        try:
            yield
        finally:
            remove()
            partials.release(descriptor)


def _take(lock: Path, path: Path) -> int | None:
    while True:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        try:
            descriptor = partials.try_lock(lock)
        except FileNotFoundError:  # whoever had it has just ended
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
        partials.release(descriptor)


def _holder(lock: Path) -> str:
    try:
        number, _, machine = lock.read_text("utf-8").strip().partition(" ")
    except (OSError, ValueError):
        return "another process"
    if not number.isdecimal():
        return "another process"
    return f"process {number}" + (f" on {machine[:80]}" if machine != os.uname().nodename else "")
