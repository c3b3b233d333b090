"""Signal-to-noise ratios of quantized tensors: over all values, of the median channel and of the median row. NumPy only."""

from dataclasses import dataclass

import numpy as np

_LEAST = 1e-60  # floor of a sum of squares, so that its logarithm is finite
LOST = 10.0  # dB: below this the noise is at least a third of the signal


@dataclass(frozen=True)
class SignalToNoise:
    """Signal-to-noise ratios in dB, infinite for zero noise.

    Attributes:
        whole: Over all values. Channels and rows with large values dominate it.
        channel: Of the median channel.
        row: Of the median row: a token, or an input of a kernel.
        lost_channels: Fraction of channels below `LOST` dB.
    """

    whole: float
    channel: float
    row: float
    lost_channels: float

    @property
    def least(self) -> float:
        """The smallest of the three ratios."""
        return min(self.whole, self.channel, self.row)


def signal_to_noise(signal: np.ndarray, noisy: np.ndarray, rows: bool = True) -> SignalToNoise:
    """Compare a quantized tensor with the float one.

    Channels and rows of zeros that stay zeros have no noise.

    Args:
        signal: The float tensor, `(rows, channels)`.
        noisy: The quantized tensor, of the same shape.
        rows: Whether rows are tokens or inputs. If not, the row ratio is that of all values.
    """
    noise = noisy - signal
    channel = _decibels(*(_sum_of_squares(values, "ij,ij->j") for values in (signal, noise)))
    whole = decibels(signal, noisy)
    row = whole
    if rows:
        row = float(_lower_median(_decibels(*(_sum_of_squares(values, "ij,ij->i") for values in (signal, noise)))))
    return SignalToNoise(whole, float(_lower_median(channel)), row, float((channel < LOST).mean()))


def decibels(signal: np.ndarray, noisy: np.ndarray) -> float:
    """Return the signal-to-noise ratio over all values, in dB."""
    return float(
        _decibels(_sum_of_squares(signal.ravel(), "i,i->"), _sum_of_squares((noisy - signal).ravel(), "i,i->"))
    )


def cosine(first: np.ndarray, second: np.ndarray) -> float:
    """Return the cosine similarity over all values; 1 for two tensors of zeros."""
    norms = float(np.sqrt(_sum_of_squares(first.ravel(), "i,i->") * _sum_of_squares(second.ravel(), "i,i->")))
    product = float(np.einsum("i,i->", first.ravel(), second.ravel(), dtype=np.float64))
    return product / norms if norms else float(not (first.any() or second.any()))


def _sum_of_squares(values: np.ndarray, subscripts: str) -> np.ndarray:
    """Sums of squares in float64, over the axes that the `einsum` subscripts sum."""
    return np.einsum(subscripts, values, values, dtype=np.float64)


def _decibels(power: np.ndarray, noise: np.ndarray) -> np.ndarray:
    ratio = 10 * (np.log10(np.maximum(power, _LEAST)) - np.log10(np.maximum(noise, _LEAST)))
    return np.where(noise == 0, np.inf, np.where(np.isfinite(noise), ratio, -np.inf))


def _lower_median(values: np.ndarray) -> np.floating:
    """The lower of the two middle values: a mean of infinities of both signs is not a number."""
    return np.percentile(values, 50, method="lower")
