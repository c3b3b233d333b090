"""What a running command writes to: for it alone until it ends, and looked at again when it is interrupted."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from kerasbert.cleanup import cleanup_on_exit
from kerasbert.files.locks import locked
from kerasbert.files.model_folder import CONFIG_FILE, OWN_FILE, RUN_FOLDER, has_interrupted_run

_running: list["Claims"] = []
_told: list[int] = []  # the descriptor to which claims are written


def tell(descriptor: int) -> None:
    """Has every claim of this process written there: its path, and a zero byte."""
    _told.append(descriptor)


class Claims:
    """The places that one command has claimed."""

    def __init__(self, out: Path | None):
        self.exits = contextlib.ExitStack()
        self._look_at(out)

    def add(self, out: Path) -> None:
        for descriptor in _told:
            os.write(descriptor, os.fsencode(os.path.realpath(out)) + b"\0")
        self.exits.enter_context(locked(out))
        self._look_at(out)

    def _look_at(self, out: Path | None) -> None:
        self.out = None if out is None else Path(out)
        self._before = None if self.out is None else _state_of(self.out)

    def what_became(self) -> str:
        """A line about an interrupted command's output."""
        if self.out is None:
            return "interrupted"
        if self.out.is_dir() and has_interrupted_run(self.out):
            recipe = self.out / RUN_FOLDER / CONFIG_FILE
            again = f"`kerasbert train {recipe} --resume`" if recipe.is_file() else "the same command with --resume"
            return f"interrupted; {again} goes on from the last saved state"
        written = _state_of(self.out) != self._before
        return f"interrupted; {'already written:' if written else 'nothing was written to'} {self.out}"


@contextlib.contextmanager
def claims(out: Path | None) -> Iterator[Claims]:
    """Those of the command that runs in it. out: where its options say that it writes."""
    found = Claims(out)
    _running.append(found)
    try:
        with found.exits:
            yield found
    finally:
        _running.remove(found)


def claim(out: Path) -> None:
    """Locks a place for the command that runs. Raises KerasBertError, with the process' number, where another one writes to it."""
    if _running:
        _running[-1].add(out)


def make_parent(out: Path) -> None:
    """Makes the one folder above `out` that may be missing; it goes with the command where nothing was written to it."""
    parent = out.absolute().parent
    if not parent.is_dir():
        parent.mkdir()
        if _running:
            _running[-1].exits.callback(_remove_if_empty, parent)
            _running[-1].exits.enter_context(cleanup_on_exit(lambda: _remove_if_empty(parent)))


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def _state_of(path: Path) -> tuple[int, int] | None:
    """What tells whether a file was replaced or written, or the model in a folder; None where there is none."""
    try:
        found = os.stat(path / OWN_FILE if path.is_dir() else path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
