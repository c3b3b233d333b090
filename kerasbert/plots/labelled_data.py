"""Labelled data of a task in all accepted forms."""

import os
from pathlib import Path
from typing import Any

from kerasbert.arguments import shown
from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError
from kerasbert.tasks.base import Task


def labelled_data(task: Task, data: Any) -> Dataset:
    """Return labelled data as a dataset.

    Args:
        task: The task that reads it.
        data: A dataset, a file, or a pair of examples and labels.

    Raises:
        KerasBertError: When it is something else, has no labels, or the task does not have one of them.
    """
    if isinstance(data, str | os.PathLike):
        data = task.processor.read(data)
    if isinstance(data, tuple) and len(data) == 2:
        data = Dataset(Path(), *data)
    if not isinstance(data, Dataset):
        raise KerasBertError(
            f"expected data as a dataset, a file, or a pair of examples and labels, received {shown(data)}; pass one of these"
        )
    if data.y is None:
        raise KerasBertError(
            "expected data with labels, received none; name the column of the labels, or pass a pair with them"
        )
    task.processor.check_labels(data.y, task.processor.examples(data.x))
    return data
