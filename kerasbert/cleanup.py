"""What must not outlive the process: temporary folders, and whatever else is registered here, also where a signal ends it at once."""

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from kerasbert.files.partials import is_open_at, release, try_lock

_open: list[Callable[[], None]] = []
_SECONDS = 3.0  # for processes that were killed to end; they may write until then
_MARK = ".kerasbert-temporary"  # in every temporary folder of ours, locked as long as its process lives
_place: str | None = None  # of temporary folders, where `tempfile` is told another


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
    """A folder `kerasbert-PURPOSE-...` among the system's temporary ones. It is gone with the block, and with the process; one of a process
    that was killed goes when the next one makes such a folder."""
    place = Path(tempfile.gettempdir() if _place is None else _place)
    clear_abandoned(place)
    folder, lock = _marked_folder(place, purpose)

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
            release(lock)


@contextlib.contextmanager
def temporary_files_kept_together() -> Iterator[None]:
    """While it lasts, what libraries make with `tempfile` lies in one `temporary_folder`, and goes with it. TensorFlow's AutoGraph, for
    one, leaves its files behind where a signal ends the process."""
    global _place
    before, usual = _place, tempfile.tempdir
    place = tempfile.gettempdir() if before is None else before
    with temporary_folder("command") as folder:
        _place, tempfile.tempdir = place, str(folder)
        try:
            yield
        finally:
            _place, tempfile.tempdir = before, usual


def _marked_folder(place: Path, purpose: str) -> tuple[Path, int | None]:
    """A new folder with what tells that it is ours, and the lock that tells that it is in use."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"kerasbert-{purpose}-", dir=place))
        mark = folder / _MARK
        try:
            mark.touch()
            lock = try_lock(mark)
        except FileNotFoundError:  # another process took it for abandoned
            continue
        except OSError:
            return folder, None
        if lock is not None and is_open_at(lock, mark):
            return folder, lock
        release(lock)


def clear_abandoned(place: Path | None = None) -> None:
    """Removes temporary folders of processes that were killed; place: where, by default the system's."""
    place = place or Path(tempfile.gettempdir())
    with contextlib.suppress(OSError):
        for name in os.listdir(place):
            mark = place / name / _MARK
            if not name.startswith("kerasbert-") or not mark.is_file():
                continue
            with contextlib.suppress(OSError):
                lock = try_lock(mark)
                if lock is not None:
                    shutil.rmtree(place / name, ignore_errors=True)
                    release(lock)
