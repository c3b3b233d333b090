"""The argument `class_weight` of Keras' `fit`, by names of labels or by class numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.values import is_number, is_whole_number


def class_weights_by_number(labels: Sequence[str] | None, processor: str, class_weight: Any) -> dict[int, float]:
    """Return the weight of each class by its number, as Keras takes it; missing classes have the weight 1.

    Keras would take the largest entry of labels with two axes as the class, so only tasks with one class an example have class weights.

    Args:
        labels: The task's class names.
        processor: The name of its processor.
        class_weight: Weights by the names or the numbers of labels.

    Raises:
        KerasBertError: When the task has other labels, a label does not exist or is there twice, or a weight is not a number of at least 0.
    """
    names = tuple(labels or ())
    if processor != "single_label" or not names:
        raise KerasBertError(
            f"expected class_weight for a task with one class an example, received it for {processor!r}; leave it out, or pass "
            "sample_weight"
        )
    if not isinstance(class_weight, Mapping):
        raise KerasBertError(
            f"expected class_weight as a dict of weights by label, received {class_weight!r}; see kerasbert.losses.balanced_weights"
        )
    weights: dict[int, float] = {}
    for label, weight in class_weight.items():
        number = _number(label, names)
        if not is_number(weight, 0):
            raise KerasBertError(
                f"expected class_weight as numbers of at least 0, received {weight!r} for {label!r}; correct it"
            )
        if number in weights:
            raise KerasBertError(
                f"expected each label once in class_weight, received {names[number]!r} twice; leave one out"
            )
        weights[number] = float(weight)
    return {number: weights.get(number, 1.0) for number in range(len(names))}


def _number(label: Any, names: tuple[str, ...]) -> int:
    if isinstance(label, str) and label in names:
        return names.index(label)
    if is_whole_number(label, 0, len(names) - 1):
        return int(label)
    known = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    raise KerasBertError(
        f"expected the labels {known} or their numbers in class_weight, received {label!r}; correct it"
    )
