"""How far a share, a correlation or a metric of some rows can be trusted. Every bound holds by itself with 95 % confidence."""

from collections.abc import Callable

import numpy as np

CONFIDENCE = 0.95
_Z = 1.6448536269514722  # the normal distribution's 95 % quantile: bounds are one-sided
_MOST_ROWS = 10_000_000

Bounds = tuple[float, float]


def share_bounds(share: float, decisions: float) -> Bounds:
    """Wilson's score interval (1927) of a share of so many independent decisions."""
    if not decisions > 0:
        return 0.0, 1.0
    squared = _Z**2 / decisions
    middle = (share + squared / 2) / (1 + squared)
    width = _Z * np.sqrt(share * (1 - share) / decisions + squared / (4 * decisions)) / (1 + squared)
    return float(max(middle - width, 0.0)), float(min(middle + width, 1.0))


def independent_decisions(same: np.ndarray, decisions: np.ndarray) -> float:
    """How many independent decisions those of some rows are worth: the words of a sentence err together (Kish 1965, design effect).

    same, decisions: (rows,) how many were equal, of how many. Never more than there are.
    """
    total, rows = float(np.sum(decisions)), len(decisions)
    share = np.sum(same) / total if total else 0.0
    if rows < 2 or not 0 < share < 1:
        return total
    variance = np.sum((same - share * decisions) ** 2) / total**2 * rows / (rows - 1)
    return float(min(total, share * (1 - share) / variance)) if variance > 0 else total


def correlation_bounds(correlation: float, rows: int) -> Bounds:
    """Fisher's z transformation (1921)."""
    if rows <= 3:
        return -1.0, 1.0
    middle = np.arctanh(np.clip(correlation, -1 + 1e-12, 1 - 1e-12))
    return tuple(float(np.tanh(middle + side * _Z / np.sqrt(rows - 3))) for side in (-1, 1))


def half_width(deviation: float, worth: float, rows: float) -> float:
    """How far the mean of some rows' values may be off.

    It solves `x^2 = z^2 (deviation^2 + worth x) / rows`: as in Wilson's interval the variance is that at the bound, where further rows are
    lost, each by `worth`. So it is `z deviation / sqrt(rows)` for many rows, and `z^2 worth / rows` where no row differs yet.

    deviation: the standard deviation of the rows' values. worth: what one lost row costs.
    """
    if not rows > 0:
        return float("inf")
    lost = _Z**2 * worth / rows
    return float((lost + np.sqrt(lost**2 + 4 * (_Z * deviation) ** 2 / rows)) / 2)


def rows_until(decided: Callable[[float], bool], rows: int) -> int | None:
    """How many rows more would decide, if they are like those that there are. decided: whether so many would. None: no number would."""
    low, high = rows, 2 * max(rows, 1)
    while not decided(high):
        low, high = high, 2 * high
        if high > _MOST_ROWS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decided(middle) else (middle, high)
    return high - rows
