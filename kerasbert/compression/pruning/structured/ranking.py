"""Which parts to keep, by their importance."""

from collections.abc import Sequence

import numpy as np


def most_important(importance: Sequence[np.ndarray], numbers: Sequence[int]) -> list[np.ndarray]:
    """So many parts of each layer, those with the highest importance: their numbers in order. Of equals the first ones stay."""
    return [
        np.sort(np.argsort(-values, kind="stable")[:number]) for values, number in zip(importance, numbers, strict=True)
    ]


def numbers_over_all(importance: Sequence[np.ndarray], cut: int, least: int = 1) -> list[int]:
    """How many parts each layer keeps when the `cut` least important ones of all layers go, but `least` of every layer stay."""
    left = [len(values) for values in importance]
    order = sorted(
        (float(value), layer, number) for layer, values in enumerate(importance) for number, value in enumerate(values)
    )
    for _, layer, _ in order:
        if cut and left[layer] > least:
            left[layer] -= 1
            cut -= 1
    return left
