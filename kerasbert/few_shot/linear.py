"""Classes over sentence vectors without training of the encoder: the nearest centre, and logistic regression."""

from collections.abc import Callable

import numpy as np

from kerasbert.processors.few_shot import Linear

COSINE_SCALE = 20.0  # the factor of cosines in the softmax: 0.05 more is e times the probability
_SMALLEST_NORM = 1e-6  # of a mean of vectors of length 1; what is below is rounding
# Of L-BFGS: the steps that it remembers, the most steps, and the largest number of the gradient at its end.
_HISTORY, _MOST_STEPS, _PRECISION = 10, 500, 1e-3
# Of its line search: the share of the expected decrease (Armijo), and the step at which it gives up.
_ENOUGH, _SHORTEST_STEP = 1e-4, 1e-10


def centres(vectors: np.ndarray, classes: np.ndarray, count: int) -> Linear:
    """Return the layer whose logits are the cosines with the mean of each class, times `COSINE_SCALE`.

    It chooses the nearest centre (for learned vectors: Snell et al. 2017, "Prototypical Networks for Few-shot Learning").

    Args:
        vectors: Vectors of length 1, `(rows, width)`.
        classes: The class of each row, from 0 to below `count`; each class has a row.
        count: The number of classes.
    """
    sums = _one_hot(classes, count).T @ vectors.astype(np.float64)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    rows = np.bincount(classes, minlength=count)[:, None]
    directed = lengths > _SMALLEST_NORM * rows  # examples that cancel each other have no direction
    kernel = np.where(directed, COSINE_SCALE * sums / np.maximum(lengths, _SMALLEST_NORM), 0.0)
    return Linear(kernel.astype(np.float32), np.zeros(count, np.float32))


def logistic(
    vectors: np.ndarray, classes: np.ndarray, count: int, strength: float, precision: float = _PRECISION
) -> Linear:
    """Fit multinomial logistic regression: the cross-entropy of all rows, times `strength`, plus half of the squared kernel.

    It is the optimum that scikit-learn's `LogisticRegression(C=strength)` looks for, found by L-BFGS (Nocedal & Wright 2006, chapter 7).

    Args:
        vectors: Vectors of length 1, `(rows, width)`.
        classes: The class of each row, from 0 to below `count`.
        count: The number of classes.
        strength: The weight of the rows against that of the kernel's size.
        precision: The largest number of the gradient at which the search ends.
    """
    # A constant that all vectors share only moves the bias, which is not held small: the optimum is the same, and it is found faster.
    mean = vectors.mean(axis=0, dtype=np.float64)
    centred, targets = vectors - mean, _one_hot(classes, count)

    def loss_and_gradient(weights: np.ndarray) -> tuple[float, np.ndarray]:
        kernel, bias = weights[:, :-1], weights[:, -1]
        log_shares = _log_softmax(centred @ kernel.T + bias)
        errors = strength * (np.exp(log_shares) - targets)
        loss = 0.5 * float(np.sum(kernel**2)) - strength * float(np.sum(targets * log_shares))
        return loss, np.concatenate([errors.T @ centred + kernel, errors.sum(axis=0)[:, None]], axis=1)

    weights = _minimum(loss_and_gradient, np.zeros((count, vectors.shape[1] + 1)), precision)
    kernel, bias = weights[:, :-1], weights[:, -1] - weights[:, :-1] @ mean
    return Linear(kernel.astype(np.float32), (bias - bias.mean()).astype(np.float32))


def _minimum(
    loss_and_gradient: Callable[[np.ndarray], tuple[float, np.ndarray]], start: np.ndarray, precision: float
) -> np.ndarray:
    """Minimize a smooth convex function by L-BFGS with a backtracking line search."""
    point, (loss, gradient) = start, loss_and_gradient(start)
    steps: list[tuple[np.ndarray, np.ndarray, float]] = []
    for _ in range(_MOST_STEPS):
        if np.abs(gradient).max() <= precision:
            break
        direction = -_two_loops(gradient, steps)
        slope = float(np.sum(direction * gradient))
        size = 1.0 if steps else min(1.0, 1.0 / float(np.abs(gradient).sum()))
        while True:
            moved = point + size * direction
            new_loss, new_gradient = loss_and_gradient(moved)
            if new_loss <= loss + _ENOUGH * size * slope or size < _SHORTEST_STEP:
                break
            size /= 2
        change, difference = moved - point, new_gradient - gradient
        curvature = float(np.sum(change * difference))
        if size < _SHORTEST_STEP or not curvature > 0:  # the numbers resolve no more
            break
        steps = [*steps[1 - _HISTORY :], (change, difference, 1 / curvature)]
        point, loss, gradient = moved, new_loss, new_gradient
    return point


def _two_loops(gradient: np.ndarray, steps: list[tuple[np.ndarray, np.ndarray, float]]) -> np.ndarray:
    """Multiply the gradient by the approximation of the inverse Hessian that the last steps give."""
    result, shares = gradient, []
    for change, difference, inverse in reversed(steps):
        share = inverse * float(np.sum(change * result))
        result = result - share * difference
        shares.append(share)
    if steps:
        change, difference, inverse = steps[-1]
        result = result / (inverse * float(np.sum(difference**2)))
    for (change, difference, inverse), share in zip(steps, reversed(shares), strict=True):
        result = result + (share - inverse * float(np.sum(difference * result))) * change
    return result


def _one_hot(classes: np.ndarray, count: int) -> np.ndarray:
    return np.eye(count)[classes]


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
