"""Keras' `validation_split`, for everything that a task is fitted on."""

import math
from collections.abc import Mapping

import numpy as np
import tensorflow as tf

from kerasbert.data.table import is_table
from kerasbert.errors import KerasBertError
from kerasbert.tasks.inputs import is_packed


def split_off(task, x, y, sample_weight, share: float) -> tuple:
    """x, y and sample weights of the first examples, and `validation_data` of the last ones, which are the share of all.

    Raises KerasBertError for datasets, whose length is not known, and where one part would be empty.
    """
    if isinstance(x, tf.data.Dataset) or not 0 < share < 1:
        received = "a tf.data.Dataset" if isinstance(x, tf.data.Dataset) else f"a share of {share}"
        raise KerasBertError(
            f"expected lists of texts and a validation share above 0 and below 1, received {received}; "
            "pass validation_data instead"
        )
    if is_table(x):
        x, y = x.x, x.y if y is None else y
    if not is_packed(x):
        x = task.processor.examples(x)
    count = len(x["input_ids"]) if is_packed(x) else len(x)
    first = math.floor(count * (1.0 - share))
    if not 0 < first < count:
        raise KerasBertError(f"expected enough examples to split off {share:g} of them, received {count}")
    parts = [[_rows(values, part) for values in (x, y, sample_weight)] for part in (slice(first), slice(first, None))]
    validation = parts[1] if sample_weight is not None else parts[1][:2]
    return *parts[0], tuple(validation)


def _rows(values, part: slice):
    if values is None:
        return None
    if isinstance(values, Mapping):
        return {name: _rows(each, part) for name, each in values.items()}
    return values[part] if isinstance(values, list) else np.asarray(values)[part]
