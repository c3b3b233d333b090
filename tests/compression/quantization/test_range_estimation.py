"""From histograms to ranges."""

import numpy as np
import pytest

from kerasbert.compression.quantization.range_estimation import BINS, mse_range, percentile_range, range_estimator
from kerasbert.errors import KerasBertError


def histogram(values, low, high):
    return np.histogram(values, BINS, (low, high))[0]


@pytest.fixture(scope="module")
def values():
    """Bell-shaped, with one value in ten thousand at 20 times the deviation."""
    draw = np.random.default_rng(0)
    found = draw.normal(0, 1, 100_000)
    found[::10_000] = 20.0
    return found


def test_percentile_excludes_outliers(values):
    low, high = float(values.min()), float(values.max())
    least, most = percentile_range(histogram(values, low, high), low, high, 99.9)
    inside = ((values >= least) & (values <= most)).mean()
    assert 0.998 < inside < 1.0 and most < 5 < high and least >= low
    assert percentile_range(histogram(values, low, high), low, high, 100) == pytest.approx((low, high))


def test_mse_grid_beats_the_min_max_grid(values):
    low, high = float(values.min()), float(values.max())
    least, most = mse_range(histogram(values, low, high), low, high)

    def error(least, most):
        step = (most - least) / 255
        zero = np.round(least / step)
        return np.square(np.clip(np.round(values / step), zero, zero + 255) * step - values).mean()

    assert low <= least < 0 < most <= high
    assert error(least, most) < error(low, high)


def test_mse_of_values_with_one_sign():
    values = np.random.default_rng(1).uniform(0, 3, 10_000)
    least, most = mse_range(histogram(values, 0.0, 3.0), 0.0, 3.0)
    assert least == 0 and most > 2.9  # evenly spread: nothing to cut


@pytest.mark.parametrize("name", ["median", "percentile:half", "percentile:10", "percentile:101", "mse:3", ""])
def test_unknown_methods_are_refused(name):
    with pytest.raises(KerasBertError, match="expected") as error:
        range_estimator(name)
    assert "\n" not in str(error.value) and repr(name) in str(error.value)


def test_min_max_changes_nothing():
    assert range_estimator("min-max") is None
