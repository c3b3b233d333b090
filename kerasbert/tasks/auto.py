"""The task of a saved folder, by the name in its files."""

import os

from kerasbert.checkpoints.hugging_face import read_config, resolve
from kerasbert.checkpoints.name_tables import ARCHITECTURES
from kerasbert.errors import KerasBertError
from kerasbert.files.model_folder import read_own_config
from kerasbert.tasks import TASKS
from kerasbert.tasks.base import Task
from kerasbert.tasks.pretrained import from_folder


def load_task(name_or_path: str | os.PathLike) -> Task:
    """Load the task that a folder's kerasbert.json or config.json names, with its heads.

    Args:
        name_or_path: A folder, the name of an encoder of the zoo, or a name on the hub.

    Returns:
        The task, of the class that the folder names.

    Raises:
        KerasBertError: When neither file names a known task, or files are damaged.

    Example:
        ```python
        task = kb.load_task("runs/mine")
        task.labels  # ("negative", "positive")
        task.score(kb.data.read_table("dev.tsv"))["accuracy"]
        ```
    """
    folder = resolve(name_or_path)
    own, config = read_own_config(folder), read_config(folder)
    name = own.get("task")
    if name is None:
        architecture = (config.get("architectures") or ["none"])[0]
        names = (name for name, task in TASKS.items() if _is_for(task, architecture, config.get("model_type")))
        name = next(names, architecture)
    if name not in TASKS:
        raise KerasBertError(
            f"{folder}: expected a task of {sorted(TASKS)}, received {name!r}; load it with the class of a task"
        )
    return from_folder(TASKS[name], folder)


def _is_for(task: type[Task], architecture: str, model_type: object) -> bool:
    """Tell whether a checkpoint of this Hugging Face class may have the task's heads."""
    known = ARCHITECTURES.get(str(model_type))
    return architecture.endswith(task.architecture) and (known is None or known.heads.keys() >= set(task.heads))
