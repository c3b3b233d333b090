"""Recognizes `.tflite` files among the models that a user names, without heavy imports."""

import os


def is_tflite(name_or_path: str | os.PathLike) -> bool:
    """Return whether a name can only mean a `.tflite` file: it is a file, or has that ending."""
    return os.path.isfile(name_or_path) or os.fspath(name_or_path).endswith(
        ".tflite"
    )  # False for names too long for a file
