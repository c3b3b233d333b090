"""Folders that keras-nlp (keras-hub) wrote with `save_to_preset`, as Hugging Face configs and tensors."""

import functools
import os
from pathlib import Path

import numpy as np

from kerasbert.console.output import note
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import read_json_object
from kerasbert.text.preset_tokenizer import is_keras_nlp_config

_CONFIG, _WEIGHTS, _TASK = "config.json", "model.weights.h5", "task.json"


def is_preset(folder: str | os.PathLike) -> bool:
    """Whether keras-nlp wrote the folder: its config.json names a class of keras-nlp's and its weights lie beside it."""
    folder = Path(folder)
    if not (folder / _WEIGHTS).is_file() or not (folder / _CONFIG).is_file():
        return False
    try:
        return is_keras_nlp_config(read_json_object(folder / _CONFIG))
    except KerasBertError:
        return False


def read_preset(folder: str | os.PathLike) -> tuple[dict, dict[str, np.ndarray]]:
    """The config and the tensors of the folder's backbone; see `from_keras_nlp`, also for what is raised. Heads are left aside."""
    folder = Path(folder).resolve()
    config, tensors = _read(str(folder), (folder / _WEIGHTS).stat().st_mtime_ns)
    return dict(config), dict(tensors)


@functools.lru_cache(1)  # config and tensors are asked for one after the other
def _read(folder: str, changed: int) -> tuple[dict, dict[str, np.ndarray]]:
    from kerasbert.checkpoints.keras_nlp import from_keras_nlp

    if (Path(folder) / _TASK).is_file():
        note(f"note: {folder}: the backbone is read; the head of keras-nlp's task ({_TASK}) is not")
    return from_keras_nlp(folder)
