"""Tasks and encoders from and to Hugging Face folders, with our own settings in `kerasbert.json` beside them."""

import inspect
import json
import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType

import numpy as np

from kerasbert.checkpoints.config_keys import unknown_keys
from kerasbert.checkpoints.hugging_face import read_config, resolve, write_folder_files
from kerasbert.checkpoints.name_map import NameMap
from kerasbert.checkpoints.name_tables import build_name_map, has_head, has_pooler, head_bias_name
from kerasbert.checkpoints.readers import read_tensors
from kerasbert.checkpoints.resizing import resize_tables
from kerasbert.checkpoints.safetensors_file import read_file, write_tensors
from kerasbert.console.output import note
from kerasbert.encoders import encoder_class
from kerasbert.encoders.base import Encoder
from kerasbert.encoders.extensions import added_variables
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_folder
from kerasbert.files.model_folder import OWN_FILE, RANGES_FILE, is_model_file, is_replaceable, read_own_config
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.layers.quantization.policy import QuantizationPolicy
from kerasbert.text import has_tokenizer, tokenizer_from_folder

NOTHING: Mapping[str, int | None] = MappingProxyType({})


def load_encoder(
    source,
    *,
    max_position_embeddings: int | None = None,
    vocab_size: int | None = None,
    adapters: int | None = None,
    layer_mix: bool | None = None,
) -> Encoder:
    """The encoder of a checkpoint, by the `model_type` of its config.json; heads are left aside.

    source: a folder with Hugging Face's files or a TensorFlow 1 checkpoint of Google's; a hub name; a keras-nlp backbone.
    max_position_embeddings: cuts the position table. vocab_size: cuts the word table, or adds rows with new values.
    adapters, layer_mix: see `Encoder`; new ones where the checkpoint has none.

    Raises KerasBertError for an unknown model type, missing or misshapen tensors, or a damaged file.
    """
    sizes, saved = (max_position_embeddings, vocab_size), {}
    if isinstance(source, str | os.PathLike):
        folder = resolve(source)
        config, tensors = _checkpoint(folder, *sizes)
        saved = read_own_config(folder).get("encoder", saved)
    else:
        from kerasbert.checkpoints.keras_nlp import from_keras_nlp

        config, tensors = _with_sizes(*from_keras_nlp(source), *sizes)
    kind = encoder_class(config.get("model_type"))
    options = _options(saved, {"adapters": adapters, "layer_mix": layer_mix}, source)
    encoder = _encoder(config, policy=None, pooler=_pools(kind, config, tensors), **options)
    encoder({"input_ids": [[0] * 4]})
    names, new = _names(encoder), _added(encoder, options.keys() - saved.keys())
    encoder.load_report = names.apply(tensors, encoder.variables_by_path(), may_initialize=new)
    return encoder


def from_folder(
    task_class,
    name_or_path: str | os.PathLike,
    sizes: Mapping[str, int | None] = NOTHING,
    options: Mapping[str, int | None] = NOTHING,
    **overrides,
):
    """A task of that class from a folder or hub name; `overrides` replace what the folder says (None: as the folder says).

    sizes: other table sizes, and options: the encoder's, as `load_encoder` takes them.
    """
    folder = resolve(name_or_path)
    config, tensors = _checkpoint(folder, **sizes)
    own = read_own_config(folder)
    overrides = {name: value for name, value in overrides.items() if value is not None}
    told, saved = task_class.settings_of(config, folder), _own_settings(own, task_class, folder)
    if "labels" not in overrides:
        _check_same_labels(told.get("labels"), saved.get("labels"), folder)
    known = {**told, **_numbered_labels(task_class, config, tensors), **saved}
    settings = {**known, **overrides}
    policy = _policy(own, folder)
    kind = encoder_class(config.get("model_type"))
    pooler = _pools(kind, config, tensors) if task_class.pools is None else task_class.pools
    tokenizer = tokenizer_from_folder(folder) if has_tokenizer(folder) else None
    saved_options = own.get("encoder", {})
    options = _options(saved_options, options, folder)
    task = task_class(_encoder(config, policy, pooler=pooler, **options), tokenizer, **settings)
    new_heads = [head for head in task.heads if not has_head(tensors, task.config.model_type, head)]
    if len(new_heads) < len(task.heads):
        of_another_task = own.get("settings", {}).get("labels")
        _check_as_many_labels(settings.get("labels"), known.get("labels") or of_another_task, folder)
    may_initialize = ["pooler", *new_heads, *_added(task.encoder, options.keys() - saved_options.keys())]
    names = _names(task.encoder, task.heads)
    task.load_report = names.apply(tensors, _checkpoint_variables(task), may_initialize=may_initialize)
    if policy:
        load_ranges(task, folder / RANGES_FILE)
    return task


