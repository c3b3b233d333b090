"""Tasks and encoders from Hugging Face folders, with kerasbert's own settings in `kerasbert.json`."""

import os
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from kerasbert.arguments import check_flag
from kerasbert.checkpoints.config_keys import check_keys, with_defaults
from kerasbert.checkpoints.heads import NamedClass, has_pooler, named_class, plan_heads
from kerasbert.checkpoints.hugging_face import read_config, resolve
from kerasbert.checkpoints.name_map import LoadReport
from kerasbert.checkpoints.name_tables import ADDED_PREFIX
from kerasbert.checkpoints.peft import base_folder, is_adapter
from kerasbert.checkpoints.readers import read_tensors
from kerasbert.checkpoints.resizing import resize_tables
from kerasbert.console.strictness import note_once
from kerasbert.encoders import encoder_class
from kerasbert.encoders.base import Encoder
from kerasbert.errors import KerasBertError
from kerasbert.files.model_folder import RANGES_FILE, read_own_config
from kerasbert.files.training_recommendation import read_recommendation
from kerasbert.heads.registry import DEFAULT, head_named
from kerasbert.layers.quantization.policy import QuantizationPolicy
from kerasbert.tasks.labels import check_as_many_labels, label_order, move_rows, parse_labels
from kerasbert.tasks.quantization_ranges import load_ranges
from kerasbert.tasks.saved_settings import (
    check_arguments,
    check_same_labels,
    encoder_options,
    numbered_labels,
    own_settings,
    saved_policy,
)
from kerasbert.tasks.saving import (
    EXIT_WEIGHTS,
    OWN_HEAD,
    SavedTask,
    checkpoint_variables,
    name_map_of,
    own_head_variables,
    variables_of_options,
)
from kerasbert.text import has_tokenizer

TaskT = TypeVar("TaskT", bound=SavedTask)
NOTHING: Mapping[str, Any] = MappingProxyType({})
Checkpoint = tuple[dict[str, Any], dict[str, np.ndarray]]  # config.json and tensors by name


