"""A training run: `fit` with evaluation after every epoch, best-epoch selection and checkpoints for resuming."""

import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.console.progress import Progress
from kerasbert.errors import KerasBertError
from kerasbert.optional import require_package
from kerasbert.training.checked_tensors import read_checked, write_checked
from kerasbert.training.config import TrainConfig
from kerasbert.training.recommended import settled
from kerasbert.training.result import TrainResult, format_kept_epoch, format_metrics
from kerasbert.training.run_folder import RunFolder
from kerasbert.training.state import add_metric_sums, file_digest, read_state, restore_state, save_state

if TYPE_CHECKING:
    from kerasbert.data.dataset import Dataset
    from kerasbert.processors.labelled_outputs import LabelledOutputs
    from kerasbert.processors.pretraining_batches import PretrainingBatches
    from kerasbert.tasks.base import Task
    from kerasbert.training.distillation import StudentTraining

_SECONDS_BETWEEN_UPDATES = 0.25
_STEPS_BETWEEN_LINES = 50
_EVALUATION_BATCH = 64
TRAINING, SCORING = "training", "scoring dev"  # stages of a run


def train(
    task: "Task | StudentTraining",
    data: "Dataset | PretrainingBatches",
    dev: "Dataset | None",
    config: TrainConfig,
    folder: RunFolder | None = None,
    *,
    resume: bool = False,
    keep_state: bool = False,
    callbacks: Sequence[keras.callbacks.Callback] = (),
    progress: Progress | None = None,
    validation: "Dataset | PretrainingBatches | None" = None,
) -> TrainResult:
    """Train a compiled task in place, and save it after every epoch that improves the dev score.

    The task ends with the weights of the epoch with the best dev score. Without dev data, every epoch is saved and the last one is kept.
    Without a folder nothing is saved.
    Of the config, `epochs`, `batch_size`, `seed`, `early_stopping`, `checkpoint_minutes` and `tensorboard` are used; `prepare` applies
    the others.

    Args:
        task: A compiled task, or a `StudentTraining`.
        data: The training data.
        dev: The data for evaluation after every epoch, or None.
        config: The settings. Without `epochs`, those that are recommended for the model; see `kerasbert.training.recommended`.
        folder: The run folder; None for a run that cannot be resumed.
        resume: Whether to continue from the folder's state. The results equal those of an uninterrupted run.
        keep_state: Whether the caller writes more files, and ends the run with `folder.finish()`.
        callbacks: Additional Keras callbacks.
        progress: Receives the progress. The stage `training` counts steps, and `scoring dev` counts rows.
        validation: Data of which Keras computes the loss and the compiled metrics after every epoch; the epoch is not chosen by them.

    Returns:
        The metrics of every epoch, the kept epoch and the speed.

    Raises:
        KerasBertError: When the loss is not finite, or the data changed since the state was saved.

    Example:
        ```python
        from kerasbert.training import RunFolder, TrainConfig, train
        data, dev = kb.data.read_table("train.tsv", max_rows=32), kb.data.read_table("dev.tsv")
        config, folder = TrainConfig(epochs=1), RunFolder("runs/api-train")
        task.compile(optimizer=kb.adamw(5e-4))
        folder.begin(config)
        result = train(task, data, dev, config, folder)
        result.kept_epoch, result.dev["accuracy"], result.seconds
        ```
    """
    if config.tensorboard:
        require_package("tensorboard", "TensorBoard logs")
    config, _ = settled(config, task, len(data))
    epochs = config.epochs or 1
    callback = TrainerCallback(task, data, dev, config, folder, progress or Progress())
    if resume:
        callback.restore()
    if callback.epoch < epochs and not callback.stopped:
        further = [keras.callbacks.TensorBoard(str(folder.tensorboard))] if folder and config.tensorboard else []
        task.fit(
            data, batch_size=config.batch_size, epochs=epochs, seed=config.seed, start=(callback.epoch, callback.batch),
            verbose=0, callbacks=[*callbacks, callback, *further], validation_data=validation,
        )  # fmt: skip
    result = callback.finish()
    callback.student.has_new_head = callback.student.has_new_exits = False
    if folder and not keep_state:
        folder.finish()
    return result


