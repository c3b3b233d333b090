"""The label of texts that belong to none of the classes, and the probability below which a text gets it."""

from typing import Any

import numpy as np

from kerasbert.arguments import argument, shown
from kerasbert.errors import KerasBertError
from kerasbert.values import is_number

KEEP = 0.95  # the share of right predictions that a threshold keeps where no text belongs to no class


def check_fallback(fallback: Any, below: Any) -> None:
    """Check the label of texts that belong to no class, and its probability.

    Args:
        fallback: The label; None without.
        below: The probability below which a text gets it; None if it is to be chosen.

    Raises:
        KerasBertError: When one is out of range, or there is a probability alone.
    """
    if fallback is not None and (not isinstance(fallback, str) or not fallback.strip() or "\n" in fallback):
        raise KerasBertError(
            f"expected {argument('fallback')} as a label, received {shown(fallback)}; name it, such as 'oos'"
        )
    if below is not None and (fallback is None or not is_number(below, 0, 1)):
        raise KerasBertError(
            f"expected {argument('fallback_below')} as a probability from 0 to 1, with {argument('fallback')}, received "
            f"{shown(below)} with {shown(fallback)}; correct them"
        )


def check_keep(keep: Any) -> float:
    """Check the share of right predictions that stay.

    Args:
        keep: The share.

    Raises:
        KerasBertError: When it is not above 0 and at most 1.
    """
    if not is_number(keep, 0, 1) or keep == 0:
        raise KerasBertError(
            f"expected {argument('keep')} as a number above 0 and at most 1, received {shown(keep)}; it is a share"
        )
    return float(keep)


def threshold_of(probabilities: np.ndarray, classes: np.ndarray, outside: np.ndarray | None, keep: float) -> float:
    """Choose the probability below which a text belongs to no class.

    Args:
        probabilities: Of examples that were not trained on, `(rows, classes)`.
        classes: Their classes.
        outside: The probabilities of examples that belong to no class, `(rows, classes)`; None without any.
        keep: The share of the right predictions that stay, at least.

    Returns:
        The highest such probability. With examples that belong to no class, it is the lowest that finds as many of them.
    """
    best = probabilities.max(axis=1).astype(np.float64)
    right = np.sort(best[probabilities.argmax(axis=1) == classes])
    if not len(right):
        return 0.0
    highest = float(right[int((1 - keep) * len(right))])
    if outside is None:
        return highest
    found = np.sort(outside.max(axis=1).astype(np.float64))
    found = found[found < highest]
    if not len(found):
        return 0.0
    above = right[right > found[-1]]
    return float((found[-1] + min(highest, above[0] if len(above) else highest)) / 2)
