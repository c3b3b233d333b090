"""What must not outlive the process: temporary folders, and whatever else is registered here, also where a signal ends it at once."""

import contextlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

_open: list[Callable[[], None]] = []
_SECONDS = 3.0  # for processes that were killed to end; they may write until then


@contextlib.contextmanager
def removed_by(remove: Callable[[], None]) -> Iterator[None]:
    """While it lasts, `remove_all` calls `remove`; the block itself does not, whichever way it ends."""
    _open.append(remove)
    try:
        yield
    finally:
        _open.remove(remove)


def remove_all() -> None:
    """Removes what is there now, the newest first. For a signal's handler that ends the process; errors are left aside."""
    for remove in reversed(list(_open)):
        with contextlib.suppress(Exception):
            remove()


@contextlib.contextmanager
def temporary_folder(purpose: str) -> Iterator[Path]:
    """A folder `kerasbert-PURPOSE-...` among the system's temporary ones. It is gone with the block, and with the process."""
    folder = Path(tempfile.mkdtemp(prefix=f"kerasbert-{purpose}-"))

    def remove() -> None:
        # A browser that was killed may still be writing its profile.
        until = time.monotonic() + _SECONDS
        shutil.rmtree(folder, ignore_errors=True)
        while folder.exists() and time.monotonic() < until:
            time.sleep(0.05)
            shutil.rmtree(folder, ignore_errors=True)

    with removed_by(remove):
        try:
            yield folder
        finally:
            remove()
