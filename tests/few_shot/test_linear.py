"""Layers over vectors: the nearest centre, logistic regression against scikit-learn, and what is chosen by cross-validation."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from kerasbert.errors import KerasBertError
from kerasbert.few_shot.choice import held_out, scale_of, scaled
from kerasbert.few_shot.linear import COSINE_SCALE, centres, logistic
from kerasbert.processors.fallback import threshold_of
from kerasbert.processors.few_shot import Linear


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def clouds(rows, width=24, classes=5, seed=0, spread=0.9):
    """Vectors around one direction for each class, with a constant that all share, as sentence vectors have."""
    random = np.random.default_rng(seed)
    directions = unit(np.random.default_rng(9).normal(size=(classes, width))) + 0.5
    numbers = np.arange(rows) % classes
    vectors = directions[numbers] + random.normal(0, spread / np.sqrt(width), (rows, width))
    return unit(vectors).astype(np.float32), numbers


def test_the_nearest_centre_has_the_highest_probability():
    vectors, classes = clouds(40)
    means = unit(np.stack([vectors[classes == number].mean(axis=0) for number in range(5)]))
    others, _ = clouds(60, seed=1)
    shares = centres(vectors, classes, 5).probabilities(others * 3)  # vectors of any length
    logits = COSINE_SCALE * others.astype(np.float64) @ means.T
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, expected, atol=1e-5)


def test_examples_that_cancel_each_other_have_no_centre():
    vectors = np.array([[1, 0], [-1, 0], [0, 1]], np.float32)
    layer = centres(vectors, np.array([0, 0, 1]), 2)
    assert layer.kernel[0].tolist() == [0, 0]
    np.testing.assert_allclose(layer.probabilities(np.zeros((1, 2))), [[0.5, 0.5]])


@pytest.mark.parametrize(("rows", "strength"), [(10, 10.0), (60, 1.0), (60, 30.0), (5, 10.0)])
@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_logistic_regression_is_scikit_learns(rows, strength):
    vectors, classes = clouds(rows)
    others, _ = clouds(80, seed=1)
    expected = LogisticRegression(C=strength, tol=1e-9, max_iter=5000).fit(vectors.astype(np.float64), classes)
    found = logistic(vectors, classes, 5, strength)
    np.testing.assert_allclose(
        found.probabilities(others), expected.predict_proba(others.astype(np.float64)), atol=2e-4
    )
    assert abs(found.bias.sum()) < 1e-5


def test_layers_are_kept_as_text():
    random = np.random.default_rng(0)
    layer = Linear(random.normal(size=(3, 4)).astype(np.float32), random.normal(size=3).astype(np.float32))
    read = Linear.from_text(layer.to_text(), 3, 4)
    np.testing.assert_array_equal(read.kernel, layer.kernel)
    np.testing.assert_array_equal(read.bias, layer.bias)


@pytest.mark.parametrize("text", ["", "AAAA", "%%%", "\u00e4" * 80])
def test_other_texts_are_refused(text):
    with pytest.raises(KerasBertError, match="expected the layer of 3 classes and vectors of 4 numbers in base64"):
        Linear.from_text(text, 3, 4)


def test_layers_of_other_numbers_are_refused():
    broken = Linear(np.full((3, 4), np.nan, np.float32), np.zeros(3, np.float32)).to_text()
    with pytest.raises(KerasBertError, match="finite numbers, received NaN or infinity"):
        Linear.from_text(broken, 3, 4)


def test_held_out_examples_are_not_taught():
    vectors, classes = clouds(50)
    tried = held_out(("centre", "logistic"), vectors, classes, 5)
    assert tried is not None and tried.rows.tolist() == list(range(50))
    first = np.arange(50) // 5 % 5 == 0  # row r is number r // 5 of its class
    expected = centres(vectors[~first], classes[~first], 5).probabilities(vectors[first])
    np.testing.assert_allclose(tried.probabilities["centre"][first], expected, atol=1e-6)
    assert tried.accuracy["centre"] == np.mean(tried.probabilities["centre"].argmax(axis=1) == classes)


def test_classes_of_one_example_are_always_taught():
    vectors, classes = clouds(11)
    vectors, classes = np.concatenate([vectors, vectors[:1]]), np.append(classes, 5)
    tried = held_out(("centre",), vectors, classes, 6)
    assert tried is not None and 11 not in tried.rows
    assert held_out(("centre",), vectors[:5], classes[:5], 5) is None


def test_the_scale_makes_shares_as_right_as_they_say():
    random = np.random.default_rng(0)
    truth = random.integers(3, size=2000)
    logits = random.normal(size=(2000, 3)) + 2 * np.eye(3)[truth]
    shares = scaled(np.exp(logits), 0.25)
    factor = scale_of(shares, truth)
    confident = scaled(shares, factor).max(axis=1)
    right = scaled(shares, factor).argmax(axis=1) == truth
    assert 6 < factor <= 11  # 0.25 undone, and logits of this noise times 2
    assert abs(confident.mean() - right.mean()) < 0.02


def test_a_few_right_rows_do_not_make_certain():
    shares = np.array([[0.6, 0.4], [0.3, 0.7], [0.7, 0.3]])
    assert scaled(shares, scale_of(shares, np.array([0, 1, 0]))).max() < 0.95


def test_the_threshold_keeps_a_share():
    random = np.random.default_rng(0)
    best = random.uniform(0.4, 1, 400)
    shares, classes = np.stack([best, 1 - best], axis=1), np.zeros(400, int)
    right = best[best > 0.5]
    below = threshold_of(shares, classes, None, 0.9)
    assert np.mean(right >= below) >= 0.9 > np.mean(right > below)
    outside = np.array([[0.55, 0.45], [0.45, 0.55], [0.99, 0.01]])
    lower = threshold_of(shares, classes, outside, 0.9)
    assert 0.55 < lower < below  # finds the same two with fewer rejected
    assert threshold_of(shares, classes, outside[2:], 0.9) == 0.0  # finds none
    assert threshold_of(np.array([[0.9, 0.1]]), np.array([1]), None, 0.9) == 0.0