def load_encoder(
    source: Any,
    *,
    max_position_embeddings: int | None = None,
    vocab_size: int | None = None,
    adapters: int | None = None,
    layer_mix: bool | None = None,
    base: str | os.PathLike | None = None,
) -> Encoder:
    """Load the encoder of a checkpoint, by the `model_type` of its config.json, without heads.

    Args:
        source: A folder with Hugging Face's files or a TensorFlow 1 checkpoint; the name of an encoder of the zoo; a hub name; or a
            keras-nlp backbone.
        max_position_embeddings: Positions to keep; by default all.
        vocab_size: Rows of the token embeddings; the last ones are removed, or new ones are added.
        adapters: Width of new adapters; see `Encoder`.
        layer_mix: Whether to add a learned weighted sum of all layers; see `Encoder`.
        base: The base model of a LoRA folder of PEFT; by default the folder that it names.

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
        config, tensors = _read_checkpoint(folder, *sizes, base)
        saved = read_own_config(folder).get("encoder", saved)
    else:
        from kerasbert.checkpoints.keras_nlp import from_keras_nlp

        config, tensors = _resize(*from_keras_nlp(source), *sizes)
    options = encoder_options(saved, {"adapters": adapters, "layer_mix": layer_mix}, source)
    encoder = _make_encoder(config, policy=None, pooler=_pools(config, tensors), **options)
    encoder({"input_ids": [[0] * 4]})
    new = variables_of_options(encoder, options.keys() - saved.keys())
    where = source if isinstance(source, str | os.PathLike) else "checkpoint"
    encoder.load_report = name_map_of(encoder).apply(
        tensors, encoder.variables_by_path(), may_initialize=new, may_drop=True, where=where
    )
    if encoder.load_report.missing:
        _announce(where, encoder.load_report)
    return encoder


def from_folder(
    task_class: type[TaskT],
    name_or_path: str | os.PathLike,
    sizes: Mapping[str, int | None] = NOTHING,
    options: Mapping[str, int | None] = NOTHING,
    new_head: bool = False,
    trained: bool = False,
    base: str | os.PathLike | None = None,
    **overrides: Any,
) -> TaskT:
    """Load a task from a folder or the hub; see `Task.from_pretrained`.

    Args:
        task_class: The class of the task.
        name_or_path: The folder, or a name on the hub.
        sizes: Other table sizes, as `load_encoder` takes them.
        options: The encoder's options, as `load_encoder` takes them.
        new_head: Whether the head is new, also where the checkpoint has one.
        trained: Whether the checkpoint must have the head, unless `new_head` is set.
        base: The base model of a LoRA folder of PEFT; by default the folder that it names.
        overrides: Constructor arguments in place of those of the folder. None keeps the folder's.
    """
    check_flag(new_head, "new_head")
    overrides = {name: value for name, value in overrides.items() if value is not None}
    check_arguments(task_class, overrides)
    folder = resolve(name_or_path)
    config, tensors = _read_checkpoint(folder, **sizes, base=base)
    own, model_type = read_own_config(folder), config["model_type"]
    found = _named_class(task_class, own, config, folder, new_head)
    settings, names = _settings(task_class, found, own, config, tensors, folder, "labels" in overrides)
    problem = settings.get("problem", "single_label")
    if names and "problem" in overrides and overrides["problem"] != problem:
        note_once(f"note: {name_or_path}: trained as problem {problem!r}, loaded as {overrides['problem']!r}")
    saved_head = settings.get("head")
    if overrides.get("head", saved_head) != saved_head:
        settings.pop("head_settings", None)
    if tuple(overrides.get("exits", settings.get("exits", ()))) != tuple(settings.get("exits", ())):
        settings.pop("exit_threshold", None)  # it was chosen for the other exits
    settings |= overrides
    own_head = settings.get("head", DEFAULT)
    where = f"{folder}: " if "head" not in overrides else ""
    if own_head != DEFAULT:
        head_named(own_head, where)  # before anything is made
    if saved_head is not None and (new_head or saved_head != own_head):
        found = replace(found, heads=())
        tensors = _without_head(tensors, saved_head, folder)
    has_labels = bool(names) and "labels" in overrides and not new_head
    if has_labels:
        labels = parse_labels(overrides["labels"])
        check_as_many_labels(labels, names, folder)
        tensors = move_rows(tensors, model_type, task_class.heads[0], label_order(labels, names, folder))
    policy = saved_policy(own, folder)
    pools = task_class.pools_with(settings, model_type) if own_head == DEFAULT else None
    pooler = _pools(config, tensors) if pools is None else pools
    files = folder if has_tokenizer(folder) or not is_adapter(folder) else base_folder(folder, base)
    tokenizer = task_class.read_tokenizer(files)
    saved_options = own.get("encoder", {})
    all_options = encoder_options(saved_options, options, folder)
    task = task_class(_make_encoder(config, policy, pooler=pooler, **all_options), tokenizer, **settings)
    plan = plan_heads(task.heads, found, tensors, model_type, new_head)
    all_own = own_head_variables(task.variables_by_path())
    own_paths = [path for path in all_own if not path.startswith(EXIT_WEIGHTS)]
    new_own = [] if any(f"{ADDED_PREFIX}.{path}" in tensors for path in own_paths) else own_paths
    is_new = bool(plan.new or new_own)
    tensors, new_exits = _without_other_exits(tensors, set(all_own) - set(own_paths), folder)
    if is_new and trained and not new_head:
        raise KerasBertError(
            f"{folder}: expected a checkpoint with the trained head of {task_class.__name__}, received {found.name or 'one'} without; "
            f"train one with `kerasbert train`, or pass new_head=True"
        )
    added = variables_of_options(task.encoder, all_options.keys() - saved_options.keys())
    # A pooler belongs to the head that reads it: a new one is no part of a trained model.
    may_initialize = [*plan.new, *new_own, *new_exits, *added, *(["pooler"] if is_new else [])]
    names_map = name_map_of(task.encoder, task.heads, plan.other, all_own)
    task.load_report = names_map.apply(
        tensors,
        checkpoint_variables(task.variables_by_path()),
        may_initialize=may_initialize,
        may_drop=new_head,
        where=folder,
    )
    if not task.load_report.is_complete:
        _announce(name_or_path, task.load_report)
    if policy:
        load_ranges(task, folder / RANGES_FILE)
    task.recommended, task.has_new_head = read_recommendation(own, folder), is_new
    task.has_new_exits = bool(new_exits)
    return task


def _without_head(tensors: Mapping[str, np.ndarray], name: object, where: object) -> dict[str, np.ndarray]:
    """Return a checkpoint's tensors without those of a user's head, which a note says."""
    note_once(f"note: {where}: its head {str(name)[:60]!r} left out")
    return {key: value for key, value in tensors.items() if not key.startswith(f"{ADDED_PREFIX}.{OWN_HEAD}")}


def _without_other_exits(
    tensors: Mapping[str, np.ndarray], paths: set[str], where: object
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return a checkpoint's tensors without those of exits that the task does not have, which a note says, and the paths of new exits."""
    prefix = f"{ADDED_PREFIX}."
    saved = {name.removeprefix(prefix) for name in tensors if name.startswith(prefix + EXIT_WEIGHTS)}
    if others := sorted({int(name.split(".")[1]) for name in saved - paths if name.split(".")[1].isdecimal()}):
        note_once(f"note: {where}: its exits after layer {', '.join(map(str, others))} left out")
    kept = {name: value for name, value in tensors.items() if name.removeprefix(prefix) not in saved - paths}
    return kept, sorted(paths - saved)


