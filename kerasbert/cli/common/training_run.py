"""A training as a command: progress on stderr, the run folder, its record and plots."""

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kerasbert.cli.common.progress import note, progress
from kerasbert.cli.common.results import plain
from kerasbert.training.config import TrainConfig
from kerasbert.training.run_folder import RunFolder, check_resumable

if TYPE_CHECKING:
    from kerasbert.training.trainer import TrainResult


class TrainingRun:
    """The one way in which commands train: `train`, `quantize`, `prune` and `distill` differ in what they do before and behind it.

    Args:
        config: The settings; `out` is where the model goes.
        resume: Whether to go on with an interrupted training there.
        options: All options of a command other than `train`, which the config alone does not repeat; see `command_options`.
        out: The folder of the model, where it is another than the config's.

    Raises:
        KerasBertError: When `resume` is asked for, and no training with these very options was interrupted there.
    """

    def __init__(
        self, config: TrainConfig, resume: bool, options: Mapping[str, Any] | None = None, out: Path | None = None
    ):
        self.config, self.resume, self.options = config, resume, config if options is None else options
        self.out = Path(str(config.out)) if out is None else out
        self.folder = RunFolder(self.out)
        if resume:
            check_resumable(self.folder, self.options)

    def fit(self, task: Any, data: Any, dev: Any, callbacks: Sequence = ()) -> "TrainResult":
        """Compiles and trains a task or a distiller; the run folder tells the progress.

        Args:
            task: The task.
            data: The training data's table.
            dev: The table to score every epoch on, or None.
            callbacks: Further callbacks of Keras.
        """
        from kerasbert.training import plots
        from kerasbert.training.preparation import prepare
        from kerasbert.training.trainer import TRAINING, ProgressCallback, train

        with progress(TRAINING) as bar:

            def report(stage: str, done: int, total: int, figures: Sequence[str]) -> None:
                bar.update(done, total, figures, stage=stage, unit="steps" if stage == TRAINING else "rows")

            with task.distribute_strategy.scope():
                callbacks = (*prepare(task, self.config, data), *callbacks)
            if not self.resume:
                self.folder.begin(self.options)
            result = train(
                task, data, dev, self.config, self.folder, resume=self.resume, keep_state=True, callbacks=callbacks,
                progress=ProgressCallback(report, note),
            )  # fmt: skip
            plots.write(self.folder, task, dev)
        note(f"{result.seconds:.0f} s of training, {result.examples_per_second:,.0f} examples/s")
        return result

    def record(self, result: "TrainResult", data: Any, dev: Any, settings: Mapping[str, Any], **more: Any) -> dict:
        """Writes `training.json` into the saved folder: how these weights came about. Returns its content.

        It is the last step of a training, which cannot be resumed from then on.

        Args:
            result: What `fit` returned.
            data: The training data's table.
            dev: The dev table, or None.
            settings: Settings beside those of the config, or in their place.
            more: Further entries.
        """
        import numpy as np
        import tensorflow as tf
        import tf_keras as keras

        from kerasbert import __version__
        from kerasbert.files.atomic import atomic_file
        from kerasbert.files.model_folder import RECORD_FILE

        record = plain({
            "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
            "versions": {
                "kerasbert": __version__, "tensorflow": tf.__version__, "tf_keras": keras.__version__, "numpy": np.__version__,
                "python": sys.version.split()[0],
            },
            "data": {"train": data.describe(), "dev": dev and dev.describe()},
            "settings": {**self.config.settings(), **settings},
            **more,
            "epochs": result.epochs,
            "kept_epoch": result.kept_epoch,
            "seconds": result.seconds,
            "examples_per_second": result.examples_per_second,
        })  # fmt: skip
        with atomic_file(self.out / RECORD_FILE) as partial:
            partial.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", "utf-8")
        self.folder.finish()
        return record


def command_options(**values: Any) -> dict[str, Any]:
    """A command's options, JSON-able, by which a resumed one must equal the first.

    Args:
        values: Its arguments by name; configs are taken apart.
    """
    options: dict[str, Any] = {}
    for name, value in values.items():
        options |= asdict(value) if hasattr(value, "__dataclass_fields__") else {name: value}
    return {name: str(value) if isinstance(value, Path) else value for name, value in options.items()}


def score(task: Any, table: Any, what: str) -> dict[str, float] | None:
    """A task's metrics on a table, with progress; None without a table."""
    if table is None:
        return None
    with progress(f"evaluating {what}") as bar:
        return task.score(table, report=bar.rows)
