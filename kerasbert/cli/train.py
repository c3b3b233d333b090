"""`kerasbert train`."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from kerasbert.cleanup import temporary_folder
from kerasbert.cli.common import options
from kerasbert.cli.common.option_groups import OptionGroup, with_options
from kerasbert.cli.common.results import Result
from kerasbert.cli.common.training_run import TrainingRun
from kerasbert.errors import KerasBertError
from kerasbert.training.config import TrainConfig
from kerasbert.training.config_fields import flag

if TYPE_CHECKING:
    from kerasbert.cli.common.training_data import TrainingData
    from kerasbert.tasks.base import Task

ConfigFile = Annotated[
    Path | None, Argument(metavar="[CONFIG.TOML]", help="Settings in a file, under the options' names; flags win.")
]


@with_options(given=OptionGroup(TrainConfig, given_only=True))
def train(
    given: dict[str, Any],
    config: ConfigFile = None,
    resume: options.Resume = False,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """Fine-tune a checkpoint, for any task.

    Example: kerasbert train --task classification --model FOLDER --train train.tsv --dev dev.tsv --out runs/mine
    """
    training = TrainConfig(**{**(TrainConfig.read(config) if config else {}), **given})
    for name in ("model", "train", "out"):
        if getattr(training, name) is None:
            raise KerasBertError(f"expected {flag(name)}, received none; `kerasbert train --help` shows an example")
    with _destination(training, resume) as out:
        return _train(training, out, resume, overwrite)


def _train(training: TrainConfig, out: Path, resume: bool, overwrite: bool) -> Result:
    from kerasbert.cli.common.destinations import check_out_folder
    from kerasbert.cli.common.layer_counts import check_layer_count
    from kerasbert.cli.common.training_data import read_data
    from kerasbert.optional import require_package

    check_out_folder(out, training.model, resume=resume, overwrite=overwrite)
    if training.tensorboard:
        require_package("tensorboard", "--tensorboard")
    if training.top_layers is not None:
        check_layer_count(training.model, training.top_layers, option="--top-layers")
    run = TrainingRun(training, resume, out=out)
    data = read_data(training)
    task = _new_task(training, data)
    from kerasbert.training.trainer import format_metrics

    result = run.fit(task, data.train, data.dev)
    record = run.record(
        result, data.train, data.dev, {},
        task=training.task, model=training.model, labels=task.labels, sequence_length=task.sequence_length,
    )  # fmt: skip
    line = f"saved {out}" + (f": dev {format_metrics(result.dev)}" if result.dev else "")
    return Result({"out": out, "dev": result.dev, **record}, line)


def _new_task(training: TrainConfig, data: "TrainingData") -> "Task":
    """The task that the config names, not compiled, with a new head where the checkpoint has none."""
    from kerasbert.cli.common.loading import loading
    from kerasbert.processors.registry import TASK_NAMES, train_tasks

    with loading("the model"):
        import tf_keras as keras

        from kerasbert import tasks
        from kerasbert.training.preparation import strategy_named

        strategy = strategy_named(training.distribute)  # before anything else: workers meet at TensorFlow's start
        keras.utils.set_random_seed(training.seed)
        name, processor_name = train_tasks()[training.task]
        settings: dict[str, Any] = {"sequence_length": data.length}
        if data.processor.labels is not None and not TASK_NAMES[name].fixed_labels:
            settings["labels"] = data.processor.labels
        if TASK_NAMES[name].processor is None:
            settings["problem"] = processor_name
        if training.adapters:
            settings["adapters"] = training.adapters
        if training.layer_mix:
            settings["layer_mix"] = True
        with strategy.scope():
            task = tasks.TASKS[name].from_pretrained(data.folder, **settings)
            if training.tokenize_as:
                task.tokenize_as(training.tokenize_as)
            return task if training.dropout is None else task.with_dropout(training.dropout)


@contextlib.contextmanager
def _destination(training: TrainConfig, resume: bool = False) -> Iterator[Path]:
    """Where this process writes: --out, or for all workers of a cluster but the chief a folder that goes away, with the state to resume.

    Raises KerasBertError where another worker than the chief cannot see the folder of a training that it resumes.
    """
    from kerasbert.files.model_folder import RUN_FOLDER
    from kerasbert.training.preparation import is_chief

    if training.distribute != "multi-worker" or is_chief():
        yield Path(str(training.out))
        return
    begun = Path(str(training.out), RUN_FOLDER)
    if resume and not begun.is_dir():
        raise KerasBertError(
            f"expected the interrupted training's folder {str(begun)!r} on every worker, received none here; put --out on a disk that all "
            "workers share"
        )
    with temporary_folder("worker") as folder:  # which has a file of its own in it
        if resume:
            shutil.copytree(begun, folder / "model" / RUN_FOLDER, symlinks=True)
        yield folder / "model"
