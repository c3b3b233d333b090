"""`kerasbert train`."""

import contextlib
import inspect
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import OptionGroup, with_options
from kerasbert.cli.outputs.results import Result
from kerasbert.cli.runs.training_run import TrainingRun
from kerasbert.errors import KerasBertError
from kerasbert.files.cleanup import temporary_folder
from kerasbert.training.answer_options import answer_settings
from kerasbert.training.config import TrainConfig

if TYPE_CHECKING:
    from kerasbert.cli.inputs.training_data import TrainingData
    from kerasbert.tasks.base import Task

ConfigFile = Annotated[
    Path | None,
    Argument(
        metavar="[CONFIG.TOML]",
        help="Settings in a TOML file, such as run/config.toml of a model. Options override them.",
    ),
]


@with_options("strict", settings=OptionGroup(TrainConfig, given_only=True))
def train(
    settings: dict[str, Any],
    config: ConfigFile = None,
    resume: options.Resume = False,
    overwrite: options.Overwrite = False,
) -> Result:
    """Fine-tune a checkpoint for a task.

    --model, --train and --out are required, as options or in CONFIG.TOML.

    Example: kerasbert train --task classification --model FOLDER --train train.tsv --dev dev.tsv --out runs/mine
    """
    training = TrainConfig(**{**(TrainConfig.read(config) if config else {}), **settings})
    for name in ("model", "train", "out"):
        training.require(name)
    with _destination(training, resume) as out:
        return _train(training, out, resume, overwrite)


def _train(training: TrainConfig, out: Path, resume: bool, overwrite: bool) -> Result:
    from kerasbert.checkpoints.layer_counts import check_layer_count
    from kerasbert.cli.inputs.training_data import read_data
    from kerasbert.cli.outputs.destinations import check_out_folder

    check_out_folder(out, training.model, resume=resume, overwrite=overwrite)
    if training.top_layers is not None:
        check_layer_count(training.require("model"), training.top_layers, option="--top-layers")
    run = TrainingRun(training, resume, out=out)
    data = read_data(training)
    task = _new_task(training, data)
    from kerasbert.training.result import format_metrics

    result = run.fit(task, data.train, data.dev)
    record = run.record(
        result, data.train, data.dev, {},
        task=training.task, model=training.model, labels=task.labels, sequence_length=task.sequence_length,
    )  # fmt: skip
    line = f"saved {out}" + (f": dev {format_metrics(result.dev)}" if result.dev else "")
    return Result({"out": out, "dev": result.dev, **record}, line)


def _new_task(training: TrainConfig, data: "TrainingData") -> "Task":
    """Create the task of the config, with a new head if the checkpoint has none."""
    from kerasbert.cli.process.progress import loading
    from kerasbert.processors.joint import Joint
    from kerasbert.processors.registry import TASK_NAMES, train_tasks

    with loading("the model"):
        import tf_keras as keras

        from kerasbert import tasks
        from kerasbert.training.preparation import strategy_named

        strategy = strategy_named(training.distribute)  # first: workers connect when TensorFlow starts
        keras.utils.set_random_seed(training.seed)
        name, processor_name = train_tasks()[training.task]
        settings: dict[str, Any] = {"sequence_length": data.length}
        if data.processor.labels is not None and not TASK_NAMES[name].fixed_labels:
            settings["labels"] = data.processor.labels
        if TASK_NAMES[name].processor is None:
            settings["problem"] = processor_name
        if training.adapters:
            settings["adapters"] = training.adapters
        if training.head is not None:
            from kerasbert.heads.registry import head_of_file

            if "head" not in inspect.signature(tasks.TASKS[name].__init__).parameters:
                raise KerasBertError(
                    f"expected a task that takes a head of your own for --head, received --task {training.task}; leave --head out"
                )
            settings["head"] = head_of_file(training.head)
        settings |= {"heads": data.processor.heads} if isinstance(data.processor, Joint) else {}
        settings |= answer_settings(training)
        settings |= {name: True for name in ("layer_mix", "new_head") if getattr(training, name)}
        with strategy.scope():
            task = tasks.TASKS[name].from_pretrained(data.folder, **settings)
            if training.tokenize_as:
                task.tokenize_as(training.tokenize_as)
            if isinstance(task, tasks.QuestionAnswerer) and training.no_answer is None:
                task.no_answer = task.no_answer or None  # `fit` decides by the data
            return task if training.dropout is None else task.with_dropout(training.dropout)


@contextlib.contextmanager
def _destination(training: TrainConfig, resume: bool = False) -> Iterator[Path]:
    """Provide the output folder of this process: --out, or a temporary folder for workers of a cluster that are not the chief.

    The temporary folder gets a copy of the state of a resumed run.

    Raises:
        KerasBertError: When the worker cannot see the run that it resumes.
    """
    from kerasbert.files.model_folder import RUN_FOLDER
    from kerasbert.training.preparation import is_chief

    if training.distribute != "multi-worker" or is_chief():
        yield Path(training.require("out"))
        return
    original = Path(training.require("out"), RUN_FOLDER)
    if resume and not original.is_dir():
        raise KerasBertError(
            f"expected the interrupted training's folder {str(original)!r} on every worker, received none here; "
            "put --out on a disk that all workers share"
        )
    with temporary_folder("worker") as folder:  # the folder holds a lock file
        if resume:
            shutil.copytree(original, folder / "model" / RUN_FOLDER, symlinks=True)
        yield folder / "model"
