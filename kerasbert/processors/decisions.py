"""Which decisions two models share; NumPy only."""

import numpy as np

UNDECIDED = ("regression", "embedding")  # ways of comparing outputs that name no decision


def same_decisions(reference: np.ndarray, model: np.ndarray, compared_as: str) -> np.ndarray:
    """Which predictions of two sides are equal: the class of each line of (n, width), or each label's yes or no at 0.5 for
    `multi_label`, (n, width) bool."""
    return decisions_of(reference, compared_as) == decisions_of(model, compared_as)


def decisions_of(outputs: np.ndarray, compared_as: str) -> np.ndarray:
    """The class of each line of (n, width), (n,) int; or each label's yes or no at 0.5 for `multi_label`, (n, width) bool."""
    return outputs >= 0.5 if compared_as == "multi_label" else outputs.argmax(axis=1)


def decides(compared_as: str, width: int) -> bool:
    """Whether outputs of that width name a class, or say yes or no."""
    return compared_as == "multi_label" or (width > 1 and compared_as not in UNDECIDED)
