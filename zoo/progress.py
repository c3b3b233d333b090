"""Progress of numbered steps: a bar on a terminal, and lines that stay."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kerasbert.console.output import note
from kerasbert.console.progress import Progress, progress


class Steps:
    """Numbered steps of a job on stderr: each is announced as `2/7 title`, and has a progress and a duration.

    Args:
        total: the number of steps.
    """

    def __init__(self, total: int) -> None:
        self.total, self.number = total, 0

    @contextmanager
    def step(self, title: str) -> Iterator["Step"]:
        """Run the block as the next step. After an error the step is not reported as done."""
        self.number += 1
        heading, start = f"{self.number}/{self.total} {title}", time.monotonic()
        with progress(heading) as bar:
            if not bar.on_terminal:
                note(f"{heading} ...")
            step = Step(heading, bar)
            yield step
        summary = f"{heading}: {step.result}" if step.result else heading
        note(f"{summary} ({time.monotonic() - start:.1f} s)")


class Step(Progress):
    """A running step. Its bar keeps the step's title.

    Attributes:
        result: a short result for the step's last line.
    """

    def __init__(self, title: str, bar: Progress) -> None:
        self.result = ""
        self._title, self._bar = title, bar

    def begin(self, stage: str, total: int = 0, unit: str = "") -> None:
        self._bar.begin(self._title, total, unit)

    def advance(self, done: int, total: int | None = None, figures: str | Sequence[str] = ()) -> None:
        self._bar.advance(done, total)

    def note(self, line: str) -> None:
        note(f"    {line}")
