"""One fine-tuning run: `fit` with a score after every epoch, the best one kept, and a state from which it can be resumed."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tf_keras as keras

from kerasbert.checkpoints.safetensors_file import read_file, write_tensors
from kerasbert.errors import KerasBertError
from kerasbert.optional import require_package
from kerasbert.training.config import TrainConfig
from kerasbert.training.run_folder import RunFolder
from kerasbert.training.state import add_metric_sums, digest, read_state, restore_state, save_state

_SECONDS_BETWEEN_UPDATES = 0.25
_STEPS_BETWEEN_LINES = 50
_EVALUATION_BATCH = 64
TRAINING, SCORING = "training", "scoring dev"  # the stages of a run


@dataclass(frozen=True)
class ProgressCallback:
    """The functions that a training calls.

    Attributes:
        progress: Called with the stage, the work done, all work, and figures, the most important one first. `training` counts steps,
            `scoring dev` rows; all work is 0 while it is not known.
        note: Called with a line for people.
    """

    progress: Callable[[str, int, int, Sequence[str]], None] = lambda stage, done, total, figures: None
    note: Callable[[str], None] = print


@dataclass(frozen=True)
class TrainResult:
    """The outcome of a training.

    Attributes:
        epochs: `{"epoch": 1, "loss": ..., "accuracy": ..., "dev": {...}}` each.
        kept_epoch: The epoch whose weights the task has now, 1 for the first; None untrained.
        seconds: Time of training alone, without scoring and saving.
        examples_per_second: Training examples in a second.
    """

    epochs: list[dict] = field(default_factory=list)
    kept_epoch: int | None = None
    seconds: float = 0.0
    examples_per_second: float = 0.0

    @property
    def dev(self) -> dict[str, float] | None:
        """Metrics of the kept epoch on dev."""
        return self.epochs[self.kept_epoch - 1].get("dev") if self.kept_epoch else None


def train(
    task: Any,
    data: Any,
    dev: Any,
    config: TrainConfig,
    folder: RunFolder,
    *,
    resume: bool = False,
    keep_state: bool = False,
    callbacks: Sequence[keras.callbacks.Callback] = (),
    progress: ProgressCallback | None = None,
) -> TrainResult:
    """Trains a compiled task in place and saves it in the folder after every epoch that is the best so far (without dev: every epoch).

    The task ends with the weights of the epoch that scored best, without dev with those of the last one. Of the config, `epochs`,
    `batch_size`, `seed`, `early_stopping`, `checkpoint_minutes` and `tensorboard` are used; see `prepare` for the others.

    Args:
        task: A compiled task, or a `Distiller`.
        data: A table of `kerasbert.data`, the training data.
        dev: Another one to score every epoch on, or None.
        config: The settings.
        folder: The run folder.
        resume: Whether to go on from the folder's state, to the same numbers as an unbroken run.
        keep_state: Whether the caller has more to write, and ends the run with `folder.finish()`.
        callbacks: Further callbacks of Keras.
        progress: Functions to call.

    Raises:
        KerasBertError: When the loss is no longer finite (it names the step), and when data changed since the state was saved.
    """
    if config.tensorboard:
        require_package("tensorboard", "logs for TensorBoard")
    callback = TrainerCallback(task, data, dev, config, folder, progress or ProgressCallback())
    if resume:
        callback.restore()
    if callback.epoch < config.epochs and not callback.stopped:
        further = [keras.callbacks.TensorBoard(str(folder.tensorboard))] if config.tensorboard else []
        task.fit(
            data, batch_size=config.batch_size, epochs=config.epochs, seed=config.seed, start=(callback.epoch, callback.batch),
            verbose=0, callbacks=[*callbacks, callback, *further],
        )  # fmt: skip
    result = callback.finish()
    if not keep_state:
        folder.finish()
    return result


class TrainerCallback(keras.callbacks.Callback):
    """Reports progress, scores every epoch, saves states and the best weights."""

    def __init__(
        self, task: Any, train: Any, dev: Any, config: TrainConfig, folder: RunFolder, progress: ProgressCallback
    ):
        super().__init__()
        self._supports_tf_logs = True  # otherwise Keras reads the metrics after every batch
        self.task, self.dev, self.config, self.folder, self.progress = task, dev, config, folder, progress
        self.examples = len(train)
        self.data = {name: digest(table.path) for name, table in (("train", train), ("dev", dev)) if table is not None}
        self.epoch = self.batch = 0  # where the next batch is
        self.records: list[dict] = []
        self.best: tuple[float, int] = (-math.inf, 0)
        self.seconds = 0.0
        self.stopped = False
        self._sums: dict[str, Any] | None = None
        self.dev_name = dev.path.name if dev is not None else ""

    # -- resuming ------------------------------------------------------------------------------------------------------------------

    def restore(self) -> None:
        """Puts the folder's state into the task and this callback.

        Raises:
            KerasBertError: When the state is another task's, or data changed since it was saved.
        """
        tensors, position = read_state(self.folder.state)
        if position["data"] != self.data:
            changed = next(name for name in self.data if position["data"].get(name) != self.data[name])
            raise KerasBertError(
                f"expected the {changed} data with which the training was begun, received a file that was edited since; "
                "begin anew in another folder"
            )
        self._sums = restore_state(self.folder.state, self.task, tensors)
        self.epoch, self.batch, self.seconds = position["epoch"], position["batch"], position["seconds"]
        self.records, self.best, self.stopped = position["records"], tuple(position["best"]), position["stopped"]
        self.folder.rewind(position["step"])
        self.progress.note(
            f"resumed behind step {position['step']:,}, in epoch {self.epoch + 1} of {self.config.epochs}"
        )

    def _save_state(self) -> None:
        position = {
            "epoch": self.epoch, "batch": self.batch, "step": self._step(), "seconds": self.seconds, "records": self.records,
            "best": self.best, "stopped": self.stopped, "data": self.data,
        }  # fmt: skip
        save_state(self.folder.state, self.task, position)
        self._saved = time.monotonic()

    def _step(self) -> int:
        return int(self.task.optimizer.iterations.numpy())

    # -- Keras calls these -----------------------------------------------------------------------------------------------------------

    def on_train_begin(self, logs: Mapping | None = None) -> None:
        self._saved = time.monotonic()
        self._reported = 0.0
        self._steps = self.params["steps"]

    def on_epoch_begin(self, epoch: int, logs: Mapping | None = None) -> None:
        self.epoch = epoch
        self._clock, self._begun_batch, self._begun_seconds = time.monotonic(), self.batch, self.seconds
        self._report(())

    def on_train_batch_end(self, batch: int, logs: Mapping | None = None) -> None:
        if self._sums is not None:  # the running loss goes on where it stood
            if self.batch:
                add_metric_sums(self.task, self._sums)
            self._sums = None
        self.batch = batch + 1
        loss = float((logs or {})["loss"])
        if not math.isfinite(loss):
            raise KerasBertError(self._diverged(loss))
        now = time.monotonic()
        if self.batch % _STEPS_BETWEEN_LINES == 0 and self.batch < self._steps:
            self.folder.log(
                {"step": self._step(), "epoch": self.epoch + 1, "loss": loss, "learning_rate": self._rate()}
            )
        if now - self._reported >= _SECONDS_BETWEEN_UPDATES or self.batch == self._steps:
            self._reported = now
            self._report(self._figures(logs or {}, now))
        if now - self._saved > 60 * self.config.checkpoint_minutes and self.batch < self._steps:
            self.seconds += now - self._clock
            self._save_state()
            self._clock = time.monotonic()

    def on_epoch_end(self, epoch: int, logs: Mapping | None = None) -> None:
        self.seconds += time.monotonic() - self._clock
        record = {"epoch": epoch + 1, **{name: float(value) for name, value in (logs or {}).items()}}
        lines = [format_metrics({name: value for name, value in record.items() if name != "epoch"})]
        if self.dev is not None:
            self._report_scored(0, 0)  # texts are tokenized first, and in the first epoch the model is traced
            record["dev"] = self.task.score(self.dev, batch_size=_EVALUATION_BATCH, report=self._report_scored)
            lines.append(f"dev {format_metrics(record['dev'])}")
        self.records.append(record)
        self.folder.log({"step": self._step(), **record})
        self.progress.note(f"epoch {epoch + 1} of {self.config.epochs}: {'; '.join(lines)}")
        self._save_if_best(record)
        self.epoch, self.batch = epoch + 1, 0
        patience = self.config.early_stopping
        if (
            patience
            and self.dev is not None
            and self.epoch - self.best[1] >= patience
            and self.epoch < self.config.epochs
        ):
            self.stopped = self.model.stop_training = True
            self.progress.note(f"stopped: no better dev score for {patience} epochs")
        self._save_state()

    # -- the pieces ------------------------------------------------------------------------------------------------------------------

    def _report(self, figures: Sequence[str]) -> None:
        done = self.epoch * self._steps + self.batch
        self.progress.progress(TRAINING, done, self.config.epochs * self._steps, figures)

    def _report_scored(self, rows: int, total: int) -> None:
        self.progress.progress(SCORING, rows, total, ())

    def _figures(self, logs: Mapping, now: float) -> list[str]:
        """Loss, metrics, the parts of the loss, and speed."""
        compiled = getattr(getattr(self.task, "student", self.task), "compiled_metrics", None)
        metrics = {"loss": 0, **{metric.name: 1 for metric in getattr(compiled, "metrics", ())}}
        names = sorted(logs, key=lambda name: metrics.get(name, 2))
        # The clock begins anew behind every state that is saved; the batches of the epoch do not.
        seconds = self.seconds - self._begun_seconds + now - self._clock
        rows = (self.batch - self._begun_batch) * self.config.batch_size
        return [
            *(f"{name} {float(logs[name]):.4f}" for name in names),
            f"{rows / max(seconds, 1e-9):,.0f} examples/s",
        ]

    def _rate(self) -> float:
        rate = self.task.optimizer.learning_rate
        return float(keras.backend.get_value(rate(self._step()) if callable(rate) else rate))

    def _diverged(self, loss: float) -> str:
        kept = f"; {self.folder.model} keeps the model of epoch {self.best[1]}" if self.best[1] else ""
        return (
            f"expected a finite loss, received {loss} at step {self._step()} (batch {self.batch} of epoch {self.epoch + 1}){kept}; "
            "try a lower --learning-rate"
        )

    def _save_if_best(self, record: dict) -> None:
        """Saves the model of an epoch that is the best so far; without dev the last one is."""
        value = next(iter(record["dev"].values())) if "dev" in record else math.inf
        if self.dev is not None and not value > self.best[0]:
            return
        self.best = (value if self.dev is not None else 0.0, record["epoch"])
        self.task.save_pretrained(self.folder.model)
        write_tensors(self.folder.best, {str(i): weight.numpy() for i, weight in enumerate(self.task.weights)})

    def finish(self) -> TrainResult:
        """Puts the best epoch's weights back."""
        kept = self.best[1]
        if kept and kept != self.records[-1]["epoch"]:
            saved = read_file(self.folder.best)
            for number, weight in enumerate(self.task.weights):
                weight.assign(saved[str(number)])
        if self.dev is not None and len(self.records) > 1:
            self.progress.note(kept_line([record["dev"] for record in self.records], kept, self.dev_name))
        examples = len(self.records) * self.examples
        return TrainResult(self.records, kept or None, self.seconds, examples / max(self.seconds, 1e-9))


def kept_line(scores: list[dict[str, float]], kept: int, dev_name: str) -> str:
    """A line on which epoch was kept and why, also where several score the same.

    Args:
        scores: Dev metrics of each epoch.
        kept: The kept epoch, 1 for the first.
        dev_name: The name of the dev file.
    """
    metric = next(iter(scores[0]))
    values = [each[metric] for each in scores]
    best = values[kept - 1]
    if all(value == best == 0 for value in values):
        return (
            f"kept epoch {kept} of {len(values)}: {metric} is 0 on {dev_name} after every epoch, so the earliest is kept; "
            "train for more epochs, or with another --learning-rate"
        )
    same = sum(value == best for value in values) - 1
    tie = f", as good as {same} later {'epoch' if same == 1 else 'epochs'}" if same else ""
    return f"kept epoch {kept} of {len(values)}, the best by {metric} on {dev_name}{tie}"


def format_metrics(values: Mapping[str, float]) -> str:
    """Metrics as `accuracy 0.8911, F1 0.8927, MCC 0.7823`."""
    return ", ".join(f"{name} {value:.4f}" for name, value in values.items())
