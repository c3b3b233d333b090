"""Losses against the same formulas in NumPy."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.losses.vocabulary import VocabularyCrossEntropy
from kerasbert.training import CrossEntropy, balanced_weights

IGNORED = -100


def expected(y, logits, smoothing=0.0, class_weights=None, sample_weights=None):
    """Return the mean over the positions with a label, position by position."""
    y, logits = np.asarray(y), np.asarray(logits, np.float64)
    log = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    total, count = 0.0, 0
    for position in np.ndindex(y.shape):
        if y[position] == IGNORED:
            continue
        target = np.full(log.shape[-1], smoothing / log.shape[-1])
        target[y[position]] += 1 - smoothing
        weight = 1.0 if class_weights is None else class_weights[y[position]]
        weight *= 1.0 if sample_weights is None else sample_weights[position[0]]
        total -= weight * (target * log[position]).sum()
        count += 1
    return total / max(count, 1)


@pytest.fixture
def texts():
    draw = np.random.default_rng(0)
    return np.array([2, 0, IGNORED, 1, 0]), draw.normal(size=(5, 3)).astype(np.float32)


@pytest.fixture
def tokens():
    draw = np.random.default_rng(1)
    y = draw.integers(0, 4, (3, 5))
    y[0, 3:] = y[2, 0] = IGNORED
    return y, draw.normal(size=(3, 5, 4)).astype(np.float32)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", ["texts", "tokens"])
def test_cross_entropy(request, form, smoothing, weighted):
    y, logits = request.getfixturevalue(form)
    class_weights = [0.5, 2.0, 1.0, 3.0][: logits.shape[-1]] if weighted else None
    sample_weights = np.arange(1.0, len(y) + 1) if weighted else None
    loss = CrossEntropy(smoothing, class_weights)
    found = loss(y.astype(np.int32), logits, sample_weight=sample_weights)
    np.testing.assert_allclose(found, expected(y, logits, smoothing, class_weights, sample_weights), rtol=1e-5)


def test_plain_cross_entropy_equals_that_of_keras(texts):
    y, logits = texts[0].clip(0), texts[1]
    theirs = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    np.testing.assert_allclose(CrossEntropy()(y, logits), theirs(y, logits), rtol=1e-6)
    np.testing.assert_allclose(CrossEntropy()(y[:, None], logits), theirs(y, logits), rtol=1e-6)


def test_loss_is_zero_without_labels(tokens):
    y, logits = tokens
    assert float(CrossEntropy(0.1)(np.full_like(y, IGNORED), logits)) == 0.0


def test_cross_entropy_in_half_precision(texts):
    y, logits = texts
    found = CrossEntropy(0.1)(y, tf.cast(100 * logits, tf.float16))
    assert found.dtype == tf.float32
    np.testing.assert_allclose(found, expected(y, np.float16(100 * logits), 0.1), rtol=1e-3)


def test_cross_entropy_survives_a_saved_model(tiny, tmp_path):
    model = tiny.narrow()
    model.compile("sgd", loss=CrossEntropy(0.1, [1.0, 3.0]), run_eagerly=True)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.loss.get_config() == model.loss.get_config()
    texts, labels = tiny.rows(4)
    weights = [1.0, 2.0, 0.0, 1.0]
    one, other = (each.evaluate(texts, labels, sample_weight=weights, verbose=0) for each in (model, loaded))
    np.testing.assert_allclose(one, other, rtol=1e-5)


def test_balanced_weights():
    assert balanced_weights([0, 0, 0, 1], 2) == [4 / 6, 2.0]
    assert balanced_weights([np.array([0, IGNORED, 0]), np.array([1])], 3) == [0.5, 1.0, 1.0]
    weights = np.array(balanced_weights([0, 0, 0, 1, 2, 2], 3))
    assert (weights * [3, 1, 2]).sum() == pytest.approx(6)  # the mean stays 1
    with pytest.raises(KerasBertError, match="received none"):
        balanced_weights([IGNORED], 2)
    with pytest.raises(KerasBertError, match="below 2, received 2"):
        balanced_weights([2], 2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"label_smoothing": 1.0}, "from 0 to below 1"),
        ({"class_weights": [1, -1]}, "at least 0"),
    ],
)
def test_impossible_settings_are_rejected(settings, message):
    with pytest.raises(KerasBertError, match=message):
        CrossEntropy(**settings)


def test_a_missing_class_weight_is_rejected(texts):
    with pytest.raises(KerasBertError, match="for 3 classes, received 2"):
        CrossEntropy(class_weights=[1, 1])(*texts)


@pytest.mark.parametrize("shape", [(5,), (2, 3), (0,)])
@pytest.mark.parametrize("weights", [None, 0.5])
def test_cross_entropy_over_a_vocabulary_is_that_of_keras(shape, weights):
    draw = np.random.default_rng(3)
    ids, logits = draw.integers(0, 7, shape), tf.constant(draw.normal(0, 30, (*shape, 7)), tf.float32)
    ours, theirs = VocabularyCrossEntropy(), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    weights = weights if weights is None else draw.uniform(0, 1, shape)
    values, gradients = [], []
    for loss in (ours, theirs):
        with tf.GradientTape() as tape:
            tape.watch(logits)
            values.append(loss(ids, logits, sample_weight=weights))
        gradients.append(tape.gradient(values[-1], logits))
    np.testing.assert_allclose(*values, rtol=1e-6)
    np.testing.assert_allclose(*gradients, atol=1e-7)


def test_an_id_outside_of_the_vocabulary_is_an_error():
    with pytest.raises(tf.errors.InvalidArgumentError):
        VocabularyCrossEntropy()([1, 7], tf.zeros((2, 7)))
