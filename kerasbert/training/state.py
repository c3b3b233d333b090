"""All that a training needs to go on after a kill as if nothing had happened, in one file."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import tensorflow as tf

from kerasbert.checkpoints.safetensors_file import read_file, write_tensors
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.traversal import sublayers

_CARD = "card"


def state_variables(task) -> dict[str, tf.Variable]:
    """Weights, statistics, the optimizer's variables and dropout's states, by names that two equal tasks share."""
    groups = {
        "task": task.variables,
        "optimizer": task.optimizer.variables,
        "dropout": [layer.state for layer in sublayers(task, Dropout)],
    }
    return {f"{group}.{number}": variable for group, found in groups.items() for number, variable in enumerate(found)}


def save_state(path: str | os.PathLike, task, card: Mapping) -> None:
    """Writes the state of a compiled task, and a JSON-able `card` (where the training stands), whole or not at all.

    The sums behind the running loss and metrics are part of it: a resumed epoch reports what the unbroken one would have.
    """
    tensors = {name: np.asarray(variable.numpy()) for name, variable in state_variables(task).items()}
    tensors |= {f"metric.{name}": value for name, value in metric_sums(task).items()}
    tensors[_CARD] = np.frombuffer(json.dumps(dict(card)).encode(), np.uint8)
    write_tensors(Path(path), tensors)


def read_state(path: str | os.PathLike) -> tuple[dict[str, np.ndarray], dict]:
    """Tensors and card of a saved state. Raises KerasBertError for a damaged file."""
    tensors = read_file(Path(path))
    try:
        card = parse_json(tensors.pop(_CARD).tobytes(), path)
    except KeyError:
        card = None
    if not isinstance(card, dict):
        raise KerasBertError(f"{path}: expected the state of a training, received a file without its card")
    return tensors, card


def restore_state(path: str | os.PathLike, task, tensors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Puts a state into a compiled task of the same making; the sums of its metrics are given back, see `add_metric_sums`.

    Raises KerasBertError when the state is another task's.
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
            f"{wrong[0]} first). Resume with the recipe that it was begun with, or begin anew in another folder"
        )
    for name, variable in variables.items():
        variable.assign(saved[name])
    return {name.removeprefix("metric."): value for name, value in tensors.items() if name.startswith("metric.")}


def metric_sums(task) -> dict[str, np.ndarray]:
    """The variables of the loss and the metrics, by number."""
    found = [variable for metric in task.metrics for variable in metric.variables]
    return {str(number): variable.numpy() for number, variable in enumerate(found)}


def add_metric_sums(task, sums: Mapping[str, np.ndarray]) -> None:
    """Adds what the batches before the interruption had summed up; metrics have variables only once a batch was trained on."""
    found = [variable for metric in task.metrics for variable in metric.variables]
    for number, value in sums.items():
        found[int(number)].assign_add(tf.cast(value, found[int(number)].dtype))


def digest(path: str | os.PathLike) -> str:
    """Sixteen hex digits of a file's content: whether data was edited between two parts of a training."""
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()[:16]
