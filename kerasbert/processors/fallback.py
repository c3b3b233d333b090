"""The probability below which a text belongs to none of the classes."""

import numpy as np


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
