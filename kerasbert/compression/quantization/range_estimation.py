"""Range estimation from histograms: percentile and mean squared error."""

from collections.abc import Callable

import numpy as np

from kerasbert.errors import KerasBertError

BINS = 2048
RANGE_METHODS = ("min-max", "percentile", "mse")
_DEFAULT_PERCENTILE = 99.99
_MSE_FRACTIONS = np.linspace(0.3, 1.0, 29)  # of either end of the observed range, tried by `mse`

RangeEstimator = Callable[[np.ndarray, float, float], tuple[float, float]]
"""Maps counts `(BINS,)`, minimum and maximum to a narrower minimum and maximum."""


def range_estimator(name: str) -> RangeEstimator | None:
    """Return the range estimator of a calibration method, or None for `min-max`, which keeps the observed range.

    Args:
        name: `min-max`, `mse`, `percentile`, or a percentile such as `percentile:99.9`.

    Returns:
        The estimator, or None.

    Raises:
        KerasBertError: When the method is unknown, or its percentile is not above 50 and up to 100.

    Example:
        ```python
        from kerasbert.compression import range_estimator
        range_estimator("percentile:99.9")
        ```
    """
    method, _, argument = name.partition(":")
    if method == "percentile":
        percentile = _parse_float(argument) if argument else _DEFAULT_PERCENTILE
        if not 50 < percentile <= 100:
            raise KerasBertError(
                f"expected a percentile above 50 and up to 100, received {name!r}; write it as percentile:99.9"
            )
        return lambda counts, low, high: percentile_range(counts, low, high, percentile)
    if argument or method not in RANGE_METHODS:
        raise KerasBertError(f"expected a range method of {', '.join(RANGE_METHODS)}, received {name!r}")
    return mse_range if method == "mse" else None


def percentile_range(counts: np.ndarray, low: float, high: float, percentile: float) -> tuple[float, float]:
    """Return the range of the central `percentile` per cent of the values.

    Args:
        counts: A histogram with bins of equal width, `(bins,)`.
        low: The lower edge of the first bin.
        high: The upper edge of the last bin.
        percentile: Per cent of the values to keep; both tails lose the same share.
    """
    edges, cumulative = np.linspace(low, high, len(counts) + 1), np.cumsum(counts) / max(counts.sum(), 1)
    tail = (1 - percentile / 100) / 2
    first, last = np.searchsorted(cumulative, tail, "right"), np.searchsorted(cumulative, 1 - tail, "left")
    return float(edges[min(first, len(counts) - 1)]), float(edges[min(last, len(counts) - 1) + 1])


def mse_range(counts: np.ndarray, low: float, high: float) -> tuple[float, float]:
    """Return the range whose 8-bit grid has the least squared error; both ends are searched independently.

    Args:
        counts: A histogram with bins of equal width, `(bins,)`.
        low: The lower edge of the first bin.
        high: The upper edge of the last bin.
    """
    edges = np.linspace(low, high, len(counts) + 1)
    occupied = counts > 0
    values, weights = ((edges[:-1] + edges[1:]) / 2)[occupied], counts[occupied].astype(np.float64)
    least_error, best_range = np.inf, (low, high)
    for minimum in low * _MSE_FRACTIONS if low < 0 else [0.0]:
        for maximum in high * _MSE_FRACTIONS if high > 0 else [0.0]:
            error = _squared_error(values, weights, float(minimum), float(maximum))
            if error < least_error:
                least_error, best_range = error, (float(minimum), float(maximum))
    return best_range


def _squared_error(values: np.ndarray, weights: np.ndarray, low: float, high: float) -> float:
    scale = max((high - low) / 255, 1e-12)
    lowest = np.round(low / scale)
    quantized = np.clip(np.round(values / scale), lowest, lowest + 255) * scale
    return float(np.dot(np.square(quantized - values), weights))


def _parse_float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
