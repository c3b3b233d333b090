"""Progress of numbered steps: a bar on a terminal, and lines that stay."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kerasbert.console.output import note
from kerasbert.console.progress import Progress, progress

if TYPE_CHECKING:
    import tf_keras as keras


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
            step = Step(bar)
            yield step
        summary = f"{heading}: {step.result}" if step.result else heading
        note(f"{summary} ({time.monotonic() - start:.1f} s)")


class Step:
    """A running step.

    Attributes:
        result: a short result for the step's last line.
    """

    def __init__(self, bar: Progress) -> None:
        self.result = ""
        self._bar = bar

    def advance(self, done: int, total: int, unit: str = "") -> None:
        """Move the bar to `done` of `total` units."""
        self._bar.update(done, total, unit=unit)

    def note(self, line: str) -> None:
        """Print a line that stays."""
        note(f"    {line}")

    def callback(self) -> "keras.callbacks.Callback":
        """Return a Keras callback that moves the bar with each batch and prints loss and metrics after each epoch."""
        import tf_keras as keras

        step = self

        class StepCallback(keras.callbacks.Callback):
            def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
                self.batches = 0

            def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
                self.epoch = epoch

            def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
                self.batches += 1
                if total := self.params.get("steps"):
                    step.advance(self.batches, total * self.params["epochs"], "steps")

            def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
                values = ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in (logs or {}).items())
                step.note(f"epoch {epoch + 1}/{self.params['epochs']}: {values}")

        return StepCallback()
