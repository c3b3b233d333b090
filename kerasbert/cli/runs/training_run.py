"""A training run of a command: progress on stderr, run folder, plots and training record."""

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kerasbert.cli.outputs.results import to_jsonable
from kerasbert.cli.process.progress import note, progress
from kerasbert.optional import require_package
from kerasbert.training.config import TrainConfig
from kerasbert.training.exit_options import choose_threshold
from kerasbert.training.recommended import settled
from kerasbert.training.run_folder import RunFolder, check_resumable

if TYPE_CHECKING:
    import tf_keras as keras

    from kerasbert.data.dataset import Dataset
    from kerasbert.tasks.base import Task
    from kerasbert.training.chance import Chance
    from kerasbert.training.distillation import StudentTraining
    from kerasbert.training.result import TrainResult


class TrainingRun:
    """A training run. `train`, `quantize`, `prune` and `distill` share it, and differ in the steps before and after.

    Args:
        config: The settings; `out` is the model's folder.
        resume: Whether to resume an interrupted training in the folder.
        options: All options of a command that has more than those of the config; see `command_options`.
        out: The model's folder, if it differs from the config's.
        rate_share: The fraction of the recommended learning rate that is used by default; see `kerasbert.training.recommended`.

    Raises:
        KerasBertError: When `resume` is set and the folder holds no interrupted training with the same options, or a package is missing.
    """

    def __init__(
        self,
        config: TrainConfig,
        resume: bool,
        options: Mapping[str, Any] | None = None,
        out: Path | None = None,
        rate_share: float = 1.0,
    ):
        self.config, self.resume, self.rate_share = config, resume, rate_share
        self.options: TrainConfig | Mapping[str, Any] = config if options is None else options
        self.out = Path(config.require("out")) if out is None else out
        self.folder = RunFolder(self.out)
        self.chance: Chance | None = None
        self._begun = resume
        if config.tensorboard:
            require_package("tensorboard", "--tensorboard")
        if resume:
            check_resumable(self.folder, self.options)
            if self.options is config:  # with the rate and the epochs that the interrupted run chose
                self.options = self.config = TrainConfig(**TrainConfig.read(self.folder.config))

    def settle(self, task: "Task | StudentTraining", rows: int) -> None:
        """Give the config the recommended rate and epochs where it has none, and print them.

        Args:
            task: The task, or its `StudentTraining`.
            rows: The number of training rows.
        """
        own_config = self.options is self.config
        self.config, lines = settled(self.config, task, rows, self.rate_share)
        self.options = self.config if own_config else self.options
        for line in lines:
            note(line)

    def begin(self) -> None:
        """Create the run folder, unless the run has begun before."""
        if not self._begun:
            self.folder.begin(self.options)
        self._begun = True

    def fit(
        self,
        task: "Task | StudentTraining",
        data: "Dataset",
        dev: "Dataset | None",
        callbacks: "Sequence[keras.callbacks.Callback]" = (),
    ) -> "TrainResult":
        """Compile and train a task, with progress on stderr and in the run folder.

        Args:
            task: The task, or its `StudentTraining`.
            data: The training data.
            dev: The data for evaluation after every epoch, or None.
            callbacks: Additional Keras callbacks.

        Raises:
            KerasBertError: When a method does not fit the task, or the loss is not finite.
        """
        from kerasbert.training.chance import compare_with_chance
        from kerasbert.training.plots import confusion_matrix, write_plots
        from kerasbert.training.preparation import prepare
        from kerasbert.training.trainer import TRAINING, train

        self.settle(task, len(data))
        with progress(TRAINING) as bar:
            with task.distribute_strategy.scope():
                callbacks = (*prepare(task, self.config, data), *callbacks)
            student: Any = getattr(task, "student", task)
            if dev is not None and getattr(student, "exit_layers", ()):
                student.exit_threshold = None  # epochs are compared by the last exit
            self.begin()
            resume = self.resume and self.folder.state.is_file()  # one interrupted in an earlier stage has none
            result = train(
                task, data, dev, self.config, self.folder, resume=resume, keep_state=True, callbacks=callbacks, progress=bar
            )  # fmt: skip
            if line := choose_threshold(student, dev, self.config.keep):
                note(line)
                student.save_pretrained(self.out)
            outputs, processor = result.outputs, task.processor
            confusion = None if outputs is None else confusion_matrix(processor, outputs)
            names = () if confusion is None else getattr(processor, "known_labels", ())
            write_plots(self.folder, names, confusion)
            self.chance = None if outputs is None else compare_with_chance(processor, outputs)
        note(f"{result.seconds:.0f} s of training, {result.examples_per_second:,.0f} examples/s")
        if self.chance is not None and result.dev:
            if warning := self.chance.warning(next(iter(result.dev)), self.config, task):
                note(warning)
        return result

    def record(
        self,
        result: "TrainResult",
        data: "Dataset",
        dev: "Dataset | None",
        settings: Mapping[str, Any],
        **more: Any,
    ) -> dict[str, Any]:
        """Write `training.json`, the record of the run, into the saved folder. The run is then complete and cannot be resumed.

        Args:
            result: The result of `fit`.
            data: The training data.
            dev: The dev data, or None.
            settings: Additional settings, or replacements of those of the config.
            **more: Additional entries.

        Returns:
            The content of the file.
        """
        record = write_record(
            self.out,
            {**self.config.settings(), **settings},
            data={"train": data.describe(), "dev": dev and dev.describe()},
            **more,
            chance=None if self.chance is None else asdict(self.chance),
            epochs=result.epochs,
            kept_epoch=result.kept_epoch,
            seconds=result.seconds,
            examples_per_second=result.examples_per_second,
        )
        self.folder.finish()
        return record


def write_record(out: Path, settings: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Write `training.json`, the record of a run, into a saved folder: the command, versions, settings and results.

    Args:
        out: The folder.
        settings: The settings.
        **more: Additional entries.

    Returns:
        The content of the file.
    """
    import numpy as np
    import tensorflow as tf
    import tf_keras as keras

    from kerasbert import __version__
    from kerasbert.files.atomic import atomic_file
    from kerasbert.files.model_folder import RECORD_FILE

    record: dict[str, Any] = to_jsonable({
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "versions": {
            "kerasbert": __version__, "tensorflow": tf.__version__, "tf_keras": keras.__version__, "numpy": np.__version__,
            "python": sys.version.split()[0],
        },
        "settings": settings,
        **more,
    })  # fmt: skip
    with atomic_file(out / RECORD_FILE) as partial:
        partial.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return record


def command_options(**values: Any) -> dict[str, Any]:
    """Return the options of a command, JSON-able. A resumed command must have the same ones.

    Args:
        **values: The command's arguments by name; a config counts as its fields.
    """
    options: dict[str, Any] = {}
    for name, value in values.items():
        options |= asdict(value) if is_dataclass(value) and not isinstance(value, type) else {name: value}
    return {name: str(value) if isinstance(value, Path) else value for name, value in options.items()}


def score(task: "Task", table: "Dataset | None", what: str) -> dict[str, float] | None:
    """Evaluate a task with progress on stderr.

    Args:
        task: The task.
        table: The data, or None.
        what: The name of the model for the progress line, such as "the teacher".

    Returns:
        The metrics, or None without data.
    """
    if table is None:
        return None
    with progress(f"evaluating {what}", "rows") as bar:
        return task.score(table, report=bar.advance)
