"""From how often which value was seen to the range that 8 bits are spread over."""

from collections.abc import Callable

import numpy as np

from kerasbert.errors import KerasBertError

BINS = 2048
RANGE_METHODS = ("min-max", "percentile", "mse")
_PERCENTILE = 99.99
_SHARES = np.linspace(0.3, 1.0, 29)  # of either end of the range seen, which `mse` tries


def range_method(name: str) -> Callable | None:
    """counts (BINS,), minimum, maximum -> narrower (minimum, maximum); None for `min-max`, which leaves them.

    Raises KerasBertError for an unknown method, and a percentile that is none.
    """
    kind, _, wanted = name.partition(":")
    if kind == "percentile":
        percentile = _number(wanted) if wanted else _PERCENTILE
        if not 50 < percentile <= 100:
            raise KerasBertError(
                f"expected a percentile above 50 and up to 100, such as percentile:99.9, received {name!r}"
            )
        return lambda counts, low, high: percentile_range(counts, low, high, percentile)
    if wanted or kind not in RANGE_METHODS:
        raise KerasBertError(f"expected ranges of {', '.join(RANGE_METHODS)}, received {name!r}")
    return mse_range if kind == "mse" else None


def percentile_range(counts: np.ndarray, low: float, high: float, percentile: float) -> tuple[float, float]:
    """The range that holds so many per cent of the values, as many left out on either side."""
    edges, shares = np.linspace(low, high, len(counts) + 1), np.cumsum(counts) / max(counts.sum(), 1)
    out = (1 - percentile / 100) / 2
    first, last = np.searchsorted(shares, out, "right"), np.searchsorted(shares, 1 - out, "left")
    return float(edges[min(first, len(counts) - 1)]), float(edges[min(last, len(counts) - 1) + 1])


def mse_range(counts: np.ndarray, low: float, high: float) -> tuple[float, float]:
    """The range, ends moved inwards each on its own, whose 256 steps leave the least squared error of the values."""
    edges = np.linspace(low, high, len(counts) + 1)
    seen = counts > 0
    values, weights = ((edges[:-1] + edges[1:]) / 2)[seen], counts[seen].astype(np.float64)
    best = (np.inf, low, high)
    for least in low * _SHARES if low < 0 else [0.0]:
        for most in high * _SHARES if high > 0 else [0.0]:
            error = _squared_error(values, weights, float(least), float(most))
            if error < best[0]:
                best = (error, float(least), float(most))
    return best[1:]


def _squared_error(values: np.ndarray, weights: np.ndarray, low: float, high: float) -> float:
    step = max((high - low) / 255, 1e-12)
    zero = np.round(low / step)
    grid = np.clip(np.round(values / step), zero, zero + 255) * step
    return float(np.dot(np.square(grid - values), weights))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