class TrainerCallback(keras.callbacks.Callback):
    """Reports progress, evaluates every epoch, and saves checkpoints and the best weights.

    Args:
        task: The compiled task, or its `StudentTraining`.
        train: The training data.
        dev: The data for evaluation, or None.
        config: The settings.
        folder: The run folder; None saves nothing.
        progress: Receives the progress.
    """

    def __init__(
        self,
        task: "Task | StudentTraining",
        train: "Dataset | PretrainingBatches",
        dev: "Dataset | None",
        config: TrainConfig,
        folder: RunFolder | None,
        progress: Progress,
    ):
        super().__init__()
        self._supports_tf_logs = True  # otherwise Keras reads the metrics after every batch
        self.task, self.dev, self.config, self.folder, self.progress = task, dev, config, folder, progress
        self.student: Any = getattr(task, "student", task)
        self.examples, self.epochs = len(train), config.epochs or 1
        tables = {"train": train, "dev": dev} if folder else {}
        self.data = {
            name: "+".join(map(file_digest, table.files)) for name, table in tables.items() if table is not None
        }
        self.stream: Any = train if hasattr(train, "cursor") else None  # its place is part of the state
        self.epoch = self.batch = 0  # position of the next batch
        self.records: list[dict[str, Any]] = []
        self.best: tuple[float, int] = (-math.inf, 0)
        self.seconds = 0.0
        self.stopped = False
        self._sums: dict[str, Any] | None = None
        self._best_weights: dict[str, Any] = {}
        self._best_outputs: LabelledOutputs | None = None
        self.dev_name = dev.path.name if dev is not None else ""

    # -- resuming ------------------------------------------------------------------------------------------------------------------

    def restore(self) -> None:
        """Assign the folder's state to the task and this callback.

        Raises:
            KerasBertError: When the state belongs to another task, or the data changed since it was saved.
        """
        folder = self.folder
        if folder is None:
            raise KerasBertError("expected a run folder to resume from, received none; give the folder of the run")
        tensors, position = read_state(folder.state)
        if position["data"] != self.data:
            changed = next(name for name in self.data if position["data"].get(name) != self.data[name])
            raise KerasBertError(
                f"expected the {changed} data of the interrupted run, received a file that was edited since; "
                "restore it, or start again in another folder"
            )
        self._sums = restore_state(folder.state, self.task, tensors)
        self.epoch, self.batch, self.seconds = position["epoch"], position["batch"], position["seconds"]
        self.records, self.best, self.stopped = position["records"], tuple(position["best"]), position["stopped"]
        if self.stream is not None:
            self.stream.begin_at(self.epoch * self.stream.steps + self.batch, position["place"])
        folder.rewind(position["step"])
        self.progress.note(f"resumed after step {position['step']:,}, in epoch {self.epoch + 1} of {self.epochs}")

    def _save_state(self) -> None:
        if self.folder is None:
            return
        position = {
            "epoch": self.epoch, "batch": self.batch, "step": self._step(), "seconds": self.seconds, "records": self.records,
            "best": self.best, "stopped": self.stopped, "data": self.data,
        }  # fmt: skip
        if self.stream is not None:
            position["place"] = self.stream.cursor(self.epoch * self.stream.steps + self.batch)
        self.folder.sync()
        save_state(self.folder.state, self.task, position)
        self._saved = time.monotonic()

    def _log(self, record: Mapping[str, Any]) -> None:
        if self.folder is not None:
            self.folder.log(record)

    def _step(self) -> int:
        return int(self.task.optimizer.iterations.numpy())

    # -- called by Keras -------------------------------------------------------------------------------------------------------------

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        self._saved = time.monotonic()
        self._reported = 0.0
        self._steps = self.params["steps"]

    def on_epoch_begin(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        self.epoch = epoch
        self._clock, self._first_batch, self._first_seconds = time.monotonic(), self.batch, self.seconds
        self._report(())

    def on_train_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        if self._sums is not None:  # continues the running loss
            if self.batch:
                add_metric_sums(self.task, self._sums)
            self._sums = None
        self.batch = batch + 1
        loss = float((logs or {})["loss"])
        if not math.isfinite(loss):
            raise KerasBertError(self._diverged(loss))
        now = time.monotonic()
        if self.batch % _STEPS_BETWEEN_LINES == 0 and self.batch < self._steps:
            self._log(
                {
                    "step": self._step(),
                    "epoch": self.epoch + 1,
                    "loss": loss,
                    "learning_rate": _learning_rate(self.task),
                }
            )
        if now - self._reported >= _SECONDS_BETWEEN_UPDATES or self.batch == self._steps:
            self._reported = now
            self._report(self._figures(logs or {}, now))
        if now - self._saved > 60 * self.config.checkpoint_minutes and self.batch < self._steps:
            self.seconds += now - self._clock
            self._save_state()
            self._clock = time.monotonic()

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        self.seconds += time.monotonic() - self._clock
        self._check_weights()
        record = {"epoch": epoch + 1, **{name: float(value) for name, value in (logs or {}).items()}}
        lines = [format_metrics({name: value for name, value in record.items() if name != "epoch"})]
        outputs = self._dev_outputs()
        if outputs is not None:
            record |= self._scores(outputs)
            lines.append(f"dev {format_metrics(record['dev'])}")
        self.records.append(record)
        self._log({"step": self._step(), **record})
        self.progress.note(f"epoch {epoch + 1} of {self.epochs}: {'; '.join(lines)}")
        self._save_if_best(record, outputs)
        self.epoch, self.batch = epoch + 1, 0
        self._stop_early()
        self._save_state()

    # -- parts -----------------------------------------------------------------------------------------------------------------------

    def _dev_outputs(self) -> "LabelledOutputs | None":
        """Run the task on dev, once an epoch: the metrics, the comparison with chance and the plots are made from these outputs."""
        if self.dev is None:
            return None
        self.progress.begin(SCORING, 0, "rows")
        self.progress.advance(0)  # tokenization comes first, and tracing in the first epoch
        return self.student.labelled_outputs(self.dev, batch_size=_EVALUATION_BATCH, report=self.progress.advance)

    def _scores(self, outputs: "LabelledOutputs") -> dict[str, Any]:
        """Return the dev metrics, and the settings that the task has chosen on dev, unless the config sets them."""
        is_set = self.config.no_answer_threshold is not None or self.config.fallback_below is not None
        chosen = {} if is_set else self.student.tune(outputs, self.config.keep)
        return {"dev": self.student.processor.metrics(*outputs), **({"chosen": chosen} if chosen else {})}

    def _stop_early(self) -> None:
        patience = self.config.early_stopping
        if not patience or self.dev is None or self.epoch >= self.epochs:
            return
        if self.epoch - self.best[1] >= patience:
            self.stopped = self.task.stop_training = True
            self.progress.note(f"stopped early: no better dev score for {patience} epoch{'s'[: patience > 1]}")

    def _report(self, figures: Sequence[str]) -> None:
        done = self.epoch * self._steps + self.batch
        self.progress.begin(TRAINING, self.epochs * self._steps, "steps")
        self.progress.advance(done, figures=figures)

    def _figures(self, logs: Mapping[str, Any], now: float) -> list[str]:
        """Format loss, metrics, the terms of the loss, and speed."""
        compiled = getattr(self.student, "compiled_metrics", None)
        metrics = {"loss": 0, **{metric.name: 1 for metric in getattr(compiled, "metrics", ())}}
        names = sorted(logs, key=lambda name: metrics.get(name, 2))
        # Saving a state restarts the clock, but not the count of batches.
        seconds = self.seconds - self._first_seconds + now - self._clock
        rows = (self.batch - self._first_batch) * self.config.batch_size
        return [
            *(f"{name} {float(logs[name]):.4f}" for name in names),
            f"{rows / max(seconds, 1e-9):,.0f} examples/s",
        ]

    def _check_weights(self) -> None:
        """Check that the last step left finite weights: no later loss shows that."""
        paths = {id(variable): path for path, variable in self.task.variables_by_path().items()}
        for weight in self.task.weights:
            if weight.dtype.is_floating and not bool(tf.reduce_all(tf.math.is_finite(weight))):
                raise KerasBertError(
                    self._diverged(
                        "NaN or infinity in the weights", "finite weights", str(paths.get(id(weight), weight.name))
                    )
                )

    def _diverged(self, received: object, expected: str = "a finite loss", where: str = "") -> str:
        saved = f"; {self.folder.model} keeps the model of epoch {self.best[1]}" if self.folder and self.best[1] else ""
        return (
            f"expected {expected}, received {received} at step {self._step()} (batch {self.batch} of epoch {self.epoch + 1}"
            f"{where and ', ' + where}){saved}; "
            "try a lower --learning-rate"
        )

    def _save_if_best(self, record: dict[str, Any], outputs: "LabelledOutputs | None") -> None:
        """Save the model if the epoch is the best so far. Without dev data, every epoch counts as the best."""
        value = next(iter(record["dev"].values())) if "dev" in record else math.inf
        # Exits learn on while the last one, which the score is of, stays the same.
        is_tie = value == self.best[0] and bool(getattr(self.student, "exit_layers", ()))
        if self.dev is not None and not (value > self.best[0] or is_tie):
            return
        self.best = (value if self.dev is not None else 0.0, record["epoch"])
        self._best_outputs = outputs
        weights = {str(i): weight.numpy() for i, weight in enumerate(self.task.weights)}
        if self.folder is None:
            self._best_weights = weights
            return
        self.task.save_pretrained(self.folder.model)
        write_checked(self.folder.best, weights)

    def finish(self) -> TrainResult:
        """Restore the weights of the best epoch, and return the result of the run."""
        best_epoch = self.best[1]
        if best_epoch and best_epoch != self.records[-1]["epoch"]:
            saved = read_checked(self.folder.best) if self.folder else self._best_weights
            for number, weight in enumerate(self.task.weights):
                weight.assign(saved[str(number)])
        self._restore_chosen(best_epoch)
        if self.dev is not None and len(self.records) > 1:
            self.progress.note(format_kept_epoch([record["dev"] for record in self.records], best_epoch, self.dev_name))
        speed = len(self.records) * self.examples / max(self.seconds, 1e-9)
        outputs = self._best_outputs or self._dev_outputs()  # of an epoch before the run was resumed
        return TrainResult(self.records, best_epoch or None, self.seconds, speed, outputs)

    def _restore_chosen(self, epoch: int) -> None:
        """Give the task the settings that it chose after an epoch, and print a line about them."""
        chosen = self.records[epoch - 1].get("chosen", {}) if epoch else {}
        for name, value in chosen.items():
            setattr(self.student, name, value)
            how = f"the best by {next(iter(self.records[epoch - 1]['dev']))}" if "no_answer" in name else "chosen"
            self.progress.note(f"{name} {value:.4f}: {how} on {self.dev_name}")
        if not chosen and getattr(self.student, "no_answer", False) and self.config.no_answer_threshold is None:
            self.progress.note(
                f"no_answer_threshold {self.student.no_answer_threshold:.4f}: not tuned, as there are no dev questions without an answer"
            )


def _learning_rate(task: "Task | StudentTraining") -> float:
    rate = task.optimizer.learning_rate
    return float(keras.backend.get_value(rate(int(task.optimizer.iterations.numpy())) if callable(rate) else rate))
