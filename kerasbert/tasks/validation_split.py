"""Keras' `validation_split`, for all data that a task is fitted on."""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.arguments import shown
from kerasbert.console.output import note
from kerasbert.data.dataset import Dataset
from kerasbert.data.example_keys import example_keys
from kerasbert.errors import KerasBertError
from kerasbert.tasks.inputs import is_packed
from kerasbert.values import is_real


def check_share(fraction: Any) -> float:
    """Return a fraction of the examples, 0 for none.

    Raises:
        KerasBertError: When it is no number.
    """
    if not is_real(fraction):
        raise KerasBertError(
            f"expected a validation share above 0 and below 1, received {shown(fraction)}; pass a number"
        )
    return float(fraction)


def split_off(task: keras.Model, x: Any, y: Any, sample_weight: Any, fraction: float) -> tuple[Any, Any, Any, tuple]:
    """Split the last examples off for validation.

    Examples that equal one of the others stay with these, and a note tells their number.

    Args:
        task: The task.
        x: Examples, a dataset or packed inputs.
        y: Labels; None takes those of the dataset.
        sample_weight: One weight for each example, or None.
        fraction: The fraction of the examples to split off.

    Returns:
        x, y and sample weights of the first examples, and `validation_data` of the last ones.

    Raises:
        KerasBertError: When x is a `tf.data.Dataset`, whose length is unknown, or one part would be empty.
    """
    if isinstance(x, tf.data.Dataset) or not 0 < fraction < 1:
        received = "a tf.data.Dataset" if isinstance(x, tf.data.Dataset) else f"a share of {fraction}"
        raise KerasBertError(
            f"expected lists of texts and a validation share above 0 and below 1, received {received}; "
            "pass validation_data instead"
        )
    if isinstance(x, Dataset):
        x, y = x.x, x.y if y is None else y
    if not is_packed(x):
        x = task.processor.examples(x)
    count = len(x["input_ids"]) if is_packed(x) else len(x)
    first = math.floor(count * (1.0 - fraction))
    if not 0 < first < count:
        raise KerasBertError(
            f"expected enough examples to split off {fraction:g} of them, received {count}; pass validation_data instead"
        )
    for name, values in (("labels", y), ("sample weights", sample_weight)):
        if hasattr(values, "__len__") and not isinstance(values, Mapping) and len(values) != count:
            raise KerasBertError(f"expected {name} of {count} examples, received {len(values)}; give one for each")
    train, last = _separated(_keys(x), first)
    training = tuple(_part_of(values, train) for values in (x, y, sample_weight))
    validation = tuple(_part_of(values, last) for values in (x, y, sample_weight))
    return *training, validation if sample_weight is not None else validation[:2]


def _keys(x: Any) -> list[Hashable]:
    if not is_packed(x):
        return example_keys(x)
    columns = [np.asarray(values) for _, values in sorted(x.items())]
    return [tuple(column[row].tobytes() for column in columns) for row in range(len(columns[0]))]


def _separated(keys: Sequence[Hashable], first: int) -> tuple[list[int], list[int]]:
    """Return the rows for training and for validation: the last ones, but for those that equal one of the first."""
    seen = set(keys[:first])
    shared = [row for row in range(first, len(keys)) if keys[row] in seen]
    last = [row for row in range(first, len(keys)) if keys[row] not in seen]
    count = f"note: {len(shared):,} of the last {len(keys) - first:,} examples equal one of the others"
    if not last:
        note(f"{count}, so their scores are those of the training data")
        return list(range(first)), shared
    if shared:
        note(f"{count}, and are trained on with these")
    return [*range(first), *shared], last


def _part_of(values: Any, rows: list[int]) -> Any:
    if values is None:
        return None
    if isinstance(values, Mapping):
        return {name: _part_of(each, rows) for name, each in values.items()}
    return [values[row] for row in rows] if isinstance(values, list | tuple) else np.asarray(values)[rows]