def save_task(task, folder: str | os.PathLike) -> None:
    """Writes the task's folder whole, or not at all.

    A model that was saved there is replaced; what else is in the folder stays. Raises KerasBertError for a folder of other things.
    """
    folder = Path(folder)
    if folder.exists() and not is_replaceable(folder):
        raise KerasBertError(
            f"expected a new or empty folder, or one of kerasbert's, received {folder}. Name another, or empty it"
        )
    tensors = _names(task.encoder, task.heads).export(_checkpoint_variables(task))
    family = type(task.encoder).__name__.removesuffix("Encoder")
    config = {**task.config.to_dict(), "architectures": [family + task.architecture], **task.hub_config()}
    own = {"format": 1, "task": type(task).__name__, "settings": task.head_config()}
    if task.encoder.options:
        own["encoder"] = task.encoder.options
    if task.policy:
        own["quantization"] = task.policy.get_config()
    with atomic_folder(folder, owns=is_model_file) as partial:
        write_folder_files(partial, config, tensors)
        if task.has_tokenizer:
            task.tokenizer.save(partial)
        task.write_companions(partial)
        if task.policy:
            write_tensors(partial / RANGES_FILE, ranges(task))
        (partial / OWN_FILE).write_text(json.dumps(own, indent=2, ensure_ascii=False) + "\n", "utf-8")


def ranges(task) -> dict:
    """Every static point's range and every equalizer, as `path.minimum`, `path.maximum` and `path.equalizer`."""
    return {path: variable.numpy() for path, variable in _statistics(task)}


def load_ranges(task, path: Path) -> None:
    """Puts saved ranges and equalizers back. Raises KerasBertError when one is missing."""
    if not path.is_file():
        raise KerasBertError(
            f"{path.parent}: expected {path.name} beside a quantized model, found none: was the folder copied whole?"
        )
    saved = read_file(path)
    for name, variable in _statistics(task):
        if name not in saved or saved[name].shape != tuple(variable.shape):
            found = f"shape {saved[name].shape}" if name in saved else f"none among {len(saved)}"
            raise KerasBertError(f"{path}: expected {name!r} of shape {tuple(variable.shape)}, found {found}")
        if not np.isfinite(saved[name]).all():
            raise KerasBertError(f"{path}: expected finite numbers in {name!r}, received {saved[name]}")
        variable.assign(saved[name])


def _statistics(task):
    for point in activation_quantizers(task):
        for name, variable in point.statistics().items():
            yield f"{point.path}.{name}", variable


def _own_settings(own: dict, task_class, folder: Path) -> dict:
    """What kerasbert.json says of the head; of another task's folder, the length alone."""
    settings = own.get("settings", {})
    if own.get("task") != task_class.__name__:
        settings = {name: value for name, value in settings.items() if name == "sequence_length"}
    known = inspect.signature(task_class.__init__).parameters
    if unknown := sorted(settings.keys() - known.keys()):
        raise KerasBertError(
            f"{folder / OWN_FILE}: expected settings of {task_class.__name__}, received {unknown[0]!r}"
        )
    length = settings.get("sequence_length", 3)
    if not isinstance(length, int) or isinstance(length, bool):
        raise KerasBertError(f"{folder / OWN_FILE}: expected sequence_length as a whole number, received {length!r}")
    return settings


def _check_as_many_labels(wanted, known, folder: Path) -> None:
    """Raises KerasBertError where the checkpoint's head gives another number of labels than are wanted."""
    if wanted and known and len(wanted) != len(known):
        raise KerasBertError(
            f"expected a model of {len(wanted)} labels ({_few(wanted)}), received {folder} with a head of {len(known)} ({_few(known)}); "
            "start from the checkpoint that it was trained from, which has no head yet"
        )


