"""Choosing some of many examples, spread evenly, so that data sorted by class keep their variety."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kerasbert.values import Rule


def spread(rows: int, count: int | None) -> np.ndarray:
    """Choose row numbers spread evenly; of two or more, the first and the last row are among them.

    Args:
        rows: The number of rows.
        count: The number of rows to choose; None for all.

    Returns:
        Rising numbers, `(chosen,)`: `count` of them, or all rows if there are not more.

    Raises:
        KerasBertError: When `count` is not a whole number of at least 1.
    """
    if count is None:
        return np.arange(rows)
    Rule(int, at_least=1).check(count, "a number of rows", advice="give a whole number, or None for all")
    return np.arange(rows) if count >= rows else np.linspace(0, rows - 1, count).round().astype(int)


def sample_evenly(examples: Any, count: int | None) -> Any:
    """Choose examples with `spread`.

    Args:
        examples: A sequence of examples, a tuple of columns, or arrays by name.
        count: The number of examples to choose; None for all.

    Returns:
        The examples in their order: arrays by name, a tuple of columns, an array or a list, as `examples` is.

    Raises:
        KerasBertError: When `count` is not a whole number of at least 1.
    """
    if isinstance(examples, Mapping):
        return {name: sample_evenly(np.asarray(values), count) for name, values in examples.items()}
    if isinstance(examples, tuple):
        return tuple(sample_evenly(column, count) for column in examples)
    if isinstance(examples, np.ndarray):
        return examples[spread(len(examples), count)]
    examples = list(examples)
    return [examples[row] for row in spread(len(examples), count)]
