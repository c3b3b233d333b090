"""Tasks and encoders from Hugging Face folders, with kerasbert's own settings in `kerasbert.json`."""

import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kerasbert.checkpoints.config_keys import check_keys
from kerasbert.checkpoints.hugging_face import read_config, resolve
from kerasbert.checkpoints.name_tables import has_head, has_pooler
from kerasbert.checkpoints.readers import read_tensors
from kerasbert.checkpoints.resizing import resize_tables
from kerasbert.encoders import encoder_class
from kerasbert.encoders.base import Encoder
from kerasbert.files.model_folder import RANGES_FILE, read_own_config
from kerasbert.layers.quantization.policy import QuantizationPolicy
from kerasbert.tasks.checkpoint_names import checkpoint_variables, name_map_of, variables_of_options
from kerasbert.tasks.quantization_ranges import load_ranges
from kerasbert.tasks.saved_settings import (
    check_as_many_labels,
    check_same_labels,
    encoder_options,
    numbered_labels,
    own_settings,
    saved_policy,
)
from kerasbert.text import has_tokenizer, tokenizer_from_folder

if TYPE_CHECKING:
    from kerasbert.tasks.base import Task

    TaskT = TypeVar("TaskT", bound=Task)

NOTHING: Mapping[str, Any] = MappingProxyType({})
Checkpoint = tuple[dict[str, Any], dict[str, np.ndarray]]  # config.json and tensors by name


def load_encoder(
    source: Any,
    *,
    max_position_embeddings: int | None = None,
    vocab_size: int | None = None,
    adapters: int | None = None,
    layer_mix: bool | None = None,
) -> Encoder:
    """Load the encoder of a checkpoint, by the `model_type` of its config.json, without heads.

    Args:
        source: A folder with Hugging Face's files or a TensorFlow 1 checkpoint; the name of an encoder of the zoo; a hub name; or a
            keras-nlp backbone.
        max_position_embeddings: Positions to keep; by default all.
        vocab_size: Rows of the token embeddings; the last ones are removed, or new ones are added.
        adapters: Width of new adapters; see `Encoder`.
        layer_mix: Whether to add a learned weighted sum of all layers; see `Encoder`.

    Returns:
        The encoder.

    Raises:
        KerasBertError: When the model type is unknown, tensors are missing or have other shapes, or a file is damaged.

    Example:
        ```python
        encoder = kb.load_encoder("small-en")
        output = encoder(task.pack(["wake me at six"]), output_hidden_states=True)
        output.sequence.shape  # (batch, length, hidden)
        len(output.hidden_states)  # the embeddings and each layer
        ```
    """
    sizes, saved = (max_position_embeddings, vocab_size), {}
    if isinstance(source, str | os.PathLike):
        folder = resolve(source)
        config, tensors = _read_checkpoint(folder, *sizes)
        saved = read_own_config(folder).get("encoder", saved)
    else:
        from kerasbert.checkpoints.keras_nlp import from_keras_nlp

        config, tensors = _resize(*from_keras_nlp(source), *sizes)
    options = encoder_options(saved, {"adapters": adapters, "layer_mix": layer_mix}, source)
    encoder = _make_encoder(config, policy=None, pooler=_pools(config, tensors), **options)
    encoder({"input_ids": [[0] * 4]})
    new = variables_of_options(encoder, options.keys() - saved.keys())
    encoder.load_report = name_map_of(encoder).apply(tensors, encoder.variables_by_path(), may_initialize=new)
    return encoder


def from_folder(
    task_class: "type[TaskT]",
    name_or_path: str | os.PathLike,
    sizes: Mapping[str, int | None] = NOTHING,
    options: Mapping[str, int | None] = NOTHING,
    **overrides: Any,
) -> "TaskT":
    """Load a task from a folder or the hub; see `Task.from_pretrained`.

    Args:
        task_class: The class of the task.
        name_or_path: The folder, or a name on the hub.
        sizes: Other table sizes, as `load_encoder` takes them.
        options: The encoder's options, as `load_encoder` takes them.
        overrides: Constructor arguments in place of those of the folder. None keeps the folder's.
    """
    folder = resolve(name_or_path)
    config, tensors = _read_checkpoint(folder, **sizes)
    own = read_own_config(folder)
    overrides = {name: value for name, value in overrides.items() if value is not None}
    hub_settings, saved = task_class.settings_of(config, folder), own_settings(own, task_class, folder)
    if "labels" not in overrides:
        check_same_labels(hub_settings.get("labels"), saved.get("labels"), folder)
    known = {**hub_settings, **numbered_labels(task_class, config, tensors), **saved}
    settings = {**known, **overrides}
    policy = saved_policy(own, folder)
    pooler = _pools(config, tensors) if task_class.pools is None else task_class.pools
    tokenizer = tokenizer_from_folder(folder) if has_tokenizer(folder) else None
    saved_options = own.get("encoder", {})
    all_options = encoder_options(saved_options, options, folder)
    task = task_class(_make_encoder(config, policy, pooler=pooler, **all_options), tokenizer, **settings)
    new_heads = [head for head in task.heads if not has_head(tensors, task.config.model_type, head)]
    if len(new_heads) < len(task.heads):
        labels_of_another_task = own.get("settings", {}).get("labels")
        check_as_many_labels(settings.get("labels"), known.get("labels") or labels_of_another_task, folder)
    added = variables_of_options(task.encoder, all_options.keys() - saved_options.keys())
    names = name_map_of(task.encoder, task.heads)
    task.load_report = names.apply(tensors, checkpoint_variables(task), may_initialize=["pooler", *new_heads, *added])
    if policy:
        load_ranges(task, folder / RANGES_FILE)
    return task


def _read_checkpoint(
    folder: Path, max_position_embeddings: int | None = None, vocab_size: int | None = None
) -> Checkpoint:
    """Read a folder's config.json and tensors, and resize its tables where sizes are given."""
    config = read_config(folder)
    kind = encoder_class(config.get("model_type")).config_class
    known = {kind.aliases.get(field.name, field.name) for field in fields(kind)}
    check_keys(config, known, folder / "config.json")
    return _resize(config, read_tensors(folder), max_position_embeddings, vocab_size)


def _resize(
    config: dict[str, Any],
    tensors: dict[str, np.ndarray],
    max_position_embeddings: int | None,
    vocab_size: int | None,
) -> Checkpoint:
    requested = {"max_position_embeddings": max_position_embeddings, "vocab_size": vocab_size}
    sizes = {name: size for name, size in requested.items() if size is not None}
    if sizes:
        kind = encoder_class(config.get("model_type")).config_class
        tensors = resize_tables(kind.from_dict(config), tensors, **sizes)
    return {**config, **sizes}, tensors


def _make_encoder(config: dict[str, Any], policy: QuantizationPolicy | None, **options: Any) -> Encoder:
    kind = encoder_class(config.get("model_type"))
    return kind(kind.config_class.from_dict(config), policy, **options)


def _pools(config: dict[str, Any], tensors: Mapping[str, np.ndarray]) -> bool:
    """Return True if a checkpoint's encoder has a pooled vector."""
    model_type = encoder_class(config.get("model_type")).config_class.model_type
    return has_pooler(tensors, model_type) or config.get("classifier_activation") is False
