"""The stages of a distillation before its last one: each is trained and kept, so that a resumed command goes on in the right one."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kerasbert.cli.process.progress import note, progress
from kerasbert.cli.runs.training_run import TrainingRun
from kerasbert.files.atomic import atomic_file
from kerasbert.files.json_text import read_json_object
from kerasbert.training.config import TrainConfig
from kerasbert.training.run_folder import RunFolder

if TYPE_CHECKING:
    from kerasbert.data.dataset import Dataset
    from kerasbert.tasks.base import Task
    from kerasbert.training.distillation import StudentTraining

_KEPT = (
    "batch_size", "schedule", "warmup", "weight_decay", "clip_norm", "seed", "jit", "checkpoint_minutes", "distribute",
)  # fmt: skip
_WEIGHTS, _RECORD = "weights.safetensors", "record.json"


@dataclass(frozen=True)
class Stage:
    """A stage of a distillation.

    Attributes:
        name: Its name, such as `general`.
        make: Makes what trains the student.
        rows: Returns the rows that it trains on, from the training data.
        epochs: Number of epochs.
        rate: Peak learning rate; None for the recommended one.
    """

    name: str
    make: "Callable[[], StudentTraining]"
    rows: "Callable[[Dataset], Dataset]"
    epochs: int
    rate: float | None


def run_stages(stages: Sequence[Stage], run: TrainingRun, student: "Task", data: "Dataset") -> list[dict[str, Any]]:
    """Train a student in stages, before the run itself trains it.

    A stage begins with random states that depend on the seed and its number alone. A resumed command therefore reaches the numbers of an
    uninterrupted one. The weights after each stage are kept in the run folder until the run is complete.

    Args:
        stages: The stages.
        run: The run of the last stage.
        student: The student.
        data: The training data.

    Returns:
        The records of the stages.
    """
    if not stages:
        return []
    run.begin()
    records: list[dict[str, Any]] = []
    in_last = run.resume and run.folder.state.is_file()  # its state has the weights of all stages before
    for number, stage in enumerate(stages):
        note(f"stage {number + 1} of {len(stages) + 1}: {stage.name} distillation")
        _set_random_states(student, run.config.seed + number + 1)
        folder = RunFolder(run.folder.stages / stage.name)
        if (folder.model / _RECORD).is_file():
            records.append(_restore(folder, student))
        elif not in_last:
            records.append(_train(stage, folder, run.config, student, data))
    note(f"stage {len(stages) + 1} of {len(stages) + 1}: prediction-layer distillation")
    _set_random_states(student, run.config.seed)
    return records


def _train(stage: Stage, folder: RunFolder, config: TrainConfig, student: "Task", data: "Dataset") -> dict[str, Any]:
    """Train one stage, or go on with it, and keep the weights."""
    from kerasbert.training.checked_tensors import write_checked
    from kerasbert.training.preparation import prepare
    from kerasbert.training.recommended import settled
    from kerasbert.training.trainer import TRAINING, train

    training, rows = stage.make(), stage.rows(data)
    kept = {name: getattr(config, name) for name in _KEPT}
    own = TrainConfig(epochs=stage.epochs, learning_rate=stage.rate, **kept)
    own, lines = settled(own, training, len(rows))
    for line in lines:
        note(line)
    with progress(TRAINING) as bar:
        with training.distribute_strategy.scope():
            callbacks = prepare(training, own, rows)
        resume = folder.unfinished
        if not resume:
            folder.begin(own)
        result = train(
            training, rows, None, own, folder, resume=resume, keep_state=True, callbacks=callbacks, progress=bar
        )
    note(f"{result.seconds:.0f} s of training, {result.examples_per_second:,.0f} examples/s")
    record = {
        "stage": stage.name, "data": rows.describe(), "epochs": result.epochs, "learning_rate": own.learning_rate,
        "seconds": result.seconds,
    }  # fmt: skip
    write_checked(folder.model / _WEIGHTS, {str(i): weight.numpy() for i, weight in enumerate(student.weights)})
    with atomic_file(folder.model / _RECORD) as partial:
        partial.write_text(json.dumps(record, indent=2) + "\n", "utf-8")
    return record


def _restore(folder: RunFolder, student: "Task") -> dict[str, Any]:
    """Give the student the weights after a stage that is complete."""
    from kerasbert.training.checked_tensors import read_checked

    saved = read_checked(folder.model / _WEIGHTS)
    for number, weight in enumerate(student.weights):
        weight.assign(saved[str(number)])
    note("complete before the interruption")
    return read_json_object(folder.model / _RECORD)


def _set_random_states(student: "Task", seed: int) -> None:
    """Seed everything that a stage draws: new projections, and dropout."""
    import random

    import tf_keras as keras

    from kerasbert.layers.random_layer import RandomLayer
    from kerasbert.layers.traversal import sublayers

    keras.utils.set_random_seed(seed % 2**32)
    for layer in sublayers(student, RandomLayer):
        layer.state.assign([random.getrandbits(31), 0])
