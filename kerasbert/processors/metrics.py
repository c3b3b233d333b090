"""Measures that several processors share; NumPy only."""

import numpy as np


def accuracy(truth: np.ndarray, found: np.ndarray) -> float:
    """Share of equal entries."""
    return float(np.mean(np.asarray(truth) == np.asarray(found)))


def f1(truth: np.ndarray, found: np.ndarray) -> float:
    """F1 of yes-or-no decisions; 0 when there is nothing to find and nothing was found."""
    total = truth.sum() + found.sum()
    return float(2 * (truth & found).sum() / total) if total else 0.0


def macro_f1(truth: np.ndarray, found: np.ndarray) -> float:
    """Mean F1 of all classes that occur among the labels or the predictions, as scikit-learn's `f1_score(average="macro")`."""
    return float(np.mean(list(f1_by_class(truth, found).values())))


def f1_by_class(truth: np.ndarray, found: np.ndarray) -> dict[int, float]:
    """F1 of each class number that occurs among the labels or the predictions."""
    truth, found = np.asarray(truth), np.asarray(found)
    return {int(c): f1(truth == c, found == c) for c in np.union1d(truth, found)}


def micro_f1(labels: np.ndarray, probabilities: np.ndarray) -> float:
    """F1 over all decisions at 0.5; 1 when there is nothing to find and nothing was found."""
    truth, found = np.asarray(labels) > 0, np.asarray(probabilities) >= 0.5
    denominator = truth.sum() + found.sum()
    return float(2 * (truth & found).sum() / denominator) if denominator else 1.0


def matthews(truth: np.ndarray, found: np.ndarray) -> float:
    """Matthews correlation (Matthews 1975) of two classes; 0 where one side has a single class."""
    return pearson(truth, found)


def pearson(a: np.ndarray, b: np.ndarray) -> float:
    """Linear correlation, as `scipy.stats.pearsonr`; 0.0 where a side is constant (SciPy: NaN), NaN where a number is not finite."""
    a, b = (_unit(_centred(side)) for side in (a, b))
    return float(np.clip(a @ b, -1.0, 1.0))


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Rank correlation; ties share their mean rank."""
    return pearson(ranks(a), ranks(b))


def cosine(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Cosine of each row of `first` (N, H) with the same row of `second`, (N,); of two zero vectors 1, of one 0."""
    first, second = (_unit(np.asarray(side, np.float64)) for side in (first, second))
    both_zero = ~(first.any(axis=1) | second.any(axis=1))
    return np.where(both_zero, 1.0, np.clip((first * second).sum(axis=1), -1.0, 1.0))


def _centred(values: np.ndarray) -> np.ndarray:
    """Float64 without its mean; exactly 0 where all values are the same, whose mean may be off by rounding."""
    values = np.asarray(values, np.float64)
    return np.zeros(values.shape) if (values == values[:1]).all() else values - values.mean()


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors (..., H) of norm 1, whatever their size: squares of numbers below 1e-154 or above 1e154 do not fit float64. Zeros stay."""
    largest = np.abs(vectors).max(axis=-1, keepdims=True, initial=0.0)
    scaled = vectors / np.where(largest == 0, 1.0, largest)
    norm = np.linalg.norm(scaled, axis=-1, keepdims=True)
    return scaled / np.where(norm == 0, 1.0, norm)


def ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1 on; ties share their mean rank."""
    _, inverse, counts = np.unique(np.asarray(values, np.float64), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse]
