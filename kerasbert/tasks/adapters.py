"""Training adapters alone, and keeping what they learned beside a base model that several of them share."""

import hashlib
import json
import os
from pathlib import Path

import safetensors
import tensorflow as tf

from kerasbert.checkpoints.messages import first_three, mismatch, one_line, short_repr
from kerasbert.checkpoints.name_map import Entry, NameMap
from kerasbert.checkpoints.safetensors_file import read_file, write_tensors
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json
from kerasbert.layers.adapters import Adapter
from kerasbert.layers.dense import Dense
from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.no_norm import NoNorm
from kerasbert.layers.norms import LayerNorm
from kerasbert.layers.traversal import dense_layers, sublayers

_KEY, _FORMAT = "kerasbert", 1  # of the file's metadata


def train_adapters(task) -> None:
    """Leaves trainable only adapters, norms, layer mix, pooler and head (Houlsby et al. 2019, section 2.1); to be called before `compile`.

    Quantizing a task makes a new one, in which everything is trainable again.

    Raises KerasBertError for a task without adapters.
    """
    for layer in _base(task):
        layer.trainable = False
    for norm in sublayers(task.encoder, (LayerNorm, NoNorm)):  # one that is folded into a dense lies below it
        norm.trainable = True


def save_adapters(task, path: str | os.PathLike) -> None:
    """Writes what `train_adapters` leaves trainable into one safetensors file: a few per cent of the model.

    Raises KerasBertError for a task without adapters, and when the file cannot be written.
    """
    tensors = {name: variable.numpy() for name, variable in _trained(task).items()}
    write_tensors(path, tensors, {_KEY: json.dumps(_description(task))})


def load_adapters(task, path: str | os.PathLike) -> None:
    """Puts what `save_adapters` wrote into a task of the same kind around the same base model: all of it, or nothing.

    Raises KerasBertError for a damaged file, and one of another task, other labels, another size or another base model.
    """
    variables, tensors = _trained(task), read_file(path)
    saved, mine = _read_description(Path(path)), _description(task)
    for name, value in mine.items():
        if saved.get(name) != value:
            raise mismatch(
                path, f"adapters whose {name} is {short_repr(value)}, as in this task", short_repr(saved.get(name))
            )
    if unknown := sorted(tensors.keys() - variables.keys()):
        raise mismatch(path, f"{len(variables)} tensors of this task", f"others too: {first_three(unknown)}")
    NameMap(tuple(Entry(name, name) for name in variables)).apply(tensors, variables)


def _base(task) -> list[Dense | EmbeddingTable]:
    """The layers whose weights adapters leave as they are."""
    encoder = task.encoder
    if encoder.adapters is None:
        raise KerasBertError(
            "expected a task with adapters, received one without: load it with adapters=64 or another size"
        )
    kept = [dense for adapter in sublayers(encoder, Adapter) for dense in dense_layers(adapter)] + [encoder.pooler]
    return [layer for layer in sublayers(encoder, (Dense, EmbeddingTable)) if not any(layer is other for other in kept)]


def _base_variables(task) -> set[int]:
    return {id(value) for layer in _base(task) for value in vars(layer).values() if isinstance(value, tf.Variable)}


def _trained(task) -> dict[str, tf.Variable]:
    base = _base_variables(task)
    return {path: variable for path, variable in task.variables_by_path().items() if id(variable) not in base}


def _description(task) -> dict:
    """What has to be alike for one task's adapters to fit another, JSON-able. base: sixteen hex digits over the weights around them."""
    base, digest = _base_variables(task), hashlib.sha256()
    for path, variable in sorted(task.variables_by_path().items()):
        if id(variable) in base:
            digest.update(path.encode() + variable.numpy().tobytes())
    labels = list(task.labels) if task.labels is not None else None
    kind = {"format": _FORMAT, "task": type(task).__name__, "labels": labels}
    return {**kind, **task.encoder.options, "base": digest.hexdigest()[:16]}


def _read_description(path: Path) -> dict:
    try:
        with safetensors.safe_open(path, framework="np") as file:
            text = (file.metadata() or {}).get(_KEY, "null")
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise mismatch(path, "adapters of kerasbert's", one_line(error)) from error
    found = parse_json(text, path, expected="adapters of kerasbert's")
    if not isinstance(found, dict):
        raise mismatch(path, "adapters of kerasbert's", "a safetensors file without their description")
    return found
