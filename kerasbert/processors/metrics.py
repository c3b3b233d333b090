"""The metrics that several processors share, with NumPy only."""

import math
from collections.abc import Sequence

import numpy as np


def softmax(logits: np.ndarray, dtype: type | None = None) -> np.ndarray:
    """Return probabilities along the last axis.

    Args:
        logits: Logits `(..., classes)`.
        dtype: The dtype of the result; by default that of the logits.
    """
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True), dtype=dtype)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def accuracy(truth: Sequence | np.ndarray, predicted: Sequence | np.ndarray) -> float:
    """Compute the fraction of equal entries."""
    return float(np.mean(np.asarray(truth) == np.asarray(predicted)))


def f1(truth: np.ndarray, predicted: np.ndarray, empty: float = 0.0) -> float:
    """Compute F1 of yes-or-no decisions; `empty` without positive labels and predictions."""
    total = truth.sum() + predicted.sum()
    return float(2 * (truth & predicted).sum() / total) if total else empty


def macro_f1(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Compute the mean F1 of all classes that occur among labels or predictions, as scikit-learn's `f1_score(average="macro")`."""
    return float(np.mean(list(f1_by_class(truth, predicted).values())))


def f1_by_class(truth: np.ndarray, predicted: np.ndarray) -> dict[int, float]:
    """Compute F1 of each class number that occurs among labels or predictions."""
    truth, predicted = np.asarray(truth), np.asarray(predicted)
    return {int(c): f1(truth == c, predicted == c) for c in np.union1d(truth, predicted)}


def micro_f1(labels: np.ndarray, probabilities: np.ndarray) -> float:
    """Compute F1 over all decisions at 0.5; 1 without positive labels and predictions."""
    return f1(np.asarray(labels) > 0, np.asarray(probabilities) >= 0.5, empty=1.0)


def matthews(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Compute the Matthews correlation (Matthews 1975) of two classes; 0 where one side has a single class."""
    truth, predicted = np.asarray(truth) > 0, np.asarray(predicted) > 0
    count, positive, found = len(truth), int(truth.sum()), int(predicted.sum())
    covariance = count * int((truth & predicted).sum()) - positive * found
    product = positive * (count - positive) * found * (count - found)
    root = math.isqrt(product)  # exact for perfect predictions, where a sum of floats gives 0.9999999999999998
    return covariance / (root if root * root == product else math.sqrt(product)) if product else 0.0


def pearson(a: np.ndarray, b: np.ndarray) -> float:
    """Compute the linear correlation, as `scipy.stats.pearsonr`.

    It is 0.0 where one side is constant (SciPy: NaN), and NaN where a number is not finite.
    """
    a, b = (_unit(_centered(side)) for side in (a, b))
    return float(np.clip(a @ b, -1.0, 1.0))


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Compute the rank correlation; ties share their mean rank."""
    return pearson(ranks(a), ranks(b))


def cosine(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Compute the cosine of each row of `first` `(n, hidden)` with the same row of `second`, `(n,)`.

    The cosine of two zero vectors is 1, and of one zero vector 0.
    """
    first, second = (_unit(np.asarray(side, np.float64)) for side in (first, second))
    both_zero = ~(first.any(axis=1) | second.any(axis=1))
    return np.where(both_zero, 1.0, np.clip((first * second).sum(axis=1), -1.0, 1.0))


def _centered(values: np.ndarray) -> np.ndarray:
    """Subtract the mean, in float64. Constant values become exactly 0, although their mean may be off by rounding."""
    values = np.asarray(values, np.float64)
    return np.zeros(values.shape) if (values == values[:1]).all() else values - values.mean()


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Scale vectors `(..., hidden)` to norm 1; zero vectors stay.

    They are first divided by their largest number: squares of numbers below 1e-154 or above 1e154 do not fit float64.
    """
    largest = np.abs(vectors).max(axis=-1, keepdims=True, initial=0.0)
    scaled = vectors / np.where(largest == 0, 1.0, largest)
    norm = np.linalg.norm(scaled, axis=-1, keepdims=True)
    return scaled / np.where(norm == 0, 1.0, norm)


def ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks from 1 on; ties share their mean rank."""
    _, inverse, counts = np.unique(np.asarray(values, np.float64), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse]


def calibration_error(confidence: np.ndarray, correct: np.ndarray, bins: int = 15) -> float:
    """Compute the expected calibration error (Naeini et al. 2015; Guo et al. 2017): the mean gap between confidence and accuracy.

    Args:
        confidence: The probability of each prediction, `(n,)`.
        correct: Whether it is right, bool `(n,)`.
        bins: Bins of equal width, over which confidence and accuracy are averaged.
    """
    number = np.clip(np.ceil(np.asarray(confidence, np.float64) * bins).astype(int) - 1, 0, bins - 1)
    gap = np.bincount(number, np.asarray(correct, np.float64) - confidence, bins)
    return float(np.abs(gap).sum() / max(len(number), 1))
