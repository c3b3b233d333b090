"""The models and the data of `kerasbert show layers` and `kerasbert show landscape`."""

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from kerasbert.cli.process.progress import loading, note, progress
from kerasbert.errors import KerasBertError
from kerasbert.export.tflite.file_kind import is_tflite
from kerasbert.files.model_folder import read_own_config
from kerasbert.training.config import TrainConfig

if TYPE_CHECKING:
    from kerasbert.data.dataset import Dataset
    from kerasbert.tasks.base import Task

# The settings of a training that these commands have.
READING = (
    "train", "text_column", "pair_column", "label_column", "delimiter", "encoding", "label_separator", "skip_bad_rows", "max_rows", "seed",
)  # fmt: skip
PROBED = (*READING, "dev", "task", "labels", "sequence_length")
TRAINED = (*READING, "epochs", "learning_rate", "batch_size")


def settings_without(*kept: str) -> tuple[str, ...]:
    """Return the names of all settings of a training but these.

    Args:
        kept: The names of those that a command has.
    """
    return tuple(field.name for field in fields(TrainConfig) if field.name not in kept)


def probed_task(model: str, settings: Mapping[str, Any]) -> "tuple[Task, Dataset, Dataset]":
    """Return the task whose layers are probed, the training data and the dev data.

    A saved classifier or tagger gives its labels. Any other folder gets a new head for the labels of the training data.

    Args:
        model: A saved folder, an encoder of the zoo or a hub name.
        settings: The given settings by name.

    Raises:
        KerasBertError: When the model or the data cannot be used.
    """
    from kerasbert.cli.inputs.training_data import prepare_tables, read_data, read_model_tables
    from kerasbert.cli.runs.new_task import new_task

    check_is_folder(model, "layers")
    training = TrainConfig(**{**settings, "model": model})
    if "task" in settings or _saved_task(model) not in ("TextClassifier", "TokenTagger"):
        data = read_data(training)
        train, dev = data.train, data.dev
        task = new_task(training, data)
    else:
        train, dev = read_model_tables(model, training)
        with loading("the model"):
            from kerasbert.tasks.auto import load_task

            task = load_task(model)
        train, dev = prepare_tables(task, train, dev)
    if dev is None:
        raise KerasBertError(
            "expected --dev, received none; name a file, or a fraction of the training rows such as 0.1"
        )
    return task, train, dev


def landscape_models(start: str, tuned: str, other: str | None, seed: int) -> "tuple[Task, Task, Task | None]":
    """Load the start of a training, what was trained from it, and a third model.

    Args:
        start: A checkpoint. A head that it lacks is drawn as `kerasbert train` draws it with this seed.
        tuned: The saved folder of the trained model.
        other: The saved folder of a third model, or None.
        seed: The random seed.

    Raises:
        KerasBertError: When a model cannot be loaded.
    """
    for model in (start, tuned, other):
        if model is not None:
            check_is_folder(model, "weights to move")
    with loading("the models"):
        import tf_keras as keras

        from kerasbert.tasks.auto import load_task

        trained = load_task(tuned)
        keras.utils.set_random_seed(seed)
        extensions = {
            name: value for name, value in trained.encoder.options.items() if name in ("adapters", "layer_mix")
        }
        first = type(trained).from_pretrained(start, **trained.head_config(), **extensions)
        third = None if other is None else load_task(other)
    return first, trained, third


def train_from_random(tuned: "Task", settings: Mapping[str, Any]) -> "tuple[Task, Task]":
    """Return a copy of a task with random weights, and what was trained from it.

    Args:
        tuned: The task.
        settings: The given settings of the training by name.

    Raises:
        KerasBertError: When the data cannot be used, or the training diverges.
    """
    import tf_keras as keras

    from kerasbert.cli.inputs.data_files import check_labels, read_described
    from kerasbert.training.preparation import prepare
    from kerasbert.training.recommended import settled
    from kerasbert.training.trainer import TRAINING, train

    training = TrainConfig(**settings)
    data = read_described(type(tuned.processor), training.require("train"), training)
    check_labels(tuned.processor, data)
    keras.utils.set_random_seed(training.seed)
    start, task = (type(tuned).from_config(tuned.get_config()) for _ in range(2))
    task.set_weights(start.get_weights())
    training, lines = settled(training, task, len(data))
    for line in lines:
        note(line)
    with progress(TRAINING) as bar:
        train(task, data, None, training, callbacks=prepare(task, training, data), progress=bar)
    return start, task


def check_is_folder(model: str, what: str) -> None:
    """Check that a model is no `.tflite` file.

    Args:
        model: The model.
        what: What the command needs of it.

    Raises:
        KerasBertError: When it is one.
    """
    if is_tflite(model):
        raise KerasBertError(
            f"expected a folder for its {what}, received the file {model!r}; name the folder that it was converted from"
        )


def _saved_task(model: str) -> str | None:
    """Return the task of a saved folder, as its files name it."""
    from kerasbert.checkpoints.heads import named_class
    from kerasbert.checkpoints.hugging_face import read_config, resolve
    from kerasbert.processors.registry import TASK_NAMES

    folder = resolve(model)
    if (own := read_own_config(folder).get("task")) is not None:
        return own
    ending = named_class(read_config(folder)).ending
    return next((name for name, each in TASK_NAMES.items() if each.architecture == ending), None)
