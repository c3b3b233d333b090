"""Signal and noise of a tensor in 8 bits: over all of its values, and over its typical channel and row. NumPy only."""

from dataclasses import dataclass

import numpy as np

_LEAST = 1e-60  # a sum of squares: logarithms of it are finite
LOST = 10.0  # dB: below this, noise is a third of the signal and more


@dataclass(frozen=True)
class SignalToNoise:
    """Signal-to-noise ratios in dB, infinite where nothing was lost.

    Attributes:
      whole: over all values. A channel or row of large values decides it, whatever happens to the others.
      channel: of the median channel.
      row: of the median row: of a token, or of a kernel's input.
      lost_channels: share of channels below `LOST` dB.
    """

    whole: float
    channel: float
    row: float
    lost_channels: float

    @property
    def least(self) -> float:
        """The smallest of the three: large values are cut off, or hide what the others lose."""
        return min(self.whole, self.channel, self.row)


def signal_to_noise(signal: np.ndarray, found: np.ndarray, rows: bool = True) -> SignalToNoise:
    """Compares `found` with `signal`, both (rows, channels). Channels and rows that are all zeros, and stay so, lose nothing.

    rows: False where a row is no unit of its own; its ratio then is that of all values.
    """
    noise = found - signal
    channel = _decibels(*(_sums(values, "ij,ij->j") for values in (signal, noise)))
    whole = decibels(signal, found)
    row = float(_median(_decibels(*(_sums(values, "ij,ij->i") for values in (signal, noise))))) if rows else whole
    return SignalToNoise(whole, float(_median(channel)), row, float((channel < LOST).mean()))


def decibels(signal: np.ndarray, found: np.ndarray) -> float:
    """The ratio over all values, in dB."""
    return float(_decibels(_sums(signal.ravel(), "i,i->"), _sums((found - signal).ravel(), "i,i->")))


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    """The cosine of all values; 1 for two tensors of zeros."""
    norms = float(np.sqrt(_sums(one.ravel(), "i,i->") * _sums(other.ravel(), "i,i->")))
    product = float(np.einsum("i,i->", one.ravel(), other.ravel(), dtype=np.float64))
    return product / norms if norms else float(not (one.any() or other.any()))


def _sums(values: np.ndarray, how: str) -> np.ndarray:
    """Sums of squares in float64."""
    return np.einsum(how, values, values, dtype=np.float64)


def _decibels(power: np.ndarray, noise: np.ndarray) -> np.ndarray:
    ratio = 10 * (np.log10(np.maximum(power, _LEAST)) - np.log10(np.maximum(noise, _LEAST)))
    return np.where(noise == 0, np.inf, np.where(np.isfinite(noise), ratio, -np.inf))


def _median(values: np.ndarray) -> float:
    """The lower of the two middle ones: a mean of infinities is none."""
    return np.percentile(values, 50, method="lower")
