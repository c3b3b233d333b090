"""The loss of a task on labelled examples, whose derivatives say what matters."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from kerasbert.arguments import argument
from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError
from kerasbert.losses.classes import CrossEntropy
from kerasbert.tasks.base import Task

Loss = Callable[[Any, Any], tf.Tensor]


def labelled_batches(task: Task, x: Any, y: Any, batch_size: int) -> tf.data.Dataset:
    """Return the batches of labelled examples as (inputs, targets).

    Args:
        task: The task.
        x: The examples.
        y: Their labels; None for a masked language model.
        batch_size: Examples in a batch.

    Raises:
        KerasBertError: When there are no labels.
    """
    batches = task.dataset(x, y, batch_size=batch_size)
    if isinstance(batches.element_spec, dict):
        raise KerasBertError(
            "expected labels beside the examples that importance is found on, received none; give them as (examples, labels)"
        )
    return batches


def mean_loss(task: Task) -> Loss:
    """Return the task's own loss as a function of targets and outputs, the mean over the batch.

    Raises:
        KerasBertError: When the task has none.
    """
    try:
        loss = None if task.not_exported else task.default_loss()  # heads of pretraining are not compressed for
    except NotImplementedError:
        loss = None
    if loss is None:
        raise KerasBertError(
            f"expected a task with a loss, received a {type(task).__name__}: importance is found from the loss's gradients"
        ) from None
    if task.processor.self_supervised:  # most positions have no target, and must not count
        return CrossEntropy()
    if isinstance(loss, dict):
        return lambda targets, outputs: tf.add_n([loss[name](targets[name], outputs[name]) for name in loss])
    return loss


def split_labels(task: Task, data: Any) -> tuple[Any, Any]:
    """Return examples and labels; the labels are None for a masked language model.

    Args:
        task: The task.
        data: A labelled table of `kerasbert.data`, or (examples, labels); examples alone for a masked language model.

    Raises:
        KerasBertError: When there are no labels.
    """
    if data is None:
        raise KerasBertError(
            f"expected labelled examples: what to cut is found from the loss on them; received none; give them as {argument('data')}"
        )
    if isinstance(data, Dataset):
        return data.x, data.y
    if isinstance(data, tuple) and len(data) == 2 and not isinstance(data[0], str):
        return data
    if task.processor.self_supervised:
        return data, None
    raise KerasBertError(
        f"expected (examples, labels) or a table with labels as {argument('data')}, received {type(data).__name__}"
    )
