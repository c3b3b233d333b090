"""Where the sums of squares of a norm are cut in two: on one 8-bit grid those of most rows, on a coarser one those of a few long rows.

The step of one grid for all is the largest sum divided by 255. Where [CLS] is ten or twenty times as long as other rows, their sums then
are two or three steps, and their norms wrong by a tenth.
"""

import numpy as np
import tensorflow as tf

from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant
from kerasbert.layers.quantization.norms import SQUARES, IntegerLayerNorm

_BINS = 2048
_SPAN = 16.0  # of the logarithms that are counted, down from that of the largest sum
_GOOD_ENOUGH = 0.01  # the error of inverse roots on one grid, as a share, that a second one is not worth
_REACHES = 2.0 ** (-np.arange(1, 129) / 16)  # of the largest sum, that are tried
_DRIFT = (0.85, 1.0, 1.15)  # of the sums, in which other data and training may move them


class OutlierTokens:
    """An observer of the norms' sums of squares: how often which was seen, by its logarithm, below the largest, which is known already."""

    before_scaling = False

    def __init__(self, norms: list[IntegerLayerNorm]):
        points = [(norm.quantizers[SQUARES[0]], norm) for norm in norms]
        self._norms = {point.path: norm for point, norm in points if point.kind == "static"}
        self._counts: dict[tuple[str, int], tf.Variable] = {}

    @property
    def paths(self) -> list[str]:
        """Of the points that it observes."""
        return list(self._norms)

    def __call__(self, point: ActivationFakeQuant, x):
        if point.path not in self._norms:
            return x
        key = (point.path, point.call_index)
        if key not in self._counts:
            with tf.init_scope():
                self._counts[key] = tf.Variable(tf.zeros(_BINS, tf.int64))
        largest = tf.math.log(point.maximum)
        logarithms = tf.math.log(tf.maximum(tf.reshape(tf.cast(x, tf.float32), [-1]), 1e-30))
        bounds = tf.stack([largest - _SPAN, largest])
        self._counts[key].assign_add(tf.histogram_fixed_width(logarithms, bounds, _BINS, tf.int64))
        return x

    def set_grids(self) -> None:
        """Gives each call of a norm its grids: a second one where that is worth it."""
        for (path, call), counted in self._counts.items():
            norm, counts = self._norms[path], counted.numpy()
            largest = float(norm.quantizers[SQUARES[0]].ranges[call][1])
            sums = largest * np.exp(((np.arange(_BINS) + 0.5) / _BINS - 1) * _SPAN)
            reach = best_reach(sums[counts > 0], counts[counts > 0], largest)
            norm.set_squares(call, reach or largest * _DRIFT[-1], reach is not None)


def best_reach(sums: np.ndarray, counts: np.ndarray, largest: float) -> float | None:
    """Up to where the finer grid goes, for the least error of the inverse roots; None where one grid up to `largest` does as well.

    sums, counts: which sums of squares there are, and how many of each.
    """
    floor = largest / 255
    on_one = _error(sums, counts, np.maximum(_on_grid(sums, floor), floor))
    errors = [
        np.mean([_error(sums * drift, counts, _on_two_grids(sums * drift, largest * reach)) for drift in _DRIFT])
        for reach in _REACHES
    ]
    if on_one < _GOOD_ENOUGH or min(errors) > on_one / 2:
        return None
    return float(largest * _REACHES[int(np.argmin(errors))])


def _on_grid(values: np.ndarray, step: float) -> np.ndarray:
    return np.minimum(np.round(values / step), 255) * step


def _on_two_grids(sums: np.ndarray, reach: float) -> np.ndarray:
    """What the inverse roots are taken of: the larger one of both grids' values."""
    fine = np.maximum(_on_grid(sums, reach / 255), reach / 255)
    return np.maximum(fine, _on_grid(sums, 2 * reach))


def _error(sums: np.ndarray, counts: np.ndarray, held: np.ndarray) -> float:
    """The root of the mean squared error of inverse roots, as a share of them."""
    return float(np.sqrt(np.average(np.square(np.sqrt(sums / held) - 1), weights=counts)))
