"""Names of the zoo's files as arguments of commands. Names of its encoders are known to every function that loads a folder."""

import os
from pathlib import Path

from kerasbert.model_names import shipped_model


def file_or_name(model: str) -> str:
    """Return the path of a file of the zoo for its name; other paths and names as they are.

    Args:
        model: A path, a hub name, or a name in the zoo. A path that exists is never a name in the zoo.

    Raises:
        KerasBertError: When the file of the zoo was damaged or edited.
    """
    if os.path.exists(model):
        return model
    shipped = shipped_model(model)
    return str(shipped) if shipped is not None and shipped.is_file() else model


def file_path(model: Path) -> Path:
    """Return `file_or_name` of a path.

    Args:
        model: A path, or a name in the zoo.

    Raises:
        KerasBertError: When the file of the zoo was damaged or edited.
    """
    return Path(file_or_name(str(model)))
