"""Progress on stderr: a bar on a terminal, a plain line every ten seconds anywhere else."""

import os
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from kerasbert.console.escapes import escape_controls
from kerasbert.console.output import add_note_handler, note, remove_note_handler, write
from kerasbert.console.widths import cell_width, wrap

if TYPE_CHECKING:  # rich is imported when a bar starts
    from rich.console import Console, ConsoleOptions, RenderResult

_FIRST_LINE_SECONDS, _LINE_SECONDS = 2.0, 10.0
BAR = "\uf8ff"  # one cell of the bar; a private-use character
GAP = "  "  # between parts
_MAIN_FIGURES = 2  # that are dropped last
_RESERVED_WIDTH = 45  # cells kept free for the parts after the stage's name
_MIN_NAME_WIDTH = 20  # cells
_LONG_BAR, _SHORT_BAR = 16 * BAR, 8 * BAR


def progress(stage: str, unit: str = "") -> "Display":
    """Return a context manager that shows the progress of a stage, and of others that begin later.

    Args:
        stage: The name of the work.
        unit: The units that are counted, such as `steps`.
    """
    animated = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return _Bar(stage, unit) if animated else _Lines(stage, unit)


class Progress:
    """What long work reports to. This class prints notes to stdout and shows nothing else; subclasses show more."""

    def begin(self, stage: str, total: int = 0, unit: str = "") -> None:
        """Begin a stage, or go on with it.

        Args:
            stage: The name of the stage.
            total: Units in all; 0 while it is not known.
            unit: The units that are counted, such as `steps`.
        """

    def advance(self, done: int, total: int | None = None, figures: str | Sequence[str] = ()) -> None:
        """Set the progress of the running stage. This method itself is what a function calls as its `report`.

        Args:
            done: Units done.
            total: Units in all; None if the number is known already.
            figures: Values to show, such as `loss 0.43`, the most important first. The last ones are dropped where space is short.
        """

    def note(self, line: str) -> None:
        """Print a line that stays."""
        write(line)

    def end(self) -> None:
        """End the work; further calls do nothing."""


class Display(Progress, AbstractContextManager):
    """Progress on stderr.

    Before the first `advance` only the elapsed time is known. Each stage has a clock, which pauses while another stage runs.

    Attributes:
        on_terminal: True for a bar, which disappears at the end.
        state: the progress of the running stage.
    """

    on_terminal = False

    def __init__(self, stage: str, unit: str = "") -> None:
        self.state = _State(stage, unit)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.end()

    def start(self) -> None:
        """Begin to show the progress."""
        raise NotImplementedError

    def begin(self, stage: str, total: int = 0, unit: str = "") -> None:
        self.state.next_stage, self.state.total, self.state.unit = stage, total, unit

    def advance(self, done: int, total: int | None = None, figures: str | Sequence[str] = ()) -> None:
        state = self.state
        shown = (figures,) if isinstance(figures, str) else tuple(figures)
        state.update(done, state.total if total is None else total, shown, state.next_stage, state.unit)

    def note(self, line: str) -> None:
        note(line)


@dataclass
class _Clock:
    """Time and counts of one stage.

    Attributes:
        started: the time at which the stage would have started without pauses.
        first_done: the count at the stage's first update.
        measured_from: elapsed seconds and count after the first unit. Rates are measured from there: models compile in the first step.
    """

    started: float
    first_done: int | None = None
    measured_from: tuple[float, int] | None = None

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started


