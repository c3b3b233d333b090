"""Progress on stderr: a bar on a terminal, a plain line every ten seconds anywhere else; for work in which Ctrl-C ends the process."""

import os
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack

from kerasbert.cli.interrupts import native_code
from kerasbert.console.escapes import escape_controls
from kerasbert.console.output import leave_notes, note, take_notes
from kerasbert.console.widths import cell_width

__all__ = ["Progress", "note", "progress"]

_FIRST_LINE, _EVERY = 2.0, 10.0  # seconds
_BAR = 16  # cells
BAR, GAP = "\0", "  "


def progress(what: str) -> "Progress":
    """A context manager that shows how far `what` is; see `Progress.update`."""
    moves = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return _Bar(what) if moves else _Lines(what)


class Progress(AbstractContextManager):
    """Shows nothing beyond that it is running until `update` tells more.

    A stage has a clock of its own, which stands while another one runs.
    """

    def __init__(self, what: str):
        self.state = _State(what)

    def __enter__(self):
        self._exits = ExitStack()
        self._exits.callback(self.stop)
        self._exits.enter_context(native_code(self.stop))
        self.start()
        return self

    def __exit__(self, *exception):
        self._exits.close()

    def start(self) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        raise NotImplementedError

    def update(
        self, done: int, total: int, remark: str | Sequence[str] = "", what: str | None = None, unit: str = ""
    ) -> None:
        """`done` of `total`.

        Args:
            remark: figures to show, the most important one first: where room is short, the last ones are left out.
            what: another name from now on, such as the next stage's.
            unit: what is counted, such as `steps`.
        """
        self.state.update(done, total, (remark,) if isinstance(remark, str) else tuple(remark), what, unit)


class _State:
    """How far the running stage is, and how long each one ran."""

    def __init__(self, what: str):
        self.what, self.unit, self.remarks = what, "", ()
        self.done = self.total = None
        self._stood: dict[str, tuple[float, tuple | None]] = {}  # of stages that stand still
        self._began, self._first = time.monotonic(), None

    def update(self, done: int, total: int, remarks: Sequence[str], what: str | None, unit: str) -> None:
        if what is not None and what != self.what:
            self._stood[self.what] = (self.elapsed, self._first)
            elapsed, self._first = self._stood.pop(what, (0.0, None))
            self.what, self._began = what, time.monotonic() - elapsed
        self.done, self.total, self.unit = done, total, unit
        self.remarks = tuple(remark for remark in remarks if remark)
        self._first = self._first or (
            self.elapsed,
            done,
        )  # what came before is no measure: it compiles, or goes on with a training

    @property
    def elapsed(self) -> float:
        """Seconds of this stage."""
        return time.monotonic() - self._began

    @property
    def count(self) -> str:
        return "" if self.done is None else f"{self.done:,}/{self.total:,}{self.unit and ' ' + self.unit}"

    @property
    def left(self) -> str:
        """The time that is left, once it can be estimated."""
        began, done = self._first or (0.0, 0)
        if not self.done or not done < self.done < self.total:
            return ""
        return f"{clock((self.elapsed - began) / (self.done - done) * (self.total - self.done))} left"

    def parts(self, width: int, bar: int) -> list[str]:
        """What fits into `width` cells: the stage, BAR for a bar of `bar` cells, the count, figures and times.

        The last figures go first, then the time that has passed, the bar, the time that is left, and the first figure.
        """
        what, count, left, elapsed = self.what, self.count, self.left, f"{clock(self.elapsed)} elapsed"
        kept = [self.remarks[:many] for many in range(len(self.remarks), 0, -1)] or [()]
        choices = [[what, BAR, count, *remarks, elapsed, left] for remarks in kept]
        for fewer in ([what, BAR, count, *kept[-1], left], [what, count, *kept[-1], left], [what, count, *kept[-1]]):
            choices.append(fewer)
        choices = [[escape_controls(part) for part in choice if part] for choice in choices]
        for choice in choices:
            cells = sum(bar if part == BAR else cell_width(part) for part in choice) + len(GAP) * (len(choice) - 1)
            if cells <= width:
                return choice
        return choices[-1][:2]

    def line(self) -> str:
        """All of it, without a bar."""
        figures = [self.count, *self.remarks, f"{clock(self.elapsed)} elapsed", self.left]
        return f"{self.what}: {', '.join(figure for figure in figures if figure)}"


class _Bar(Progress):
    """rich asks how it looks several times a second, in the width that the terminal has then."""

    def start(self):
        from rich.console import Console
        from rich.live import Live

        self._console = Console(file=sys.stderr)
        self._live = Live(
            self, console=self._console, transient=True, redirect_stdout=False, redirect_stderr=False, refresh_per_second=8
        )  # fmt: skip
        self._live.start()
        take_notes(self._above)

    def stop(self):
        leave_notes(self._above)
        self._live.stop()

    def _above(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def __rich_console__(self, console, options):
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        state = self.state
        bar = ProgressBar(total=state.total, completed=state.done or 0, width=_BAR, pulse=state.done is None)
        parts = [bar if part == BAR else Text(part, no_wrap=True) for part in state.parts(options.max_width, _BAR)]
        line = Table.grid(padding=(0, len(GAP)), pad_edge=False)
        for _ in parts:
            line.add_column(no_wrap=True)
        line.add_row(*parts)
        yield line


class _Lines(Progress):
    def start(self):
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._talk, daemon=True)
        self._thread.start()

    def stop(self):
        self._stop.set()

    def _talk(self) -> None:
        pause = _FIRST_LINE
        while not self._stop.wait(pause):
            note(self.state.line())
            pause = _EVERY


def clock(seconds: float) -> str:
    """`1:05` or `2:00:07`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
