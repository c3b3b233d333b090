import numpy as np
import pytest
import scipy.stats

from kerasbert.export.validation.comparison import Metric, compare
from kerasbert.export.validation.reference import guess_processor
from kerasbert.processors.metrics import micro_f1, pearson, spearman


def test_correlations_are_those_of_scipy():
    draw = np.random.default_rng(0)
    a, b = draw.integers(0, 6, 200).astype(float), draw.normal(size=200)
    b += a
    assert spearman(a, b) == pytest.approx(scipy.stats.spearmanr(a, b).statistic, abs=1e-12)
    assert pearson(a, b) == pytest.approx(scipy.stats.pearsonr(a, b).statistic, abs=1e-12)


def test_a_constant_reference_has_no_correlation():
    assert pearson(np.arange(5.0), np.zeros(5)) == 0.0
    assert pearson(np.ones(5), np.ones(5)) == 0.0


def test_compare_classes():
    reference = np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]])
    model = np.array([[0.8, 0.2], [0.6, 0.4], [0.3, 0.7]])
    found = compare("probabilities", [(reference, model)], "single_label")
    assert found.max_error == pytest.approx(0.2) and found.mean_error == pytest.approx(0.1)
    assert found.agreement == pytest.approx(2 / 3) and found.correlation is None


def test_compare_labels_counts_decisions():
    sides = np.array([[0.9, 0.9], [0.1, 0.1]]), np.array([[0.9, 0.4], [0.1, 0.1]])
    found = compare("probabilities", [sides], "multi_label")
    assert found.agreement == 0.75


def test_compare_scores_and_zero_vectors():
    scores = compare("score", [(np.array([[1.0], [2.0], [3.0]]), np.array([[3.0], [2.0], [1.0]]))], "regression")
    assert scores.correlation == pytest.approx(-1) and scores.agreement is None
    vectors = compare("embedding", [(np.ones((2, 4)), np.zeros((2, 4)))], "embedding")
    assert vectors.cosine == 0 and vectors.agreement is None


def test_compare_counts_rows_that_are_not_finite():
    found = compare("score", [(np.ones((3, 1)), np.array([[1.0], [np.nan], [np.inf]]))], "regression")
    assert found.broken == 2 and found.lines == 3 and found.max_error == 0


@pytest.mark.parametrize("compared_as", ["single_label", "regression", "embedding"])
def test_comparing_in_parts_equals_comparing_at_once(compared_as):
    draw = np.random.default_rng(0)
    width = 1 if compared_as == "regression" else 4
    reference = draw.normal(size=(20, width))
    model = reference + draw.normal(0, 0.5, reference.shape)
    whole = compare("x", [(reference, model)], compared_as)
    parts = compare("x", [(reference[i : i + 7], model[i : i + 7]) for i in (0, 7, 14)], compared_as)
    assert vars(parts) == {key: pytest.approx(value) for key, value in vars(whole).items()}


def test_lines_of_several_widths():
    """A place among as many as the text has."""
    sides = (np.eye(3)[:1], np.eye(3)[1:2]), (np.eye(5)[:1], np.eye(5)[:1])
    assert compare("start_logits", sides, "single_label").agreement == 0.5


def test_metrics():
    assert micro_f1(np.array([[1, 0], [1, 1]]), np.array([[0.9, 0.9], [0.1, 0.6]])) == pytest.approx(2 * 2 / (3 + 3))
    assert np.isnan(Metric("accuracy", 0.0, 0.0).share) and np.isnan(Metric("accuracy", 0.0, 0.5).share)
    assert Metric("accuracy", 0.8, 0.6).share == pytest.approx(0.75)


def test_guess_processor():
    def guess(name, *shape, fill=0.5):
        return guess_processor({name: np.full(shape, fill)}).name

    assert guess("probabilities", 1, 2) == "single_label"
    assert guess("probabilities", 1, 2, fill=0.9) == "multi_label"
    assert guess("score", 1, 1) == "regression" and guess("embedding", 1, 4) == "embedding"
    assert guess("probabilities", 1, 8, 3) == "tagging" and guess("start_logits", 1, 8) == "question_answering"
    assert guess("logits", 1, 1) == "multiple_choice" and guess("logits", 1, 8, 40) == "masked_lm"
    assert guess_processor({"probabilities": np.full((1, 3), 1 / 3)}).labels == ("0", "1", "2")
