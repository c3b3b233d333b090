"""Numbered steps: each with a progress bar on a terminal, and lines that stay."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from kerasbert.console.output import note
from kerasbert.console.progress import Progress, progress


class Steps:
    """Announces each step of a job as `2/7 title` on stderr, shows how far it is, and how long it took.

    Args:
        total: how many steps there will be.
    """

    def __init__(self, total: int):
        self.total, self.number = total, 0

    @contextmanager
    def step(self, title: str) -> Iterator["Step"]:
        """Runs the next step. An error in it passes through; then the step does not count as done."""
        self.number += 1
        head, start = f"{self.number}/{self.total} {title}", time.monotonic()
        with progress(head) as bar:
            if not bar.on_terminal:
                note(f"{head} ...")
            step = Step(bar)
            yield step
        done = f"{head}: {step.result}" if step.result else head
        note(f"{done} ({time.monotonic() - start:.1f} s)")


class Step:
    """A running step: how far it is, lines worth keeping, and a result for its last line."""

    def __init__(self, bar: Progress):
        self.result = ""
        self._bar = bar

    def advance(self, done: int, total: int, unit: str = "") -> None:
        """Moves the bar."""
        self._bar.update(done, total, unit=unit)

    def note(self, line: str) -> None:
        """Prints a line that stays."""
        note(f"    {line}")

    def callback(self):
        """A Keras callback that moves the bar with each batch and notes loss and metrics after each epoch."""
        import tf_keras as keras

        step = self

        class StepCallback(keras.callbacks.Callback):
            def on_train_begin(self, logs=None):
                self.batches = 0

            def on_epoch_begin(self, epoch, logs=None):
                self.epoch = epoch

            def on_train_batch_end(self, batch, logs=None):
                self.batches += 1
                if total := self.params.get("steps"):
                    step.advance(self.batches, total * self.params["epochs"], "steps")

            def on_epoch_end(self, epoch, logs=None):
                values = ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in (logs or {}).items())
                step.note(f"epoch {epoch + 1}/{self.params['epochs']}: {values}")

        return StepCallback()
