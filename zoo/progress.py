"""Numbered steps with a bar on a terminal, plain lines anywhere else."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn


class Steps:
    """Announces each step of a job as `2/7 title`, shows how far it is, and says how long it took.

    total: how many steps there will be. console: where to; standard output by default.
    """

    def __init__(self, total: int, console: Console | None = None):
        self.total, self.number = total, 0
        self.console = console or Console(highlight=False)

    @contextmanager
    def step(self, title: str) -> Iterator["Step"]:
        """Runs the next step. An error in it passes through; then the step does not count as done."""
        self.number += 1
        head, start = f"{self.number}/{self.total} {title}", time.monotonic()
        if self.console.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
            with Progress(*columns, console=self.console, transient=True) as progress:
                step = Step(self.console, progress, progress.add_task(head, total=None))
                yield step
        else:
            self.show(f"{head} ...")
            step = Step(self.console)
            yield step
        done = f"{head}: {step.result}" if step.result else head
        self.show(f"{done} ({time.monotonic() - start:.1f} s)")

    def show(self, text: str) -> None:
        """Prints text as it is."""
        self.console.print(text, markup=False, soft_wrap=True)


class Step:
    """What a running step may say: how far it is, a line worth keeping, and a result for its last line."""

    def __init__(self, console: Console, progress: Progress | None = None, task=None):
        self.result = ""
        self._console, self._progress, self._task = console, progress, task

    def advance(self, done: int, total: int) -> None:
        """Moves the bar."""
        if self._progress:
            self._progress.update(self._task, completed=done, total=total)

    def note(self, line: str) -> None:
        """Prints a line that stays."""
        self._console.print(f"    {line}", markup=False, soft_wrap=True)

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
                    step.advance(self.batches, total * self.params["epochs"])

            def on_epoch_end(self, epoch, logs=None):
                values = ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in (logs or {}).items())
                step.note(f"epoch {epoch + 1}/{self.params['epochs']}: {values}")

        return StepCallback()
