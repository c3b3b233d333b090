import numpy as np
import pytest
import scipy.stats

from kerasbert.errors import KerasBertError
from kerasbert.export.metrics import (
    Metric,
    check_labels,
    compare,
    micro_f1,
    pair_cosine,
    pearson,
    spearman,
    task_metric,
)
from kerasbert.export.sources import guess_problem, label_array


def test_correlations_are_those_of_scipy():
    draw = np.random.default_rng(0)
    a, b = draw.integers(0, 6, 200).astype(float), draw.normal(size=200)
    b += a
    assert spearman(a, b) == pytest.approx(scipy.stats.spearmanr(a, b).statistic, abs=1e-12)
    assert pearson(a, b) == pytest.approx(scipy.stats.pearsonr(a, b).statistic, abs=1e-12)


def test_a_collapsed_side_correlates_with_nothing():
    assert pearson(np.arange(5.0), np.zeros(5)) == 0.0
    assert pearson(np.ones(5), np.ones(5)) == 1.0


def test_compare_classes():
    reference = np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]])
    model = np.array([[0.8, 0.2], [0.6, 0.4], [0.3, 0.7]])
    found = compare("probabilities", reference, model, "single_label")
    assert found.max_error == pytest.approx(0.2) and found.mean_error == pytest.approx(0.1)
    assert found.agreement == pytest.approx(2 / 3) and found.correlation is None


def test_compare_labels_counts_decisions():
    found = compare(
        "probabilities", np.array([[0.9, 0.9], [0.1, 0.1]]), np.array([[0.9, 0.4], [0.1, 0.1]]), "multi_label"
    )
    assert found.agreement == 0.75


def test_compare_scores_and_zero_vectors():
    scores = compare("score", np.array([[1.0], [2.0], [3.0]]), np.array([[3.0], [2.0], [1.0]]), "regression")
    assert scores.correlation == pytest.approx(-1) and scores.agreement is None
    vectors = compare("embedding", np.ones((2, 4)), np.zeros((2, 4)), "embedding")
    assert vectors.cosine == 0 and vectors.agreement is None


def test_compare_counts_rows_that_are_not_finite():
    found = compare("score", np.ones((3, 1)), np.array([[1.0], [np.nan], [np.inf]]), "regression")
    assert found.broken == 2 and found.max_error == 0


def test_task_metrics():
    outputs = np.eye(3)[[0, 1, 2, 0]]
    (accuracy,) = task_metric("single_label", np.array([0, 1, 2, 1]), outputs, np.eye(3)[[0, 0, 2, 0]])
    assert (accuracy.reference, accuracy.model, accuracy.share) == (0.75, 0.5, pytest.approx(2 / 3))
    assert micro_f1(np.array([[1, 0], [1, 1]]), np.array([[0.9, 0.9], [0.1, 0.6]])) == pytest.approx(2 * 2 / (3 + 3))
    assert Metric("accuracy", 0.0, 0.0).share == 1.0
    np.testing.assert_allclose(pair_cosine(np.eye(2), np.array([[2.0, 0], [1, 0]])), [[1], [0]])


def test_labels_must_fit():
    with pytest.raises(KerasBertError, match="-1"):
        check_labels("single_label", np.array([0, -1]), 3)
    with pytest.raises(KerasBertError, match=r"\(N, 3\)"):
        check_labels("multi_label", np.zeros((2, 4)), 3)


def test_label_arrays():
    assert label_array(["b", "a"], "single_label", ("a", "b")).tolist() == [1, 0]
    assert label_array(["1", "0"], "single_label", ("a", "b")).tolist() == [1, 0]
    assert label_array(["1.5", "2"], "regression", None).tolist() == [1.5, 2]
    assert label_array([["a"], [], ["a", "b"]], "multi_label", ("a", "b")).tolist() == [[1, 0], [0, 0], [1, 1]]
    with pytest.raises(KerasBertError, match="0.5"):
        label_array([0.5], "single_label", None)
    with pytest.raises(KerasBertError, match="numbers"):
        label_array(["high"], "regression", None)
    with pytest.raises(KerasBertError, match="'c' in row 1"):
        label_array([["a"], ["c"]], "multi_label", ("a", "b"))


def test_guess_problem():
    assert guess_problem({"probabilities": np.array([[0.2, 0.8]])}) == "single_label"
    assert guess_problem({"probabilities": np.array([[0.9, 0.8]])}) == "multi_label"
    assert guess_problem({"score": np.array([[3.0]])}) == "regression"
    assert guess_problem({"embedding": np.ones((1, 4))}) == "embedding"
