"""Measures that several problems share; NumPy only."""

import numpy as np

SAME = 1e-6


def accuracy(truth: np.ndarray, found: np.ndarray) -> float:
    """Share of equal entries."""
    return float(np.mean(np.asarray(truth) == np.asarray(found)))


def f1(truth: np.ndarray, found: np.ndarray) -> float:
    """F1 of yes-or-no decisions; 0 when there is nothing to find and nothing was found."""
    total = truth.sum() + found.sum()
    return float(2 * (truth & found).sum() / total) if total else 0.0


def micro_f1(labels: np.ndarray, probabilities: np.ndarray) -> float:
    """F1 over all decisions at 0.5; 1 when there is nothing to find and nothing was found."""
    truth, found = np.asarray(labels) > 0, np.asarray(probabilities) >= 0.5
    denominator = truth.sum() + found.sum()
    return float(2 * (truth & found).sum() / denominator) if denominator else 1.0


def matthews(truth: np.ndarray, found: np.ndarray) -> float:
    """Matthews correlation (Matthews 1975) of two classes; 0 where one side has a single class."""
    if np.ptp(truth) == 0 or np.ptp(found) == 0:
        return 0.0
    return pearson(truth, found)


def pearson(a: np.ndarray, b: np.ndarray) -> float:
    """Linear correlation; a side without any spread correlates with nothing but itself."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if np.allclose(a, b, rtol=0, atol=SAME):
        return 1.0
    a, b = a - a.mean(), b - b.mean()
    scale = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / scale) if scale > 1e-12 else 0.0


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Rank correlation; ties share their mean rank."""
    return pearson(_ranks(a), _ranks(b))


def cosine(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Cosine of each row of `first` (N, H) with the same row of `second`, (N,); 1 for rows that are the same."""
    first, second = np.asarray(first, np.float64), np.asarray(second, np.float64)
    scale = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    same = np.abs(first - second).max(axis=1) < SAME
    return np.where(same, 1.0, (first * second).sum(axis=1) / np.where(scale > 0, scale, 1.0))


def _ranks(values: np.ndarray) -> np.ndarray:
    _, inverse, counts = np.unique(np.asarray(values, np.float64), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse]