def _few(labels) -> str:
    return ", ".join(map(str, labels[:3])) + (", ..." if len(labels) > 3 else "")


def _check_same_labels(hub, own, folder: Path) -> None:
    """Raises KerasBertError where config.json and kerasbert.json, which are written together, name different labels."""
    if hub is not None and isinstance(own, list) and list(hub) != own:
        raise KerasBertError(
            f"{folder}: expected the same labels in config.json and {OWN_FILE}, received {', '.join(map(str, hub))[:99]} and "
            f"{', '.join(map(str, own))[:99]}; one was edited: change both"
        )


def _policy(own: dict, folder: Path) -> QuantizationPolicy | None:
    if not own.get("quantization"):
        return None
    try:
        return QuantizationPolicy.from_config(own["quantization"])
    except (TypeError, ValueError) as error:
        raise KerasBertError(
            f"{folder / OWN_FILE}: expected a quantization policy, received one with {error}"
        ) from error


def _checkpoint(folder: Path, max_position_embeddings: int | None = None, vocab_size: int | None = None):
    """A folder's config.json and tensors, with its tables cut or grown where that was asked for."""
    config = read_config(folder)
    kind = encoder_class(config.get("model_type")).config_class
    known = {kind.aliases.get(field.name, field.name) for field in fields(kind)}
    if unknown := unknown_keys(config, known, folder / "config.json"):
        note(unknown)
    return _with_sizes(config, read_tensors(folder), max_position_embeddings, vocab_size)


def _with_sizes(config: dict, tensors, max_position_embeddings: int | None, vocab_size: int | None):
    sizes = {"max_position_embeddings": max_position_embeddings, "vocab_size": vocab_size}
    sizes = {name: size for name, size in sizes.items() if size is not None}
    if sizes:
        kind = encoder_class(config.get("model_type")).config_class
        tensors = resize_tables(kind.from_dict(config), tensors, **sizes)
    return {**config, **sizes}, tensors


def _encoder(config: dict, policy, **options) -> Encoder:
    kind = encoder_class(config.get("model_type"))
    return kind(kind.config_class.from_dict(config), policy, **options)


def _options(saved: dict, asked: Mapping, where) -> dict:
    """The encoder's options: those of kerasbert.json, and what was asked for beyond them (None: nothing)."""
    asked = {name: value for name, value in asked.items() if value is not None}
    if unknown := sorted(saved.keys() - {"adapters", "layer_mix", "cut"}):
        raise KerasBertError(f"{where}: {OWN_FILE}: expected options of an encoder, received {unknown[0]!r}")
    for name in asked.keys() & saved.keys():
        if asked[name] != saved[name]:
            raise KerasBertError(f"{where}: expected {name}={saved[name]}, as it was saved, received {asked[name]!r}")
    return {**saved, **asked}


def _added(encoder: Encoder, options) -> list[str]:
    """The variables of those of the encoder's options."""
    return [path for option, paths in added_variables(encoder).items() if option in options for path in paths]


def _names(encoder: Encoder, heads=()) -> NameMap:
    """The checkpoint's names of an encoder's variables, and those of a task's heads."""
    additions = _added(encoder, encoder.options)
    return build_name_map(encoder.config, pooler=encoder.pooler is not None, heads=heads, additions=additions)


def _checkpoint_variables(task) -> dict:
    """The task's variables under the names that the map uses: the encoder's own paths, and the heads'."""
    return {path.removeprefix("encoder."): variable for path, variable in task.variables_by_path().items()}


def _numbered_labels(task_class, config: dict, tensors) -> dict:
    """LABEL_0, LABEL_1, ... for a checkpoint whose head has classes and whose config.json does not name them, as Hugging Face reads it."""
    architecture = (config.get("architectures") or [""])[0]
    if "id2label" in config or not task_class.labelled or not architecture.endswith(task_class.architecture):
        return {}
    bias = tensors.get(head_bias_name(config["model_type"], task_class.heads[0]))
    return {} if bias is None else {"labels": [f"LABEL_{i}" for i in range(len(bias))]}


def _pools(kind, config: dict, tensors) -> bool:
    """Whether a checkpoint's encoder gives a pooled vector."""
    return has_pooler(tensors, kind.config_class.model_type) or config.get("classifier_activation") is False
