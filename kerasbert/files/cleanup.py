"""Cleanups that run when the process ends, also when a signal ends it: temporary folders and anything else registered here."""

import contextlib
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from kerasbert.files.partials import is_open_at, release_lock, try_lock

_cleanups: list[Callable[[], None]] = []
_RETRY_SECONDS = 3.0  # killed processes may still write for a moment
_MARKER = ".kerasbert-temporary"  # in each of our temporary folders; locked while its process lives
_temporary_root: str | None = None  # the system's temporary folder while `tempfile.tempdir` is redirected


@contextlib.contextmanager
def cleanup_on_exit(cleanup: Callable[[], None]) -> Iterator[None]:
    """Register `cleanup` with `run_cleanups` for the duration of the block.

    The block itself does not call `cleanup`, neither on success nor on an error.
    """
    _cleanups.append(cleanup)
    try:
        yield
    finally:
        _cleanups.remove(cleanup)


def run_cleanups() -> None:
    """Run all registered cleanups, newest first, and ignore their errors. For a signal handler that ends the process."""
    for cleanup in reversed(list(_cleanups)):
        with contextlib.suppress(Exception):
            cleanup()


@contextlib.contextmanager
def temporary_folder(purpose: str) -> Iterator[Path]:
    """Yield a temporary folder that is removed with the block and with the process.

    The next call also removes folders of processes that were killed.

    Args:
        purpose: part of the folder's name, `kerasbert-PURPOSE-...`.
    """
    root = Path(tempfile.gettempdir() if _temporary_root is None else _temporary_root)
    clear_abandoned(root)
    folders: list[Path] = []
    lock = None

    def remove() -> None:
        # A killed browser may still be writing its profile.
        deadline = time.monotonic() + _RETRY_SECONDS
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
            while folder.exists() and time.monotonic() < deadline:
                time.sleep(0.05)
                shutil.rmtree(folder, ignore_errors=True)

    with cleanup_on_exit(remove):
        try:
            lock = _create_marked_folder(root, purpose, folders)
            yield folders[-1]
        finally:
            remove()
            release_lock(lock)


@contextlib.contextmanager
def collect_temporary_files() -> Iterator[None]:
    """Redirect `tempfile` to one `temporary_folder` for the duration of the block.

    Files that libraries leave behind when a signal ends the process, such as those of TensorFlow's AutoGraph, are removed with it.
    """
    global _temporary_root
    previous_root, previous_tempdir = _temporary_root, tempfile.tempdir
    root = tempfile.gettempdir() if previous_root is None else previous_root
    with temporary_folder("command") as folder:
        _temporary_root, tempfile.tempdir = root, str(folder)
        try:
            yield
        finally:
            _temporary_root, tempfile.tempdir = previous_root, previous_tempdir


def _create_marked_folder(root: Path, purpose: str, folders: list[Path]) -> int | None:
    """Create a folder with our marker file, and return the lock on the marker that shows the folder is in use.

    Its path is appended to `folders` before it exists, so that an interrupt at any moment leaves no folder that nobody knows.
    """
    while True:
        folder = root / f"kerasbert-{purpose}-{secrets.token_hex(8)}"
        marker = folder / _MARKER
        folders.append(folder)
        folder.mkdir(mode=0o700)
        try:
            marker.touch()
            lock = try_lock(marker)
        except FileNotFoundError:  # another process considered it abandoned
            continue
        except OSError:
            return None
        if lock is not None and is_open_at(lock, marker):
            return lock
        release_lock(lock)


def clear_abandoned(root: Path | None = None) -> None:
    """Remove temporary folders of processes that were killed.

    Args:
        root: the folder to search; the system's temporary folder by default.
    """
    root = root or Path(tempfile.gettempdir())
    with contextlib.suppress(OSError):
        for name in os.listdir(root):
            marker = root / name / _MARKER
            if not name.startswith("kerasbert-") or not marker.is_file():
                continue
            with contextlib.suppress(OSError):
                lock = try_lock(marker)
                if lock is not None:
                    shutil.rmtree(root / name, ignore_errors=True)
                    release_lock(lock)