class _State:
    """Progress of the running stage, and the paused clocks of the others."""

    def __init__(self, stage: str, unit: str = "") -> None:
        self.stage, self.unit = stage, unit
        self.next_stage: str | None = None  # from the next update on
        self.figures: tuple[str, ...] = ()
        self.done = self.total = 0
        self._clock = _Clock(time.monotonic())
        self._paused: dict[str, tuple[float, int, _Clock]] = {}  # stage -> elapsed seconds, count, clock

    def update(self, done: int, total: int, figures: Sequence[str], stage: str | None, unit: str) -> None:
        if stage is not None and stage != self.stage:
            self._switch(stage, done)
        self.done, self.total, self.unit = done, total, unit
        self.figures = tuple(figure for figure in figures if figure)
        clock = self._clock
        if clock.first_done is None:
            clock.first_done = done
        if clock.measured_from is None and done > clock.first_done:
            clock.measured_from = (clock.elapsed, done)

    def _switch(self, stage: str, done: int) -> None:
        """Pause the running stage's clock and start another's, anew if that stage starts over."""
        self._paused[self.stage] = (self.elapsed, self.done, self._clock)
        now = time.monotonic()
        elapsed, previous_done, clock = self._paused.pop(stage, (0.0, 0, _Clock(now)))
        if done < previous_done:
            elapsed, clock = 0.0, _Clock(now)
        clock.started = now - elapsed
        self.stage, self._clock = stage, clock

    @property
    def elapsed(self) -> float:
        """Seconds of this stage."""
        return self._clock.elapsed

    @property
    def count(self) -> str:
        return "" if not self.total else f"{self.done:,}/{self.total:,}{self.unit and ' ' + self.unit}"

    @property
    def left(self) -> str:
        """The remaining time, or nothing while it cannot be estimated."""
        seconds, done = self._clock.measured_from or (0.0, 0)
        if not self.done or not done < self.done < self.total:
            return ""
        return f"{format_duration((self.elapsed - seconds) / (self.done - done) * (self.total - self.done))} left"

    def parts(self, width: int) -> list[str]:
        """The parts of the line that fit into `width` cells: the stage, a bar as a run of `BAR`, the count, figures and times.

        Parts are dropped in this order: the last figure, the elapsed time, figures from the third on, the bar, the remaining time.
        """
        stage = _shorten(self.stage, max(width - _RESERVED_WIDTH, _MIN_NAME_WIDTH))
        layouts = [[escape_controls(part) for part in layout if part] for layout in self._layouts(stage)]
        fitting = (layout for layout in layouts if sum(map(cell_width, layout)) + len(GAP) * (len(layout) - 1) <= width)
        return next(fitting, layouts[-1])

    def _layouts(self, stage: str) -> list[list[str]]:
        """All layouts of the line, the longest first."""
        count, left, elapsed = self.count, self.left, f"{format_duration(self.elapsed)} elapsed"
        figures = self.figures
        fewer = figures[: max(len(figures) - 1, 1)]
        main = fewer[:_MAIN_FIGURES]
        return [
            [stage, _LONG_BAR, count, *figures, elapsed, left],
            [stage, _LONG_BAR, count, *fewer, elapsed, left],
            *([stage, _LONG_BAR, count, *fewer[:number], left] for number in range(len(fewer), len(main), -1)),
            [stage, _LONG_BAR, count, *main, left],
            [stage, _SHORT_BAR, count, *main, left],
            [stage, count, *main, left],
            *([stage, count, *main[:number]] for number in range(len(main), 0, -1)),
            [stage, count],
            [stage],
        ]

    def line(self) -> str:
        """The whole state as one line without a bar."""
        figures = [self.count, *self.figures, f"{format_duration(self.elapsed)} elapsed", self.left]
        return f"{self.stage}: {', '.join(figure for figure in figures if figure)}"


class _Bar(Display):
    """A bar drawn by rich, which renders it several times a second in the terminal's current width."""

    on_terminal = True

    def start(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._console = Console(file=sys.stderr)
        self._live = Live(
            self, console=self._console, transient=True, redirect_stdout=False, redirect_stderr=False, refresh_per_second=8
        )  # fmt: skip
        self._live.start()
        add_note_handler(self._print_above)

    def end(self) -> None:
        remove_note_handler(self._print_above)
        self._live.stop()

    def _print_above(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        state = self.state

        def render(part: str) -> Text | ProgressBar:
            if not part.startswith(BAR):
                return Text(part, no_wrap=True)
            return ProgressBar(state.total or None, state.done, width=len(part), pulse=not state.total)

        parts = list(map(render, state.parts(options.max_width)))
        line = Table.grid(padding=(0, len(GAP)), pad_edge=False)
        for _ in parts:
            line.add_column(no_wrap=True)
        line.add_row(*parts)
        yield line


class _Lines(Display):
    """Plain lines from a thread of their own."""

    def start(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._print_lines, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._stop.set()

    def _print_lines(self) -> None:
        pause = _FIRST_LINE_SECONDS
        while not self._stop.wait(pause):
            note(self.state.line())
            pause = _LINE_SECONDS


def _shorten(stage: str, width: int) -> str:
    return stage if cell_width(stage) <= width else f"{wrap(stage, width - 4)[0]} ..."


def format_duration(seconds: float) -> str:
    """Format a time as `1:05` or `2:00:07`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
