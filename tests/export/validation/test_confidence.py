import math

import numpy as np
import pytest
import scipy.stats

from kerasbert.export.validation.confidence import (
    correlation_bounds,
    half_width,
    independent_decisions,
    rows_until,
    share_bounds,
)

TWO_SIDED = 0.9  # of which 5 % lie on each side


@pytest.mark.parametrize(
    ("same", "decisions"), [(0, 5), (1, 1), (18, 20), (62, 64), (64, 64), (420, 430), (1, 1000), (9800, 10000)]
)
def test_shares_have_the_exact_interval(same, decisions):
    theirs = scipy.stats.binomtest(same, decisions).proportion_ci(TWO_SIDED, method="exact")
    assert share_bounds(same / decisions, decisions) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_shares_of_very_many_decisions_have_wilsons_interval():
    theirs = scipy.stats.binomtest(29_400, 30_000).proportion_ci(TWO_SIDED, method="wilson")
    assert share_bounds(0.98, 30_000) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    exact = scipy.stats.binomtest(29_400, 30_000).proportion_ci(TWO_SIDED, method="exact")
    assert share_bounds(0.98, 30_000) == pytest.approx((exact.low, exact.high), abs=3e-5)


def test_correlations_have_fishers_interval():
    a, noise = np.random.default_rng(0).normal(size=(2, 50))
    theirs = scipy.stats.pearsonr(a, a + noise)
    interval = theirs.confidence_interval(TWO_SIDED)
    assert correlation_bounds(theirs.statistic, 50) == pytest.approx((interval.low, interval.high), abs=1e-9)
    assert correlation_bounds(1.0, 3) == (-1.0, 1.0) and correlation_bounds(1.0, 10)[0] > 0.99


def test_bounds_without_rows_are_the_widest():
    assert share_bounds(1.0, 0) == (0.0, 1.0) and half_width(0.0, 1.0, 0) == math.inf


@pytest.mark.parametrize("rows", [30, 150, 430])
@pytest.mark.parametrize(
    ("lost", "won"), [(0.005, 0.0), (0.01, 0.0), (0.018, 0.0), (0.02, 0.005), (0.03, 0.03), (0.1, 0.05)]
)
def test_bounds_of_an_accuracy_loss_hold_with_their_confidence(rows, lost, won):
    """By the exact probability of every number of rows that only one side gets right."""
    most = [int(rows * p + 8 * math.sqrt(rows * p + 1)) + 1 for p in (lost, won)]
    found = np.array([(b, c) for b in range(min(most[0], rows)) for c in range(min(most[1], rows - b) if won else 1)])
    left = rows - found.sum(axis=1)
    chances = scipy.stats.multinomial.pmf(np.column_stack([found, left]), rows, [lost, won, 1 - lost - won])
    loss = (found[:, 0] - found[:, 1]) / rows
    deviation = np.sqrt(found.sum(axis=1) / rows - loss**2)
    width = np.array([half_width(each, 1.0, rows) for each in deviation])
    assert chances.sum() == pytest.approx(1, abs=1e-6)
    for holds in (loss + width >= lost - won, loss - width <= lost - won):
        assert chances[holds].sum() >= 0.949


def test_width_without_differences_is_that_of_the_exact_interval():
    for rows in (100, 400, 2000):
        assert half_width(0.0, 1.0, rows) == pytest.approx(1 - share_bounds(1.0, rows)[0], rel=0.03)


def test_correlated_decisions_count_less():
    sizes = np.full(50, 10)
    together, alone = np.full(50, 10), np.full(50, 10)
    together[:5], alone[:] = 0, 9
    assert independent_decisions(together, sizes) == pytest.approx(50, rel=0.05)
    assert independent_decisions(alone, sizes) == independent_decisions(sizes, sizes) == 500


def test_rows_until_decided():
    assert rows_until(lambda rows: rows >= 133, 64) == 133 - 64
    assert rows_until(lambda rows: False, 64) is None
