"""The task that a saved folder names."""

import os

from kerasbert.checkpoints.hugging_face import read_config, resolve
from kerasbert.errors import KerasBertError
from kerasbert.files.model_folder import read_own_config
from kerasbert.tasks import TASKS
from kerasbert.tasks.base import Task
from kerasbert.tasks.pretrained import from_folder


def load_task(name_or_path: str | os.PathLike) -> Task:
    """The task that a folder's kerasbert.json or config.json names, heads included.

    Raises KerasBertError when neither names a task that is known here.
    """
    folder = resolve(name_or_path)
    own, config = read_own_config(folder), read_config(folder)
    name = own.get("task")
    if name is None:
        architecture = (config.get("architectures") or ["none"])[0]
        fitting = (
            key
            for key, task in TASKS.items()
            if architecture.endswith(task.architecture) and config.get("model_type") not in task.not_for
        )
        name = next(fitting, architecture)
    if name not in TASKS:
        raise KerasBertError(f"{folder}: expected a task of {sorted(TASKS)}, received {name!r}")
    return from_folder(TASKS[name], folder)
