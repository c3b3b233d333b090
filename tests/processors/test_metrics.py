"""Against scikit-learn and SciPy, on random cases and on numbers that are hard for float64."""

import numpy as np
import pytest
import scipy.spatial.distance
import scipy.stats
import sklearn.metrics

from kerasbert.errors import KerasBertError
from kerasbert.processors import make_processor, metrics
from kerasbert.processors.labelled_outputs import check_finite

CASES = range(300)


@pytest.mark.long_cases("[3")
@pytest.mark.parametrize("classes", [2, 3, 6])
def test_class_metrics_are_scikit_learns(classes):
    draw = np.random.default_rng(classes)
    for _ in CASES:
        rows = int(draw.integers(1, 40))
        truth, found = draw.integers(0, classes, rows), draw.integers(0, classes, rows)
        theirs = sklearn.metrics.f1_score(truth, found, average="macro", zero_division=0)
        assert metrics.macro_f1(truth, found) == pytest.approx(theirs, abs=1e-12)
        assert metrics.accuracy(truth, found) == sklearn.metrics.accuracy_score(truth, found)
        positive = truth == 1, found == 1
        assert metrics.f1(*positive) == pytest.approx(sklearn.metrics.f1_score(*positive, zero_division=0), abs=1e-12)
        if np.unique(positive).size > 1:  # of a single class scikit-learn warns
            assert metrics.matthews(*positive) == pytest.approx(sklearn.metrics.matthews_corrcoef(*positive), abs=1e-12)


@pytest.mark.parametrize("rows", [2, 3, 7, 10, 49, 872, 10_000])
def test_mcc_of_perfect_and_of_opposite_predictions_is_exact(rows):
    truth = np.arange(rows) % 3 == 0
    assert (metrics.matthews(truth, truth), metrics.matthews(truth, ~truth)) == (1.0, -1.0)
    assert metrics.matthews(truth, np.ones(rows, bool)) == 0.0


def test_a_class_that_is_only_predicted_counts():
    processor = make_processor("single_label", ("a", "b", "c"))
    raw_results = [{"probabilities": np.eye(3)[[number]]} for number in (0, 1, 2)]
    assert processor.metrics(["a", "b", "b"], ["x"] * 3, None, raw_results)["macro F1"] == pytest.approx(
        (1 + 2 / 3 + 0) / 3
    )


@pytest.mark.long_cases("1.0]", "e-300")
@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e-7, 1.0, 1e200])
@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_correlations_are_those_of_scipy_at_any_scale(scale, offset):
    draw = np.random.default_rng(3)
    for _ in CASES:
        rows = int(draw.integers(3, 40))
        a, noise = draw.normal(size=(2, rows))
        a, b = scale * (a + offset), scale * (a + draw.choice([0.1, 3]) * noise + offset)
        assert metrics.pearson(a, b) == pytest.approx(scipy.stats.pearsonr(a, b).statistic, abs=1e-9)
        assert metrics.spearman(a, b) == pytest.approx(scipy.stats.spearmanr(a, b).statistic, abs=1e-9)


@pytest.mark.parametrize("spread", [1e-6, 1e-8])
def test_correlations_of_nearly_constant_vectors(spread):
    draw = np.random.default_rng(4)
    for _ in CASES:
        a, b = 1 + spread * draw.normal(size=(2, 20))
        assert abs(metrics.pearson(a, b)) < 0.9  # they have nothing in common but 1
        assert metrics.pearson(a, b) == pytest.approx(scipy.stats.pearsonr(a, b).statistic, abs=1e-6)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e-300, 1e300])
def test_the_correlation_with_a_constant_is_zero(constant):
    """0.1 seven times has a mean that is not 0.1."""
    same = np.full(7, constant)
    for other in (np.arange(7.0), same):
        assert metrics.pearson(same, other) == metrics.pearson(other, same) == metrics.spearman(same, other) == 0.0


@pytest.mark.parametrize("scale", [1e-300, 1e-7, 1.0, 1e200])
def test_cosines_are_those_of_scipy_at_any_scale(scale):
    first, second = np.random.default_rng(5).normal(size=(2, 50, 8))
    theirs = [1 - scipy.spatial.distance.cosine(a, b) for a, b in zip(first, second, strict=True)]
    assert metrics.cosine(scale * first, scale * second) == pytest.approx(theirs, abs=1e-12)


def test_cosines_of_zero_vectors():
    zero, one = np.zeros((1, 3)), np.ones((1, 3))
    assert metrics.cosine(zero, zero) == 1 and metrics.cosine(zero, one) == metrics.cosine(one, zero) == 0


def test_the_correlation_of_infinite_values_is_nan():
    assert np.isnan(metrics.pearson(np.array([1.0, np.nan, 2.0]), np.arange(3.0)))


def test_outputs_that_are_not_finite_are_rejected():
    """An arg-max of NaN is the first class, and may well be right."""
    good, bad = {"probabilities": np.eye(2)[:1]}, {"probabilities": np.array([[np.nan, np.nan]])}
    check_finite([good, good])
    with pytest.raises(KerasBertError, match="NaN or infinity in 'probabilities' on 1 of 3 rows, the first is row 1"):
        check_finite([good, bad, good])