def _named_class(
    task_class: type[SavedTask], own: Mapping[str, Any], config: Mapping[str, Any], folder: Path, new_head: bool
) -> NamedClass:
    """Return the class that a folder names. One that only the task knows has the task's heads.

    Raises:
        KerasBertError: When the class is unknown, and the head is not a new one.
    """
    found = named_class(config)
    if own.get("task") == task_class.__name__ or found.ending == task_class.architecture:
        return NamedClass(found.name, task_class.architecture, found.heads or task_class.heads)
    if found.heads is None and not new_head:
        raise KerasBertError(
            f"{folder / 'config.json'}: expected a class of transformers for {config['model_type']}, such as "
            f"...{task_class.architecture}, in architectures, received {str(found.name)[:100]!r}; new_head=True (--new-head) trains a new "
            "head on its encoder"
        )
    return found


def _settings(
    task_class: type[SavedTask], found: NamedClass, own: Mapping[str, Any], config: Mapping[str, Any],
    tensors: Mapping[str, np.ndarray], folder: Path, renamed: bool,
) -> tuple[dict[str, Any], list[str]]:  # fmt: skip
    """Return the constructor arguments of a folder, and the labels of its trained head; none without such a head."""
    trained = plan_heads(task_class.heads, found, tensors, config["model_type"]).trained
    if task_class.heads and not trained:  # labels in config.json are those of another head
        config = {name: value for name, value in config.items() if name not in ("id2label", "label2id", "problem_type")}
    hub_settings, saved = task_class.settings_of(dict(config), folder), own_settings(own, task_class, folder)
    if not renamed:
        check_same_labels(hub_settings.get("labels"), saved.get("labels"), folder)
    numbered = numbered_labels(task_class, config["model_type"], tensors) if trained else {}
    settings = {**numbered, **hub_settings, **saved}
    if numbered and settings["labels"] == numbered["labels"] and "labels" not in hub_settings and not renamed:
        note_once(f"note: {folder}: it names no labels; they are {', '.join(numbered['labels'][:2])}, ...")
    return settings, settings.get("labels") or [] if trained else []


def _announce(where: object, report: LoadReport) -> None:
    """Print what is new in a model, and what of the checkpoint is not in it."""
    note_once(f"note: {where}: {report.summary()}")


def _read_checkpoint(
    folder: Path, max_position_embeddings: int | None = None, vocab_size: int | None = None,
    base: str | os.PathLike | None = None,
) -> Checkpoint:  # fmt: skip
    """Read a folder's config.json and tensors, and resize its tables where sizes are given."""
    config = read_config(folder, base)
    kind = encoder_class(config.get("model_type")).config_class
    known = {kind.aliases.get(field.name, field.name) for field in fields(kind)}
    check_keys(config, known, folder / "config.json")
    config = with_defaults(config, known, folder / "config.json")
    return _resize(config, read_tensors(folder, base), max_position_embeddings, vocab_size)


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
