"""A fine-tuning run as a command: the task made, trained with progress, its record and plots written."""

import contextlib
import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from kerasbert.cli.common.loading import loading
from kerasbert.cli.common.progress import note, progress
from kerasbert.cli.common.results import plain
from kerasbert.cli.common.training_data import TASKS, TrainingData
from kerasbert.training.config import Recipe
from kerasbert.training.run_folder import RunFolder


def new_task(recipe: Recipe, data: TrainingData):
    """The task that a recipe asks for, not compiled, with a new head where the checkpoint has none."""
    with loading("the model"):
        import tf_keras as keras

        from kerasbert import tasks
        from kerasbert.training.preparation import strategy_named

        strategy = strategy_named(recipe.distribute)  # before anything else: workers meet at TensorFlow's start
        keras.utils.set_random_seed(recipe.seed)
        name, problem = TASKS[recipe.task]
        settings = {"sequence_length": data.length}
        if data.problem.labels is not None and name != "NextSentencePredictor":  # whose labels are fixed
            settings["labels"] = data.problem.labels
        if name == "TextClassifier":
            settings["problem"] = problem
        if recipe.adapters:
            settings["adapters"] = recipe.adapters
        if recipe.layer_mix:
            settings["layer_mix"] = True
        with strategy.scope():
            task = getattr(tasks, name).from_pretrained(data.folder, **settings)
            if recipe.tokenize_as:
                task.tokenize_as(recipe.tokenize_as)
            return with_dropout(task, recipe)


def with_dropout(task, recipe: Recipe):
    """The task with the recipe's dropout, or as it is where the recipe has none."""
    return task if recipe.dropout is None else task.with_dropout(recipe.dropout)


@contextlib.contextmanager
def training() -> Iterator:
    """Progress on stderr while it lasts; gives the listener of a run."""
    from kerasbert.training.trainer import TRAINING, Listener

    with progress(TRAINING) as bar:

        def tell(stage: str, done: int, total: int, figures) -> None:
            bar.update(done, total, figures, stage=stage, unit="steps" if stage == TRAINING else "rows")

        yield Listener(tell, note)


def fit(
    task, data, recipe: Recipe, folder: RunFolder, resume: bool, listener, options: Mapping | None = None, callbacks=()
):
    """Compiles and trains the task as the recipe says; the run folder says how it went. Gives a `Fitted`.

    data: has tables `train` and `dev`. options: of a command other than `kerasbert train`, which the recipe alone does not repeat; the
    folder keeps them in the recipe's place. callbacks: further ones of Keras'.
    """
    from kerasbert.training import plots
    from kerasbert.training.preparation import prepare
    from kerasbert.training.trainer import Settings, run

    with task.distribute_strategy.scope():
        callbacks = (*prepare(task, recipe, data.train), *callbacks)
    if not resume:
        folder.begin(recipe if options is None else options)
    settings = Settings(
        recipe.epochs, recipe.batch_size, recipe.seed, recipe.early_stopping, recipe.checkpoint_minutes, recipe.tensorboard
    )  # fmt: skip
    fitted = run(
        task, data.train, data.dev, settings, folder, resume=resume, keep_state=True, callbacks=callbacks, listener=listener
    )  # fmt: skip
    plots.write(folder, task, data.dev)
    return fitted


def write_record(folder: Path, fitted, settings: dict, train, dev, **more) -> dict:
    """Writes `training.json` into a saved folder: how these weights came about. Returns its content.

    It is the last of a training, which cannot be resumed from then on.
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
        "data": {"train": train.describe(), "dev": dev and dev.describe()},
        "settings": settings,
        **more,
        "epochs": fitted.epochs,
        "kept_epoch": fitted.kept_epoch,
        "seconds": fitted.seconds,
        "examples_per_second": fitted.examples_per_second,
    })  # fmt: skip
    with atomic_file(folder / RECORD_FILE) as partial:
        partial.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", "utf-8")
    RunFolder(folder).finish()
    return record


def settings_of(recipe: Recipe) -> dict:
    """A recipe's settings for the record."""
    return {name: value for name, value in asdict(recipe).items() if value is not None}
