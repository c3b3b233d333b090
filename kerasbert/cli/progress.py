"""Progress on stderr: a bar on a terminal, a plain line every ten seconds anywhere else; for work in which Ctrl-C ends the process."""

import sys
import threading
import time
from contextlib import AbstractContextManager, ExitStack

from kerasbert.cli.interrupts import native_code

_FIRST_LINE, _EVERY = 2.0, 10.0  # seconds
_bars: list = []  # those on the terminal now


def note(line: str) -> None:
    """A line for people; never on stdout."""
    if _bars:
        _bars[-1].console.print(line, markup=False, highlight=False, soft_wrap=True)  # above the bar, not in it
    else:
        print(line, file=sys.stderr, flush=True)


def progress(what: str) -> "Progress":
    """A context manager that shows how far `what` is; see `Progress.update`."""
    return _Bar(what) if sys.stderr.isatty() else _Lines(what)


class Progress(AbstractContextManager):
    """Shows nothing beyond that it is running until `update` tells more."""

    def __init__(self, what: str):
        self.what = what

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

    def update(self, done: int, total: int, remark: str = "", what: str | None = None) -> None:
        """`done` of `total` steps; `remark`: figures to show; `what`: a new name, such as the next stage's."""
        raise NotImplementedError


class _Bar(Progress):
    def start(self):
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars
        from rich.table import Column

        flexible = Column(
            ratio=1, no_wrap=True, overflow="ellipsis"
        )  # a narrow terminal cuts the remark, not the times
        columns = [
            TextColumn("{task.description}"), BarColumn(bar_width=16), TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
            TextColumn("{task.fields[remark]}", table_column=flexible),
        ]  # fmt: skip
        self._bars = Bars(
            *columns,
            console=Console(file=sys.stderr),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            expand=True,
        )
        self._task = self._bars.add_task(self.what, total=None, count="", remark="")
        self._bars.start()
        _bars.append(self._bars)

    def update(self, done, total, remark="", what=None):
        if what is not None and what != self.what:
            self.what = what
            self._bars.reset(self._task, total=total, description=what)
        self._bars.update(self._task, completed=done, total=total, count=f"{done}/{total}", remark=remark)

    def stop(self):
        if self._bars in _bars:
            _bars.remove(self._bars)
        self._bars.stop()


class _Lines(Progress):
    def start(self):
        self._started = time.monotonic()
        self._state: tuple[int, int, str] | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._talk, daemon=True)
        self._thread.start()

    def update(self, done, total, remark="", what=None):
        if what is not None and what != self.what:
            self.what, self._started = what, time.monotonic()
        self._state = (done, total, remark)

    def stop(self):
        self._stop.set()

    def _talk(self) -> None:
        pause = _FIRST_LINE
        while not self._stop.wait(pause):
            note(self._line(time.monotonic() - self._started))
            pause = _EVERY

    def _line(self, elapsed: float) -> str:
        if self._state is None:
            return f"{self.what}: {_clock(elapsed)}"
        done, total, remark = self._state
        left = f"{_clock(elapsed / done * (total - done))} left" if done else ""
        return ", ".join(part for part in (f"{self.what}: {done}/{total}", remark, _clock(elapsed), left) if part)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
