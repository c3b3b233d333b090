"""Adapter training: only adapters, norms and head learn, and are saved apart from a base model that several tasks share."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import safetensors
import tensorflow as tf

from kerasbert.checkpoints.messages import first_three, mismatch, one_line, short_repr
from kerasbert.checkpoints.name_map import Entry, NameMap
from kerasbert.checkpoints.safetensors_file import read_file, write_tensors
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json
from kerasbert.layers.blocks.adapters import Adapter
from kerasbert.layers.dense import Dense
from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.no_norm import NoNorm
from kerasbert.layers.norms import LayerNorm
from kerasbert.layers.traversal import dense_layers, sublayers
from kerasbert.tasks.base import Task

_KEY, _FORMAT = "kerasbert", 1  # of the file's metadata


def train_adapters(task: Task) -> None:
    """Freeze all but adapters, norms, layer mix, pooler and head (Houlsby et al. 2019, section 2.1), before `compile`.

    Quantizing a task makes a new one, in which everything is trainable again.

    Args:
        task: A task whose encoder has adapters (`adapters=` of `from_pretrained`).

    Raises:
        KerasBertError: When the task has no adapters.

    Example:
        ```python
        task = kb.TextClassifier.from_pretrained("small-en", labels=["negative", "positive"], adapters=16)
        kb.train_adapters(task)
        task.compile(optimizer=kb.adamw(1e-3))
        task.fit(texts, labels)
        kb.save_adapters(task, "adapters.safetensors")
        ```
    """
    for layer in _base_layers(task):
        layer.trainable = False
    for norm in sublayers(
        task.encoder, (LayerNorm, NoNorm)
    ):  # a norm that is folded into a Dense layer is inside of it
        norm.trainable = True


def save_adapters(task: Task, path: str | os.PathLike) -> None:
    """Write the variables that `train_adapters` leaves trainable into a safetensors file: a few per cent of the model.

    Args:
        task: A task whose encoder has adapters.
        path: The file to write, usually `.safetensors`.

    Raises:
        KerasBertError: When the task has no adapters, or the file cannot be written.

    Example:
        ```python
        task = kb.TextClassifier.from_pretrained("small-en", labels=["negative", "positive"], adapters=16)
        kb.save_adapters(task, "adapters.safetensors")
        ```
    """
    tensors = {name: variable.numpy() for name, variable in _trained_variables(task).items()}
    write_tensors(path, tensors, {_KEY: json.dumps(_description(task))})


def load_adapters(task: Task, path: str | os.PathLike) -> None:
    """Load the file of `save_adapters` into a task of the same class with the same base model, whole or not at all.

    Args:
        task: A task with adapters of the same size; its weights change in place.
        path: The file of `save_adapters`.

    Raises:
        KerasBertError: When the file is damaged, or of another task, other labels, another size or another base model.

    Example:
        ```python
        task = kb.TextClassifier.from_pretrained("small-en", labels=["negative", "positive"], adapters=16)
        kb.save_adapters(task, "adapters.safetensors")
        kb.load_adapters(task, "adapters.safetensors")
        ```
    """
    variables, tensors = _trained_variables(task), read_file(path)
    saved = _read_description(Path(path))
    for name, value in _description(task).items():
        if saved.get(name) != value:
            raise mismatch(
                path, f"adapters whose {name} is {short_repr(value)}, as in this task", short_repr(saved.get(name))
            )
    if unknown := sorted(tensors.keys() - variables.keys()):
        raise mismatch(path, f"{len(variables)} tensors of this task", f"others too: {first_three(unknown)}")
    NameMap(tuple(Entry(name, name) for name in variables)).apply(tensors, variables)


def _base_layers(task: Task) -> list[Dense | EmbeddingTable]:
    """Return the layers of the base model, whose weights stay."""
    encoder = task.encoder
    if encoder.adapters is None:
        raise KerasBertError(
            "expected a task with adapters, received one without: load it with adapters=64 or another size"
        )
    trained = [dense for adapter in sublayers(encoder, Adapter) for dense in dense_layers(adapter)] + [encoder.pooler]
    layers = sublayers(encoder, (Dense, EmbeddingTable))
    return [layer for layer in layers if not any(layer is other for other in trained)]


def _base_variables(task: Task) -> set[int]:
    return {
        id(value) for layer in _base_layers(task) for value in vars(layer).values() if isinstance(value, tf.Variable)
    }


def _trained_variables(task: Task) -> dict[str, tf.Variable]:
    base = _base_variables(task)
    return {path: variable for path, variable in task.variables_by_path().items() if id(variable) not in base}


def _description(task: Task) -> dict[str, Any]:
    """Return the properties that two tasks must share to exchange adapters. `base` is a fingerprint of the base model's weights."""
    base, digest = _base_variables(task), hashlib.sha256()
    for path, variable in sorted(task.variables_by_path().items()):
        if id(variable) in base:
            digest.update(path.encode() + variable.numpy().tobytes())
    labels = list(task.labels) if task.labels is not None else None
    kind = {"format": _FORMAT, "task": type(task).__name__, "labels": labels}
    return {**kind, **task.encoder.options, "base": digest.hexdigest()[:16]}


def _read_description(path: Path) -> dict[str, Any]:
    try:
        with safetensors.safe_open(path, framework="np") as file:
            text = (file.metadata() or {}).get(_KEY, "null")
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise mismatch(path, "adapters of kerasbert's", one_line(error)) from error
    description = parse_json(text, path, expected="adapters of kerasbert's")
    if not isinstance(description, dict):
        raise mismatch(path, "adapters of kerasbert's", "a safetensors file without their description")
    return description
