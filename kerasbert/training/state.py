"""The state from which a killed training goes on to the same numbers, in one file."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from kerasbert.checkpoints.safetensors_file import read_file, write_tensors
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.traversal import sublayers

_POSITION = "position"


def state_variables(task: Any) -> dict[str, tf.Variable]:
    """Weights, statistics, the optimizer's variables and dropout's states, by names that two equal tasks share."""
    groups = {
        "task": task.variables,
        "optimizer": task.optimizer.variables,
        "dropout": [layer.state for layer in sublayers(task, Dropout)],
    }
    return {f"{group}.{number}": variable for group, found in groups.items() for number, variable in enumerate(found)}


def save_state(path: str | os.PathLike, task: Any, position: Mapping) -> None:
    """Writes the state of a compiled task, whole or not at all.

    The sums behind the running loss and metrics are part of it: a resumed epoch reports what the unbroken one would have.

    Args:
        path: The file.
        task: The task.
        position: Epoch, step and records of the training, JSON-able.
    """
    tensors = {name: np.asarray(variable.numpy()) for name, variable in state_variables(task).items()}
    tensors |= {f"metric.{name}": value for name, value in metric_sums(task).items()}
    tensors[_POSITION] = np.frombuffer(json.dumps(dict(position)).encode(), np.uint8)
    write_tensors(Path(path), tensors)


def read_state(path: str | os.PathLike) -> tuple[dict[str, np.ndarray], dict]:
    """Tensors and position of a saved state.

    Raises:
        KerasBertError: When the file is damaged.
    """
    tensors = read_file(Path(path))
    try:
        position = parse_json(tensors.pop(_POSITION).tobytes(), path)
    except KeyError:
        position = None
    if not isinstance(position, dict):
        raise KerasBertError(f"{path}: expected the state of a training, received a file without its position")
    return tensors, position


def restore_state(path: str | os.PathLike, task: Any, tensors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Puts a state into a compiled task like the saved one.

    Args:
        path: The state's file, for messages.
        task: The task.
        tensors: The tensors of `read_state`.

    Returns:
        The sums of the metrics, for `add_metric_sums`.

    Raises:
        KerasBertError: When the state is another task's.
    """
    if hasattr(task.optimizer, "build"):
        task.optimizer.build(task.trainable_variables)
    variables = state_variables(task)
    saved = {name: value for name, value in tensors.items() if not name.startswith("metric.")}
    wrong = sorted(variables.keys() ^ saved.keys())
    wrong += [name for name in variables.keys() & saved.keys() if tuple(variables[name].shape) != saved[name].shape]
    if wrong:
        raise KerasBertError(
            f"{path}: expected the state of this model and optimizer, received another's ({len(wrong)} of {len(variables)} tensors differ, "
            f"{wrong[0]} first); resume with the settings that it was begun with, or begin anew in another folder"
        )
    for name, variable in variables.items():
        variable.assign(saved[name])
    return {name.removeprefix("metric."): value for name, value in tensors.items() if name.startswith("metric.")}


def metric_sums(task: Any) -> dict[str, np.ndarray]:
    """The variables of the loss and the metrics, by number."""
    found = [variable for metric in task.metrics for variable in metric.variables]
    return {str(number): variable.numpy() for number, variable in enumerate(found)}


def add_metric_sums(task: Any, sums: Mapping[str, np.ndarray]) -> None:
    """Adds the sums of the batches before the interruption; metrics have variables only once a batch was trained on."""
    found = [variable for metric in task.metrics for variable in metric.variables]
    for number, value in sums.items():
        found[int(number)].assign_add(tf.cast(value, found[int(number)].dtype))


def digest(path: str | os.PathLike) -> str:
    """Sixteen hex digits of a file's SHA-256, to notice data that was edited between two parts of a training."""
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()[:16]
