"""Labels of data of which some examples have none: such examples learn from the teacher alone."""

from typing import Any, NamedTuple

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.processors import Features
from kerasbert.processors.features import IGNORED
from kerasbert.processors.tagging import Tagging
from kerasbert.tasks.base import Task


class Targets(NamedTuple):
    """The encoded labels of rows.

    Attributes:
        values: What the student's `encode_targets` returns; rows without labels have any value.
        labelled: 1 for each row with a label, `(rows,)` float32; None if all have one.
    """

    values: Any
    labelled: np.ndarray | None = None


def encode_partly(student: Task, y: Any, examples: Any, features: Features, needed: bool = True) -> Targets:
    """Encode labels of which some may be None.

    Args:
        student: The task that they are for.
        y: The labels, or None for none at all.
        examples: The examples.
        features: Their features. Those of tags may be windows of the examples.
        needed: Whether the labels are learned; otherwise none are encoded where the task needs all.

    Raises:
        KerasBertError: When a label cannot be used, or labels are missing where the task needs all.
    """
    missing = isinstance(y, list | tuple) and [label is None for label in y]
    if not missing or not any(missing):
        return Targets(student.encode_targets(y, examples, features))
    if all(missing):
        return Targets(None)
    if len(missing) != len(examples):
        raise KerasBertError(
            f"expected one label, or None, for each text, received {len(missing)} for {len(examples)} texts"
        )
    has_windows = len(features) != len(examples) and not isinstance(student.processor, Tagging)
    if student.processor.self_supervised or has_windows:
        if not needed:
            return Targets(None)
        raise KerasBertError(
            f"expected labels for all examples of a {type(student).__name__}, received none for {sum(missing)} of them; "
            "label_weight=0 learns from the teacher alone"
        )
    known = next(label for label in y if label is not None)
    filled = [
        _any(student, known, example) if label is None else label for label, example in zip(y, examples, strict=True)
    ]
    values = student.encode_targets(filled, examples, features)
    labelled = ~np.array(missing)[features.example]
    if isinstance(values, list):  # tags: a loss leaves ignored tokens out by itself
        return Targets(
            [each if has else np.full_like(each, IGNORED) for each, has in zip(values, labelled, strict=True)]
        )
    return Targets(values, labelled.astype(np.float32))


def _any(student: Task, known: Any, example: Any) -> Any:
    """A label of any value for an example: that of another one, or a tag for each word."""
    if not isinstance(student.processor, Tagging):
        return known
    return [] if isinstance(example, str) else list((student.labels or ())[:1]) * len(example)
