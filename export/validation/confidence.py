"""How far a share, a correlation or a metric of some rows can be trusted. Every bound holds by itself with 95 % confidence."""

from collections.abc import Callable

import numpy as np

CONFIDENCE = 0.95
_Z = 1.6448536269514722  # the normal distribution's 95 % quantile: bounds are one-sided
_THREE = -np.log(
    1 - CONFIDENCE
)  # none lost of n: surely less than 3/n (Hanley and Lippman-Hand 1983, the rule of three)
_MOST_EXACT = 20_000  # decisions; with more, the normal distribution is the same
_MOST_ROWS = 10_000_000
_HALVINGS = 50

Bounds = tuple[float, float]


def share_bounds(share: float, decisions: float) -> Bounds:
    """The exact interval of a share of so many independent decisions (Clopper and Pearson 1934); of very many, Wilson's (1927)."""
    number = int(decisions + 1e-9)
    if number < 1:
        return 0.0, 1.0
    if number > _MOST_EXACT:
        return _wilson(share, number)
    lost = round((1 - share) * number)
    low = 0.0 if lost == number else 1 - _lost_share(lost, number, 1 - CONFIDENCE)
    return low, 1.0 if lost == 0 else 1 - _lost_share(lost - 1, number, CONFIDENCE)


def _lost_share(lost: int, number: int, chance: float) -> float:
    """The share of lost decisions at which as few as `lost` of `number` happen with that chance."""
    each = np.arange(lost + 1)
    ways = np.concatenate([[0.0], np.cumsum(np.log((number - each[:-1]) / each[1:]))])  # log of n over k
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        happens = np.exp(ways + each * np.log(middle) + (number - each) * np.log1p(-middle)).sum()
        low, high = (middle, high) if happens > chance else (low, middle)
    return (low + high) / 2


def _wilson(share: float, decisions: int) -> Bounds:
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

    It solves `x^2 = z^2 deviation^2 / rows + 3 worth x / rows`: as in Wilson's interval the variance is that at the bound, where further
    rows are lost, each by `worth`. So it is `z deviation / sqrt(rows)` for many rows, and `3 worth / rows` where none differs yet.

    deviation: the standard deviation of the rows' values. worth: what one lost row costs.
    """
    if not rows > 0:
        return float("inf")
    lost = _THREE * worth / rows
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
