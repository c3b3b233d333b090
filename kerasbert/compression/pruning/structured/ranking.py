"""Selection of heads or neurons by importance."""

from collections.abc import Sequence

import numpy as np


def most_important(importance: Sequence[np.ndarray], counts: Sequence[int]) -> list[np.ndarray]:
    """Return the sorted indices of the most important parts of each layer; of equal ones the first stay.

    Args:
        importance: The importance of every part, `(parts,)` for each layer.
        counts: Number of parts that each layer keeps.
    """
    return [
        np.sort(np.argsort(-values, kind="stable")[:count]) for values, count in zip(importance, counts, strict=True)
    ]


def global_counts(importance: Sequence[np.ndarray], removed: int, minimum: int = 1) -> list[int]:
    """Return the number of parts that each layer keeps when the least important ones of all layers are removed.

    Args:
        importance: The importance of every part, `(parts,)` for each layer.
        removed: Number of parts to remove from all layers together.
        minimum: Least number of parts that a layer keeps.
    """
    counts = [len(values) for values in importance]
    ascending = sorted(
        (float(value), layer, index) for layer, values in enumerate(importance) for index, value in enumerate(values)
    )
    for _, layer, _ in ascending:
        if removed and counts[layer] > minimum:
            counts[layer] -= 1
            removed -= 1
    return counts
