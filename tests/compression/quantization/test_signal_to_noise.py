"""What is lost over all values, in the typical channel and in the typical row."""

import numpy as np
import pytest

from kerasbert.compression.quantization.observers import attended_values
from kerasbert.compression.quantization.signal_to_noise import cosine, decibels, signal_to_noise


@pytest.fixture
def values():
    return np.random.default_rng(0).normal(size=(200, 32)).astype(np.float32)


def in_steps_of(values, step):
    return np.round(values / step) * step


def test_decibels_and_cosine_are_those_of_the_formula(values):
    found = in_steps_of(values, 0.1)
    expected = 10 * np.log10((values.astype(float) ** 2).sum() / ((found.astype(float) - values) ** 2).sum())
    assert decibels(values, found) == pytest.approx(expected, abs=1e-3)
    assert cosine(values, 3 * values) == pytest.approx(1) and cosine(values, -values) == pytest.approx(-1)
    assert cosine(values * 0, values * 0) == 1 and cosine(values * 0, values) == 0


def test_median_channel_ratio_sees_losses_beside_a_huge_channel(values):
    values[:, 5] *= 1000
    found = signal_to_noise(values, in_steps_of(values, np.abs(values).max() / 127))
    assert found.whole > 35  # almost all energy is in one channel
    assert found.channel < 3 and found.least == found.channel and found.lost_channels == 31 / 32


def test_median_row_ratio_sees_losses_beside_a_huge_row(values):
    values[7] *= 1000
    found = signal_to_noise(values, in_steps_of(values, np.abs(values).max() / 127))
    assert found.whole > 30 and found.channel > 30
    assert found.row < 3 and found.least == found.row
    assert signal_to_noise(values, in_steps_of(values, 10.0), rows=False).row > 30  # rows that are no unit


def test_clipping_lowers_the_overall_ratio(values):
    values[:, 5] *= 1000
    found = signal_to_noise(values, np.clip(values, -3, 3))
    assert found.least == found.whole < 1 < found.channel


def test_zero_noise_and_zero_signal(values):
    assert signal_to_noise(values, values).least == np.inf
    values[:, :20] = 0
    assert signal_to_noise(values, in_steps_of(values, 0.1)).channel == np.inf  # zeros stay zeros
    assert signal_to_noise(values * 1e15, values * 1e15).least == np.inf
    assert np.isfinite(signal_to_noise(values * 1e15, in_steps_of(values * 1e15, 1e14)).least)
    broken = np.full_like(values, np.nan)
    assert signal_to_noise(values, broken).least == -np.inf


def test_padding_is_excluded():
    attended = np.array([[True, True, False], [True, False, False]])
    hidden = np.arange(12.0).reshape(2, 3, 2)
    assert attended_values(hidden, attended)[0].tolist() == [[0, 1], [2, 3], [6, 7]]
    scores = np.zeros((2, 4, 3, 3))
    scores[0, :, :2, :2] = scores[1, :, :1, :1] = np.arange(4)[:, None, None]
    found, units = attended_values(scores, attended)
    assert found.tolist() == [[0, 1, 2, 3]] * 5 and not units  # heads are the channels
    assert attended_values(np.ones((2, 7)), attended)[0].shape == (2, 7)
