"""One fine-tuning run: fit with progress, a score after every epoch, the best one kept."""

import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tf_keras as keras

from kerasbert.cli.interrupts import native_code
from kerasbert.cli.progress import Progress, note, progress
from kerasbert.cli.rows import PackedRows
from kerasbert.cli.scores import scores, shown
from kerasbert.errors import KerasBertError
from kerasbert.training import adamw

_SECONDS_BETWEEN_UPDATES = 0.25  # reading a loss makes the host wait for the device
_EVALUATION_BATCH = 64


@dataclass(frozen=True)
class Settings:
    """How to train; the optimizer's part is `training.adamw`."""

    epochs: int
    learning_rate: float
    batch_size: int
    warmup: float
    weight_decay: float
    seed: int
    jit: bool = False


@dataclass(frozen=True)
class Fitted:
    """epochs: `{"epoch": 1, "loss": ..., "accuracy": ..., "dev": {...}}` each. kept_epoch: whose weights the task has now; None untrained.
    seconds: training alone, without scoring."""

    epochs: list[dict]
    kept_epoch: int | None
    seconds: float
    examples_per_second: float

    @property
    def dev(self) -> dict[str, float] | None:
        """Scores of the kept epoch."""
        return self.epochs[self.kept_epoch - 1].get("dev") if self.kept_epoch else None


def fit(task, train: PackedRows, dev: PackedRows | None, settings: Settings) -> Fitted:
    """Trains the task in place. With `dev` it ends with the weights of the epoch that scored best, else with the last one's.

    Raises KerasBertError when the loss is no longer a number.
    """
    if not settings.epochs:
        return Fitted([], None, 0.0, 0.0)
    steps = -(-len(train) // settings.batch_size)
    optimizer = adamw(settings.learning_rate, settings.warmup, steps * settings.epochs, settings.weight_decay)
    task.compile(optimizer=optimizer, jit_compile=settings.jit)
    with progress("training") as bar:
        watch = _Watch(bar, train, dev, settings)
        task.fit(
            train.inputs, train.targets, batch_size=settings.batch_size, epochs=settings.epochs, seed=settings.seed,
            verbose=0, callbacks=[watch],
        )  # fmt: skip
    kept = settings.epochs
    if dev is not None:
        kept = watch.restore_best()
        metric = next(iter(watch.records[kept - 1]["dev"]))
        if settings.epochs > 1:
            note(f"kept epoch {kept} of {settings.epochs}, the best by {metric} on {dev.table.path.name}")
    examples = len(train) * settings.epochs
    return Fitted(watch.records, kept, watch.seconds, examples / max(watch.seconds, 1e-9))


def score(task, rows: PackedRows) -> dict[str, float]:
    """The task's metrics on labelled rows."""
    with native_code():
        return scores(task.problem, rows.targets, task.predict(rows.inputs, batch_size=_EVALUATION_BATCH))


class _Watch(keras.callbacks.Callback):
    """Shows progress, scores every epoch and remembers the best weights."""

    def __init__(self, bar: Progress, train: PackedRows, dev: PackedRows | None, settings: Settings):
        super().__init__()
        self._supports_tf_logs = True  # otherwise Keras reads the metrics after every batch
        self.bar, self.rows, self.dev, self.settings = bar, len(train), dev, settings
        self.records: list[dict] = []
        self.seconds = 0.0
        self._best: tuple[float, int, list | None] = (-math.inf, 0, None)

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch, self._started, self._told = epoch, time.monotonic(), 0.0

    def on_train_batch_end(self, batch, logs=None):
        now = time.monotonic()
        done = min((batch + 1) * self.settings.batch_size, self.rows)
        if now - self._told < _SECONDS_BETWEEN_UPDATES and done < self.rows:
            return
        self._told = now
        figures = [f"{name} {float(value):.4f}" for name, value in (logs or {}).items()]
        figures.append(f"{done / (now - self._started):,.0f} examples/s")
        self.bar.update(self._epoch * self.rows + done, self.settings.epochs * self.rows, ", ".join(figures))

    def on_epoch_end(self, epoch, logs=None):
        self.seconds += time.monotonic() - self._started
        record = {"epoch": epoch + 1, **{name: float(value) for name, value in (logs or {}).items()}}
        if not math.isfinite(record.get("loss", 0.0)):
            raise KerasBertError(
                f"expected a finite loss, received {record['loss']} in epoch {epoch + 1}; try a lower --learning-rate"
            )
        told = [shown({name: value for name, value in record.items() if name != "epoch"})]
        if self.dev is not None:
            record["dev"] = score(self.model, self.dev)
            told.append(f"dev {shown(record['dev'])}")
            self._remember(next(iter(record["dev"].values())), epoch + 1)
        self.records.append(record)
        note(f"epoch {epoch + 1} of {self.settings.epochs}: {'; '.join(told)}")

    def _remember(self, value: float, epoch: int) -> None:
        if value > self._best[0]:
            last = epoch == self.settings.epochs  # the model itself has these weights
            self._best = (value, epoch, None if last else self.model.get_weights())

    def restore_best(self) -> int:
        """Puts the best epoch's weights back; its number."""
        _, epoch, weights = self._best
        if weights is not None:
            self.model.set_weights(weights)
        return epoch


def write_record(
    folder: Path, fitted: Fitted, settings: Settings, train: PackedRows, dev: PackedRows | None, **more
) -> dict:
    """Writes `training.json` into a saved folder: how these weights came about. Returns its content."""
    import json
    import shlex
    from dataclasses import asdict

    import tensorflow as tf

    from kerasbert import __version__
    from kerasbert.cli.results import plain
    from kerasbert.files import atomic_file

    record = plain({
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "versions": {
            "kerasbert": __version__, "tensorflow": tf.__version__, "tf_keras": keras.__version__, "numpy": np.__version__,
            "python": sys.version.split()[0],
        },
        "data": {"train": train.table.describe(), "dev": dev and dev.table.describe(), "train_cut": train.cut},
        "settings": asdict(settings),
        **more,
        "epochs": fitted.epochs,
        "kept_epoch": fitted.kept_epoch,
        "seconds": fitted.seconds,
        "examples_per_second": fitted.examples_per_second,
    })  # fmt: skip
    with atomic_file(folder / "training.json") as partial:
        partial.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return record
