"""Confidence bounds of a share, a correlation or a metric. Every bound holds by itself with 95 % confidence."""

from collections.abc import Callable

import numpy as np

CONFIDENCE = 0.95
_Z = 1.6448536269514722  # the normal distribution's 95 % quantile: bounds are one-sided
# None lost of n: less than 3/n with confidence, the rule of three (Hanley and Lippman-Hand 1983).
_THREE = float(-np.log(1 - CONFIDENCE))
_MAX_EXACT = 20_000  # decisions; with more, the normal distribution gives the same bounds
_MAX_ROWS = 10_000_000
_HALVINGS = 50

Bounds = tuple[float, float]


def share_bounds(share: float, decisions: float) -> Bounds:
    """Return the exact interval of a share (Clopper and Pearson 1934); of very many decisions Wilson's (1927).

    Args:
        share: From 0 to 1.
        decisions: Independent ones that the share is of.
    """
    number = int(decisions + 1e-9)
    if number < 1:
        return 0.0, 1.0
    if number > _MAX_EXACT:
        return _wilson(share, number)
    lost = round((1 - share) * number)
    low = 0.0 if lost == number else 1 - _lost_share(lost, number, 1 - CONFIDENCE)
    return low, 1.0 if lost == 0 else 1 - _lost_share(lost - 1, number, CONFIDENCE)


def _lost_share(lost: int, number: int, chance: float) -> float:
    """Return the share of lost decisions at which as few as `lost` of `number` happen with that chance."""
    each = np.arange(lost + 1)
    log_ways = np.concatenate([[0.0], np.cumsum(np.log((number - each[:-1]) / each[1:]))])  # of n over k
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        happens = np.exp(log_ways + each * np.log(middle) + (number - each) * np.log1p(-middle)).sum()
        low, high = (middle, high) if happens > chance else (low, middle)
    return (low + high) / 2


def _wilson(share: float, decisions: int) -> Bounds:
    squared = _Z**2 / decisions
    middle = (share + squared / 2) / (1 + squared)
    width = _Z * np.sqrt(share * (1 - share) / decisions + squared / (4 * decisions)) / (1 + squared)
    return float(max(middle - width, 0.0)), float(min(middle + width, 1.0))


def independent_decisions(same: np.ndarray, decisions: np.ndarray) -> float:
    """Return the effective number of independent decisions: the words of a sentence err together (Kish 1965, design effect).

    Args:
        same: Equal decisions of each row, (rows,).
        decisions: All decisions of each row, (rows,).
    """
    total, rows = float(np.sum(decisions)), len(decisions)
    share = np.sum(same) / total if total else 0.0
    if rows < 2 or not 0 < share < 1:
        return total
    variance = np.sum((same - share * decisions) ** 2) / total**2 * rows / (rows - 1)
    return float(min(total, share * (1 - share) / variance)) if variance > 0 else total


def correlation_bounds(correlation: float, rows: float) -> Bounds:
    """Return the interval of a Pearson correlation by Fisher's z transformation (1921).

    Args:
        correlation: From -1 to 1.
        rows: Pairs that it is of.
    """
    if rows <= 3:
        return -1.0, 1.0
    middle = np.arctanh(np.clip(correlation, -1 + 1e-12, 1 - 1e-12))
    low, high = (float(np.tanh(middle + side * _Z / np.sqrt(rows - 3))) for side in (-1, 1))
    return low, high


def half_width(deviation: float, worth: float, rows: float) -> float:
    """Return the half width of the interval of a mean over rows.

    It solves `x^2 = z^2 deviation^2 / rows + 3 worth x / rows`. As in Wilson's interval, the variance is that at the bound, where further
    rows are lost, each by `worth`. So it is `z deviation / sqrt(rows)` for many rows, and `3 worth / rows` where none differs yet.

    Args:
        deviation: The standard deviation of the rows' values.
        worth: The cost of one lost row.
        rows: The number of rows.
    """
    if not rows > 0:
        return float("inf")
    lost = _THREE * worth / rows
    return float((lost + np.sqrt(lost**2 + 4 * (_Z * deviation) ** 2 / rows)) / 2)


def rows_until(decided: Callable[[float], bool], rows: int) -> int | None:
    """Return how many more rows would decide, if they are like the present ones; None where no number would.

    Args:
        decided: Whether a number of rows would.
        rows: The present ones.
    """
    low, high = rows, 2 * max(rows, 1)
    while not decided(high):
        low, high = high, 2 * high
        if high > _MAX_ROWS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decided(middle) else (middle, high)
    return high - rows
