"""Which of the models that a user names are `.tflite` files; nothing heavy is imported for it."""

import os
from pathlib import Path


def is_tflite(name_or_path: str | os.PathLike) -> bool:
    """True for what can only be a `.tflite` file: any file, or a name with that ending."""
    return Path(name_or_path).is_file() or os.fspath(name_or_path).endswith(".tflite")
