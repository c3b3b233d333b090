"""Preset folders of keras-nlp (keras-hub), as `save_to_preset` writes them, read as Hugging Face configs and tensors."""

import functools
import os
from pathlib import Path
from typing import Any

import numpy as np

from kerasbert.console.output import note
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import read_json_object
from kerasbert.text.preset_tokenizer import is_keras_nlp_config

_CONFIG, _WEIGHTS, _TASK = "config.json", "model.weights.h5", "task.json"


def is_preset(folder: str | os.PathLike) -> bool:
    """Return True if keras-nlp wrote the folder: its `config.json` names a keras-nlp class, and its weights file exists."""
    folder = Path(folder)
    if not (folder / _WEIGHTS).is_file() or not (folder / _CONFIG).is_file():
        return False
    try:
        return is_keras_nlp_config(read_json_object(folder / _CONFIG))
    except KerasBertError:
        return False


def read_preset(folder: str | os.PathLike) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read the config and the tensors of the folder's backbone, without a task's head.

    Raises:
        KerasBertError: as `from_keras_nlp`.
    """
    folder = Path(folder).resolve()
    config, tensors = _read(str(folder), (folder / _WEIGHTS).stat().st_mtime_ns)
    return dict(config), dict(tensors)


@functools.lru_cache(1)  # callers ask for the config and then for the tensors
def _read(folder: str, modified_ns: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    from kerasbert.checkpoints.keras_nlp import from_keras_nlp

    if (Path(folder) / _TASK).is_file():
        note(f"note: {folder}: the backbone is read; the head of keras-nlp's task ({_TASK}) is not")
    return from_keras_nlp(folder)
