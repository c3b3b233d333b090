"""Keras' `validation_split`, for all data that a task is fitted on."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.data.table import is_table
from kerasbert.errors import KerasBertError
from kerasbert.tasks.inputs import is_packed


def split_off(task: keras.Model, x: Any, y: Any, sample_weight: Any, fraction: float) -> tuple[Any, Any, Any, tuple]:
    """Split the last examples off for validation.

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
    if is_table(x):
        x, y = x.x, x.y if y is None else y
    if not is_packed(x):
        x = task.processor.examples(x)
    count = len(x["input_ids"]) if is_packed(x) else len(x)
    first = math.floor(count * (1.0 - fraction))
    if not 0 < first < count:
        raise KerasBertError(
            f"expected enough examples to split off {fraction:g} of them, received {count}; pass validation_data instead"
        )
    training = tuple(_part_of(values, slice(first)) for values in (x, y, sample_weight))
    validation = tuple(_part_of(values, slice(first, None)) for values in (x, y, sample_weight))
    return *training, validation if sample_weight is not None else validation[:2]


def _part_of(values: Any, part: slice) -> Any:
    if values is None:
        return None
    if isinstance(values, Mapping):
        return {name: _part_of(each, part) for name, each in values.items()}
    return values[part] if isinstance(values, list) else np.asarray(values)[part]
