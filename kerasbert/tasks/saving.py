"""Tasks to Hugging Face folders, with kerasbert's own settings in `kerasbert.json`."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kerasbert.arguments import check_path
from kerasbert.checkpoints.hugging_face import converted, write_folder_files
from kerasbert.checkpoints.safetensors_file import write_tensors
from kerasbert.checkpoints.sentence_transformers import BIAS, KERNEL, write_dense_tensors
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_folder
from kerasbert.files.model_folder import OWN_FILE, RANGES_FILE, is_model_file, is_replaceable
from kerasbert.tasks.checkpoint_names import checkpoint_variables, name_map_of, own_head_variables
from kerasbert.tasks.quantization_ranges import collect_ranges

if TYPE_CHECKING:
    from kerasbert.tasks.base import Task


def save_task(task: "Task", folder: str | os.PathLike, dtype: str = "float32", shard_bytes: int | None = None) -> None:
    """Write the task's folder whole, or not at all; see `Task.save_pretrained`.

    Raises:
        KerasBertError: When the folder has files but no model of kerasbert.
    """
    folder = Path(check_path(folder, "a folder"))
    if folder.exists() and not is_replaceable(folder):
        raise KerasBertError(
            f"expected a new or empty folder, or one of kerasbert's, received {folder}; name another, or empty it"
        )
    names = name_map_of(task.encoder, task.heads, own_head=own_head_variables(task))
    tensors = names.export(checkpoint_variables(task))
    projection = {name: tensors.pop(name) for name in (KERNEL, BIAS) if name in tensors}
    family = type(task.encoder).__name__.removesuffix("Encoder")
    architecture = task.architecture if task.head is None else "Model"  # other libraries do not know a user's head
    config = {**task.config.to_dict(), "architectures": [family + architecture], **task.hub_config()}
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


def _own_config(task: "Task") -> dict[str, Any]:
    """Return the content of kerasbert.json."""
    own = {"format": 1, "task": type(task).__name__, "settings": task.head_config()}
    if task.encoder.options:
        own["encoder"] = task.encoder.options
    if task.recommended:
        own["training"] = task.recommended.entry()
    if task.policy:
        own["quantization"] = task.policy.get_config()
    return own
