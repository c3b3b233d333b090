"""Writing through to the disk, so that outputs survive a loss of power.

A rename is atomic for other processes, and not for the disk: a file system may keep a new name before the content. After a loss of power,
such a file is empty or cut off. Content is therefore synchronized before a rename, and the folder after it.
"""

import errno
import os
import sys
from pathlib import Path

_NOT_SUPPORTED = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EPERM, errno.EISDIR)
_FULL_SYNC = 51  # F_FULLFSYNC of macOS, whose fsync leaves data in the cache of the drive


def sync_file(path: Path) -> None:
    """Write a file's content through to the disk.

    Raises:
        OSError: when the disk reports an error, such as a lack of space.
    """
    _sync(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)  # Windows needs the right to write


def sync_folder(path: Path) -> None:
    """Write the names in a folder through to the disk; nothing where the system cannot open folders.

    Raises:
        OSError: when the disk reports an error.
    """
    if os.name != "nt":
        _sync(path, os.O_RDONLY | os.O_DIRECTORY)


def sync_tree(folder: Path) -> None:
    """Write all files and folders of a folder through to the disk, without following links.

    Raises:
        OSError: when the disk reports an error.
    """
    for parent, folders, names in os.walk(folder, topdown=False):
        for name in names:
            path = Path(parent, name)
            if path.is_file() and not path.is_symlink():
                sync_file(path)
        for name in folders:
            if not Path(parent, name).is_symlink():
                sync_folder(Path(parent, name))
    sync_folder(folder)


def _sync(path: Path, flags: int) -> None:
    try:
        descriptor = os.open(path, flags | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        if error.errno in _NOT_SUPPORTED:
            return
        raise
    try:
        if sys.platform == "darwin":
            import fcntl

            fcntl.fcntl(descriptor, _FULL_SYNC)
        else:
            os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NOT_SUPPORTED:  # some network disks cannot synchronize
            raise
    finally:
        os.close(descriptor)
