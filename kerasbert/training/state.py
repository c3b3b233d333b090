"""Training checkpoints: a file with everything that a killed run needs to continue to the same numbers."""

import hashlib
import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json
from kerasbert.layers.random_layer import RandomLayer
from kerasbert.layers.traversal import sublayers
from kerasbert.training.checked_tensors import read_checked, write_checked

if TYPE_CHECKING:
    from kerasbert.tasks.base import Task
    from kerasbert.training.distillation import StudentTraining

_POSITION = "position"


def state_variables(task: "Task | StudentTraining") -> dict[str, tf.Variable]:
    """Return the variables of a training state, by names that two equal tasks share.

    They are weights, statistics, the optimizer's variables and the states of random layers, most of which are dropout.

    Args:
        task: A compiled task, or a `StudentTraining`.
    """
    groups = {
        "task": task.variables,
        "optimizer": task.optimizer.variables,
        "dropout": [layer.state for layer in sublayers(task, RandomLayer)],
    }
    return {
        f"{group}.{number}": variable
        for group, variables in groups.items()
        for number, variable in enumerate(variables)
    }


def save_state(path: str | os.PathLike, task: "Task | StudentTraining", position: Mapping[str, Any]) -> None:
    """Write the state of a compiled task atomically.

    The state includes the sums of the running loss and metrics, so that a resumed epoch reports the values of an uninterrupted one.

    Args:
        path: The file.
        task: The task, or its `StudentTraining`.
        position: Epoch, step and records of the run, JSON-able.
    """
    tensors = {name: np.asarray(variable.numpy()) for name, variable in state_variables(task).items()}
    tensors |= {f"metric.{name}": value for name, value in metric_sums(task).items()}
    tensors[_POSITION] = np.frombuffer(json.dumps(dict(position)).encode(), np.uint8)
    write_checked(path, tensors)


def read_state(path: str | os.PathLike) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read a saved state.

    Args:
        path: The file.

    Returns:
        The tensors by name, and the position.

    Raises:
        KerasBertError: When the file is damaged.
    """
    tensors = read_checked(path)
    try:
        position = parse_json(tensors.pop(_POSITION).tobytes(), path)
    except KeyError:
        position = None
    if not isinstance(position, dict):
        raise KerasBertError(
            f"{path}: expected the state of a training run, received a file without its position; start again with --overwrite"
        )
    return tensors, position


def restore_state(
    path: str | os.PathLike, task: "Task | StudentTraining", tensors: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Assign a state to a compiled task like the saved one.

    Args:
        path: The state's file, for messages.
        task: The task, or its `StudentTraining`.
        tensors: The tensors of `read_state`.

    Returns:
        The sums of the metrics, for `add_metric_sums`.

    Raises:
        KerasBertError: When the state belongs to another task.
    """
    if hasattr(task.optimizer, "build"):
        task.optimizer.build(task.trainable_variables)
    variables = state_variables(task)
    saved = {name: value for name, value in tensors.items() if not name.startswith("metric.")}
    mismatches = sorted(variables.keys() ^ saved.keys())
    mismatches += [
        name for name in variables.keys() & saved.keys() if tuple(variables[name].shape) != saved[name].shape
    ]
    if mismatches:
        raise KerasBertError(
            f"{path}: expected the state of this model and optimizer, received another's ({len(mismatches)} of {len(variables)} tensors "
            f"differ, {mismatches[0]} first); resume with the original settings, or start again in another folder"
        )
    for name, variable in variables.items():
        variable.assign(saved[name])
    return {name.removeprefix("metric."): value for name, value in tensors.items() if name.startswith("metric.")}


def metric_sums(task: "Task | StudentTraining") -> dict[str, np.ndarray]:
    """Return the values of the variables of loss and metrics, by number.

    Args:
        task: A compiled task, or a `StudentTraining`.
    """
    variables = [variable for metric in task.metrics for variable in metric.variables]
    return {str(number): variable.numpy() for number, variable in enumerate(variables)}


def add_metric_sums(task: "Task | StudentTraining", sums: Mapping[str, np.ndarray]) -> None:
    """Add the metric sums of the batches before an interruption. Metrics have no variables before the first batch.

    Args:
        task: A task that was trained on a batch, or its `StudentTraining`.
        sums: The sums that `restore_state` returned.
    """
    variables = [variable for metric in task.metrics for variable in metric.variables]
    for number, value in sums.items():
        variable = variables[int(number)]
        variable.assign_add(tf.cast(value, variable.dtype))


def file_digest(path: str | os.PathLike) -> str:
    """Return sixteen hex digits of a file's SHA-256. A resumed run compares them to detect edited data.

    Args:
        path: The file.
    """
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()[:16]
