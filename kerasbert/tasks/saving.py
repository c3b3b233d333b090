"""Tasks to Hugging Face folders, with kerasbert's own settings in `kerasbert.json`, and the names of their variables there."""

import json
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import tensorflow as tf

from kerasbert.arguments import check_path
from kerasbert.checkpoints.hugging_face import converted, write_folder_files
from kerasbert.checkpoints.name_map import LoadReport, NameMap
from kerasbert.checkpoints.name_tables import PRETRAINING, build_name_map
from kerasbert.checkpoints.safetensors_file import write_tensors
from kerasbert.checkpoints.sentence_transformers import BIAS, KERNEL, write_dense_tensors
from kerasbert.console.strictness import note_once
from kerasbert.encoders.base import Encoder
from kerasbert.encoders.extensions import added_variables
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_folder
from kerasbert.files.model_folder import OWN_FILE, RANGES_FILE, is_model_file, is_replaceable
from kerasbert.files.training_recommendation import Recommendation
from kerasbert.heads.exits import EXITS
from kerasbert.layers.quantization.policy import QuantizationPolicy
from kerasbert.tasks.quantization_ranges import collect_ranges
from kerasbert.text import Tokenizer

OWN_HEAD = "head."  # the start of the paths of the weights of a user's head
EXIT_WEIGHTS = f"{EXITS}."


class SavedTask(Protocol):
    """What is read and written of a task and of its class; see `Task`."""

    architecture: ClassVar[str]
    labelled: ClassVar[bool]
    pools: bool | None
    heads: tuple[str, ...]
    head: Any
    encoder: Encoder
    recommended: Recommendation | None
    has_new_head: bool
    has_new_exits: bool
    load_report: LoadReport

    def __init__(self, encoder: Encoder, tokenizer: Tokenizer | None, **settings: Any) -> None: ...

    @property
    def policy(self) -> QuantizationPolicy | None: ...

    @property
    def tokenizer(self) -> Tokenizer: ...

    @property
    def has_tokenizer(self) -> bool: ...

    @classmethod
    def pools_with(cls, settings: Mapping[str, Any], model_type: str) -> bool | None: ...

    @classmethod
    def settings_of(cls, config: dict[str, Any], folder: Path) -> dict[str, Any]: ...

    @classmethod
    def read_tokenizer(cls, folder: Path) -> Tokenizer | None: ...

    def variables_by_path(self) -> dict[str, tf.Variable]: ...

    def head_config(self) -> dict[str, Any]: ...

    def hub_config(self) -> dict[str, Any]: ...

    def write_companions(self, folder: Path) -> None: ...


def name_map_of(
    encoder: Encoder,
    heads: Sequence[str] = (),
    unread: Mapping[str, str] | None = None,
    own_head: Sequence[str] = (),
) -> NameMap:
    """Return the map from a checkpoint's names to the variables of an encoder and of a task's heads, some of which are not read."""
    additions = [*variables_of_options(encoder, encoder.options), *own_head]
    pooler = encoder.pooler is not None
    return build_name_map(encoder.config, pooler=pooler, heads=heads, additions=additions, unread=unread)


def variables_of_options(encoder: Encoder, options: Collection[str]) -> list[str]:
    """Return the paths of the variables that some of the encoder's options added."""
    return [path for option, paths in added_variables(encoder).items() if option in options for path in paths]


def own_head_variables(variables: Collection[str]) -> list[str]:
    """Return the paths of the weights of a user's head, and of heads and exits that no checkpoint of transformers has."""
    return [path for path in variables if path.startswith((OWN_HEAD, f"{PRETRAINING}.", EXIT_WEIGHTS))]


def checkpoint_variables(variables: Mapping[str, tf.Variable]) -> dict[str, tf.Variable]:
    """Return a task's variables under the paths of the name map: the encoder's own ones, and the heads'."""
    return {path.removeprefix("encoder."): variable for path, variable in variables.items()}


def save_task(
    task: SavedTask, folder: str | os.PathLike, dtype: str = "float32", shard_bytes: int | None = None
) -> None:
    """Write the task's folder whole, or not at all; see `Task.save_pretrained`.

    Raises:
        KerasBertError: When the folder has files but no model of kerasbert.
    """
    folder = Path(check_path(folder, "a folder"))
    if folder.exists() and not is_replaceable(folder):
        raise KerasBertError(
            f"expected a new or empty folder, or one of kerasbert's, received {folder}; name another, or empty it"
        )
    if task.encoder.ranks:
        note_once("note: transformers cannot load a model with two factors in place of a kernel; kerasbert does")
    variables = task.variables_by_path()
    names = name_map_of(task.encoder, task.heads, own_head=own_head_variables(variables))
    tensors = names.export(checkpoint_variables(variables))
    projection = {name: tensors.pop(name) for name in (KERNEL, BIAS) if name in tensors}
    family = type(task.encoder).__name__.removesuffix("Encoder")
    architecture = task.architecture if task.head is None else "Model"  # other libraries do not know a user's head
    config = {**task.encoder.config.to_dict(), "architectures": [family + architecture], **task.hub_config()}
    with atomic_folder(folder, owns=is_model_file) as partial:
        write_folder_files(partial, config, tensors, dtype, shard_bytes)
        if task.has_tokenizer:
            task.tokenizer.save(partial)
        task.write_companions(partial)
        if projection:
            write_dense_tensors(partial, converted(projection, dtype))
        if task.policy:
            write_tensors(partial / RANGES_FILE, collect_ranges(task))
        (partial / OWN_FILE).write_text(json.dumps(_own_config(task), indent=2, ensure_ascii=False) + "\n", "utf-8")


def _own_config(task: SavedTask) -> dict[str, Any]:
    """Return the content of kerasbert.json."""
    own = {"format": 1, "task": type(task).__name__, "settings": task.head_config()}
    if task.encoder.options:
        own["encoder"] = task.encoder.options
    if task.recommended:
        own["training"] = task.recommended.entry()
    if task.policy:
        own["quantization"] = task.policy.get_config()
    return own
