"""Output paths of running commands: locked until the command ends, and checked again when it is interrupted."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from kerasbert.files.cleanup import cleanup_on_exit
from kerasbert.files.locks import locked
from kerasbert.files.model_folder import CONFIG_FILE, OWN_FILE, RUN_FOLDER, has_interrupted_run
from kerasbert.files.site_folder import SITE_FILE

_running: list["Claims"] = []
_report_to: list[int] = []  # file descriptors


def report_claims(descriptor: int) -> None:
    """Write every later claim of this process to a file descriptor: its path and a zero byte.

    Args:
        descriptor: The file descriptor.
    """
    _report_to.append(descriptor)


class Claims:
    """The output paths that one command has claimed.

    Args:
        out: The path of the command's `--out`, if there is one.
    """

    def __init__(self, out: Path | None):
        self.exits = contextlib.ExitStack()
        self._watch(out)

    def add(self, out: Path) -> None:
        """Lock a path for the command.

        Args:
            out: The path.

        Raises:
            KerasBertError: When another process writes to it.
        """
        for descriptor in _report_to:
            os.write(descriptor, os.fsencode(os.path.realpath(out)) + b"\0")
        self.exits.enter_context(locked(out))
        self._watch(out)

    def _watch(self, out: Path | None) -> None:
        self.out = None if out is None else Path(out)
        self._before = None if self.out is None else _file_state(self.out)

    def interruption_message(self) -> str:
        """Return a line about the output of the interrupted command."""
        if self.out is None:
            return "interrupted"
        if self.out.is_dir() and has_interrupted_run(self.out):
            config = self.out / RUN_FOLDER / CONFIG_FILE
            command = f"`kerasbert train {config} --resume`" if config.is_file() else "the same command with --resume"
            return f"interrupted; {command} continues from the last checkpoint"
        written = _file_state(self.out) != self._before
        return f"interrupted; {'already written:' if written else 'nothing was written to'} {self.out}"


@contextlib.contextmanager
def claims(out: Path | None) -> Iterator[Claims]:
    """Collect the claims of the command that runs in the block, and release them at its end.

    Args:
        out: The path of the command's `--out`, if there is one.
    """
    running = Claims(out)
    _running.append(running)
    try:
        with running.exits:
            yield running
    finally:
        _running.remove(running)


def claim(out: Path) -> None:
    """Lock a path for the running command.

    Args:
        out: The path.

    Raises:
        KerasBertError: When another process writes to it; the message names the process.
    """
    if _running:
        _running[-1].add(out)


def make_parent(out: Path) -> None:
    """Create the parent folder of a path. It is removed with the end of the command if it is still empty.

    Args:
        out: The path; only its direct parent may be missing.
    """
    parent = out.absolute().parent
    if not parent.is_dir():
        parent.mkdir()
        if _running:
            _running[-1].exits.callback(_remove_if_empty, parent)
            _running[-1].exits.enter_context(cleanup_on_exit(lambda: _remove_if_empty(parent)))


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def _file_state(path: Path) -> tuple[int, int] | None:
    """Return the inode and modification time of a file, or of the model or site in a folder; None if there is none."""
    for each in (path / OWN_FILE, path / SITE_FILE) if path.is_dir() else (path,):
        with contextlib.suppress(OSError):
            status = os.stat(each)
            return status.st_ino, status.st_mtime_ns
    return None
