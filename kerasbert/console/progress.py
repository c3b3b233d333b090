"""Progress on stderr: a bar on a terminal, a plain line every ten seconds anywhere else."""

import os
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager

from kerasbert.console.escapes import escape_controls
from kerasbert.console.output import leave_notes, note, take_notes
from kerasbert.console.widths import cell_width, wrap

_FIRST_LINE, _EVERY = 2.0, 10.0  # seconds
BAR, GAP = "\uf8ff", "  "  # a cell of the bar, of a private character; blanks between parts
_MAIN = 2  # figures that stay longest
_BESIDE, _NAME = 45, 20  # cells for what stands beside the name of a stage; the fewest for the name
_BAR, _SHORT_BAR = 16 * BAR, 8 * BAR


def progress(what: str) -> "Progress":
    """A context manager that shows how far `what` is; see `Progress.update`."""
    moves = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return _Bar(what) if moves else _Lines(what)


class Progress(AbstractContextManager):
    """Shows nothing beyond that it is running until `update` tells more.

    A stage has a clock of its own, which stands while another one runs.
    """

    on_terminal = False

    def __init__(self, what: str):
        self.state = _State(what)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.stop()

    def start(self) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        """Takes the bar off the terminal; once more does nothing."""
        raise NotImplementedError

    def update(
        self, done: int, total: int, remark: str | Sequence[str] = "", what: str | None = None, unit: str = ""
    ) -> None:
        """`done` of `total`, which is 0 while it is not known.

        Args:
            remark: figures to show, the most important one first: where room is short, the last ones are left out.
            what: another name from now on, such as the next stage's.
            unit: what is counted, such as `steps`.
        """
        self.state.update(done, total, (remark,) if isinstance(remark, str) else tuple(remark), what, unit)

    def rows(self, done: int, total: int) -> None:
        """`update` for what counts rows."""
        self.update(done, total, unit="rows")


class _State:
    """How far the running stage is, and how long each one ran."""

    def __init__(self, what: str):
        self.what, self.unit, self.remarks = what, "", ()
        self.done = self.total = None
        self._stood: dict[str, tuple] = {}  # clocks of stages that stand still
        self._began = time.monotonic()
        self._before: int | None = None  # what was done when the stage began
        self._first: tuple[float, int] | None = None  # seconds and what was done once the first part of it was

    def update(self, done: int, total: int, remarks: Sequence[str], what: str | None, unit: str) -> None:
        if what is not None and what != self.what:
            self._stood[self.what] = (self.elapsed, self._before, self._first, self.done)
            elapsed, self._before, self._first, stood = self._stood.pop(what, (0.0, None, None, None))
            if stood is not None and done < stood:  # it begins anew
                elapsed, self._before, self._first = 0.0, None, None
            self.what, self._began = what, time.monotonic() - elapsed
        self.done, self.total, self.unit = done, total, unit
        self.remarks = tuple(remark for remark in remarks if remark)
        self._before = done if self._before is None else self._before
        if self._first is None and done > self._before:  # the first step is no measure: models are compiled in it
            self._first = (self.elapsed, done)

    @property
    def elapsed(self) -> float:
        """Seconds of this stage."""
        return time.monotonic() - self._began

    @property
    def count(self) -> str:
        return "" if not self.total else f"{self.done:,}/{self.total:,}{self.unit and ' ' + self.unit}"

    @property
    def left(self) -> str:
        """The time that is left, once it can be estimated."""
        began, done = self._first or (0.0, 0)
        if not self.done or not done < self.done < self.total:
            return ""
        return f"{clock((self.elapsed - began) / (self.done - done) * (self.total - self.done))} left"

    def parts(self, width: int) -> list[str]:
        """What fits into `width` cells: the stage, a bar as that many BAR, the count, figures and times.

        First the last figure goes, then the time that has passed, figures from the third on, the bar, and the time that is left.
        """
        what = _shortened(self.what, max(width - _BESIDE, _NAME))
        choices = [[escape_controls(part) for part in choice if part] for choice in self._choices(what)]
        fitting = (choice for choice in choices if sum(map(cell_width, choice)) + len(GAP) * (len(choice) - 1) <= width)
        return next(fitting, choices[-1])

    def _choices(self, what: str) -> list[list[str]]:
        """Longer ones first."""
        count, left, elapsed = self.count, self.left, f"{clock(self.elapsed)} elapsed"
        figures = self.remarks
        fewer = figures[: max(len(figures) - 1, 1)]
        main = fewer[:_MAIN]
        return [
            [what, _BAR, count, *figures, elapsed, left],
            [what, _BAR, count, *fewer, elapsed, left],
            *([what, _BAR, count, *fewer[:kept], left] for kept in range(len(fewer), len(main), -1)),
            [what, _BAR, count, *main, left],
            [what, _SHORT_BAR, count, *main, left],
            [what, count, *main, left],
            *([what, count, *main[:kept]] for kept in range(len(main), 0, -1)),
            [what, count],
            [what],
        ]

    def line(self) -> str:
        """All of it, without a bar."""
        figures = [self.count, *self.remarks, f"{clock(self.elapsed)} elapsed", self.left]
        return f"{self.what}: {', '.join(figure for figure in figures if figure)}"


class _Bar(Progress):
    """rich asks how it looks several times a second, in the width that the terminal has then."""

    on_terminal = True

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

        def shown(part: str):
            if not part.startswith(BAR):
                return Text(part, no_wrap=True)
            return ProgressBar(state.total or None, state.done or 0, width=len(part), pulse=not state.total)

        parts = list(map(shown, state.parts(options.max_width)))
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


def _shortened(what: str, width: int) -> str:
    return what if cell_width(what) <= width else f"{wrap(what, width - 4)[0]} ..."


def clock(seconds: float) -> str:
    """`1:05` or `2:00:07`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
