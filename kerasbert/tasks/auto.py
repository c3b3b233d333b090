"""The task of a saved folder, by the name in its files."""

import os
from typing import Any

from kerasbert.checkpoints.heads import NamedClass, named_class
from kerasbert.checkpoints.hugging_face import read_config, resolve
from kerasbert.errors import KerasBertError
from kerasbert.files.model_folder import read_own_config
from kerasbert.processors.requested import RequestedTask, requested_task
from kerasbert.tasks import TASKS
from kerasbert.tasks.base import Task
from kerasbert.tasks.pretrained import from_folder


def load_task(
    name_or_path: str | os.PathLike, task: str | None = None, new_head: bool = False,
    base: str | os.PathLike | None = None,
) -> Task:  # fmt: skip
    """Load the task that a folder's kerasbert.json or config.json names, with its heads.

    Args:
        name_or_path: A folder, the name of an encoder of the zoo, or a name on the hub.
        task: The task, for a folder that names none, or has the heads of several: a name of `kerasbert train --task` such as `masked-lm`,
            or of a class such as `MaskedLM`.
        new_head: Whether to make a new head; see `Task.from_pretrained`.
        base: The base model of a LoRA folder of PEFT; by default the folder that it names.

    Returns:
        The task, of the class that the folder names.

    Raises:
        KerasBertError: When neither file names a known task, the trained head is not there, or files are damaged.

    Example:
        ```python
        task = kb.load_task("runs/mine")
        task.labels  # ("negative", "positive")
        task.score(kb.data.read_table("dev.tsv"))["accuracy"]
        ```
    """
    if (requested := requested_task() if task is None else RequestedTask.of(task)) is not None:
        settings: dict[str, Any] = dict(requested.settings)
        return from_folder(TASKS[requested.name], name_or_path, new_head=new_head, trained=True, base=base, **settings)
    folder = resolve(name_or_path)
    own, config = read_own_config(folder), read_config(folder, base)
    name = own.get("task")
    if name is None:
        found = named_class(config)
        names = (name for name, kind in TASKS.items() if _is_for(kind, found))
        name = next(names, found.name)
    if name not in TASKS:
        raise KerasBertError(
            f"{folder}: expected a task of {sorted(TASKS)}, received {str(name)[:100]!r}; name it with task= (--task)"
        )
    return from_folder(TASKS[name], folder, new_head=new_head, trained=True, base=base)


def _is_for(task: type[Task], found: NamedClass) -> bool:
    """Tell whether a checkpoint of this Hugging Face class has the task's heads."""
    return found.ending == task.architecture and found.heads in (None, task.heads)
