"""Calibration of the two grids of a norm's sums of squares: a fine one for most tokens, a coarse one for a few outlier tokens.

The scale of a single grid is the largest sum divided by 255. In many BERTs the norm of [CLS] is ten or twenty times that of other tokens.
Their sums are then two or three scales, and their normalized values are off by a tenth. Hence twin uniform quantization (Yuan et al. 2022,
"PTQ4ViT").
"""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant, StaticFakeQuant
from kerasbert.layers.quantization.norms import SQUARES, IntegerLayerNorm

_BINS = 2048
_LOG_SPAN = 16.0  # width of the histogram of logarithms, below the logarithm of the largest sum
_TOLERATED_ERROR = 0.01  # a relative error of inverse roots that does not justify a second grid
_LIMIT_FRACTIONS = 2.0 ** (
    -np.arange(1, 129) / 16
)  # candidate limits of the fine grid, as fractions of the largest sum
_DRIFT = (0.85, 1.0, 1.15)  # factors by which other data and training may change the sums


class OutlierTokenObserver:
    """Observer of the logarithms of norms' sums of squares, below the largest sum, which is known already."""

    before_scaling = False

    def __init__(self, norms: Sequence[IntegerLayerNorm]):
        pairs = [(norm.quantizers[SQUARES[0]], norm) for norm in norms]
        self._norms = {quantizer.path: norm for quantizer, norm in pairs if quantizer.kind == "static"}
        self._counts: dict[tuple[str, int], tf.Variable] = {}

    @property
    def paths(self) -> list[str]:
        """Paths of the observed quantizers."""
        return list(self._norms)

    def __call__(self, quantizer: ActivationFakeQuant, values: tf.Tensor) -> tf.Tensor:
        if quantizer.path not in self._norms or not isinstance(quantizer, StaticFakeQuant):
            return values
        key = (quantizer.path, quantizer.call_index)
        if key not in self._counts:
            with tf.init_scope():
                self._counts[key] = tf.Variable(tf.zeros(_BINS, tf.int64))
        largest = tf.math.log(quantizer.maximum)
        logarithms = tf.math.log(tf.maximum(tf.reshape(tf.cast(values, tf.float32), [-1]), 1e-30))
        bounds = tf.stack([largest - _LOG_SPAN, largest])
        self._counts[key].assign_add(tf.histogram_fixed_width(logarithms, bounds, _BINS, tf.int64))
        return values

    def set_grids(self) -> None:
        """Set the grids of each call of each norm: a second one where it reduces the error enough."""
        for (path, call), variable in self._counts.items():
            norm, counts = self._norms[path], variable.numpy()
            largest = float(norm.quantizers[SQUARES[0]].ranges[call][1])
            sums = largest * np.exp(((np.arange(_BINS) + 0.5) / _BINS - 1) * _LOG_SPAN)
            limit = fine_grid_limit(sums[counts > 0], counts[counts > 0], largest)
            norm.set_squares(call, limit or largest * _DRIFT[-1], limit is not None)


def fine_grid_limit(sums: np.ndarray, counts: np.ndarray, largest: float) -> float | None:
    """Return the limit of the fine grid with the least error of inverse roots, or None where one grid is good enough.

    Args:
        sums: Distinct sums of squares.
        counts: Number of occurrences of each of them.
        largest: The largest sum, the limit of a single grid.
    """
    floor = largest / 255
    single_grid_error = _relative_error(sums, counts, np.maximum(_on_grid(sums, floor), floor))
    errors = [
        np.mean(
            [_relative_error(sums * drift, counts, _on_two_grids(sums * drift, largest * fraction)) for drift in _DRIFT]
        )
        for fraction in _LIMIT_FRACTIONS
    ]
    if single_grid_error < _TOLERATED_ERROR or min(errors) > single_grid_error / 2:
        return None
    return float(largest * _LIMIT_FRACTIONS[int(np.argmin(errors))])


def _on_grid(values: np.ndarray, scale: float) -> np.ndarray:
    return np.minimum(np.round(values / scale), 255) * scale


def _on_two_grids(sums: np.ndarray, limit: float) -> np.ndarray:
    """The larger of both grids' values, from which the norm takes the inverse root."""
    fine = np.maximum(_on_grid(sums, limit / 255), limit / 255)
    return np.maximum(fine, _on_grid(sums, 2 * limit))


def _relative_error(sums: np.ndarray, counts: np.ndarray, quantized: np.ndarray) -> float:
    """The root mean squared relative error of the inverse roots."""
    return float(np.sqrt(np.average(np.square(np.sqrt(sums / quantized) - 1), weights=counts)))
