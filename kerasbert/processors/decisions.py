"""The decisions of models (class, or yes and no for each label) and their agreement, with NumPy only."""

import numpy as np

UNDECIDED = ("regression", "embedding")  # values of `compared_as` whose outputs are no decisions


def same_decisions(reference: np.ndarray, model: np.ndarray, compared_as: str) -> np.ndarray:
    """Compare the decisions of two models.

    Args:
        reference: Outputs of one model, `(n, width)`.
        model: Outputs of the other model, `(n, width)`.
        compared_as: See `Processor`.

    Returns:
        Whether they are equal, bool `(n,)`, or `(n, width)` for `multi_label`.
    """
    return decisions_of(reference, compared_as) == decisions_of(model, compared_as)


def decisions_of(outputs: np.ndarray, compared_as: str) -> np.ndarray:
    """Return the class of each line of `(n, width)`, int `(n,)`; for `multi_label` each label's yes or no at 0.5, bool `(n, width)`."""
    return outputs >= 0.5 if compared_as == "multi_label" else outputs.argmax(axis=1)


def decides(compared_as: str, width: int) -> bool:
    """Tell whether outputs of a width are decisions."""
    return compared_as == "multi_label" or (width > 1 and compared_as not in UNDECIDED)
