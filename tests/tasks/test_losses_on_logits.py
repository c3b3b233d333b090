"""Losses of Keras on logits: strings, functions and objects have the value of the same formula in NumPy."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.errors import KerasBertError

pytestmark = pytest.mark.one_layer

losses = keras.losses


def values(model, x, y, loss):
    """Return the loss of Keras' evaluate under a loss."""
    model.compile("sgd", loss=loss, metrics=[], run_eagerly=True)
    return float(np.ravel(model.evaluate(x, y, verbose=0))[0])


def cross_entropy(logits, classes):
    logits = np.asarray(logits, np.float64)
    log = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    return -np.mean([row[number] for row, number in zip(log, classes, strict=True)])


@pytest.fixture(scope="module")
def single(tiny):
    """A classifier with clear logits, texts, class numbers, and the cross-entropy by hand."""
    model = tiny.narrow(labels=("a", "b", "c"))
    model.classifier.kernel.assign(model.classifier.kernel * 100)
    texts, y = tiny.rows(6)[0], np.array([0, 1, 2, 2, 1, 0])
    logits = model(model.pack(texts)).numpy()
    assert np.abs(logits).max() > 1
    return model, texts, y, cross_entropy(logits, y)


@pytest.mark.parametrize(
    "loss",
    [
        "sparse_categorical_crossentropy",
        "SparseCategoricalCrossentropy",
        "categorical_crossentropy",
        losses.sparse_categorical_crossentropy,
        losses.SparseCategoricalCrossentropy(),
        losses.CategoricalCrossentropy(),
        losses.CategoricalCrossentropy(from_logits=True),
    ],
)
def test_cross_entropies_of_classes_are_computed_from_logits(single, loss):
    model, texts, y, expected = single
    assert values(model, texts, y, loss) == pytest.approx(expected, rel=1e-5)


def test_one_hot_labels_of_a_dataset_have_the_loss_of_class_numbers(single):
    model, texts, y, expected = single
    data = tf.data.Dataset.from_tensor_slices((texts, np.eye(3, dtype=np.float32)[y])).batch(6)
    assert values(model, data, None, "categorical_crossentropy") == pytest.approx(expected, rel=1e-5)


def test_the_focal_loss_takes_class_numbers(single):
    model, texts, y, _ = single
    probabilities = model.predict(texts)[np.arange(6), y].astype(np.float64)
    expected = np.mean(0.25 * (1 - probabilities) ** 2 * -np.log(probabilities))  # Lin et al. 2017
    assert values(model, texts, y, losses.CategoricalFocalCrossentropy()) == pytest.approx(expected, rel=1e-4)


def test_a_note_says_what_was_adapted(single, capsys):
    model, texts, y, _ = single
    model.compile(loss="sparse_categorical_crossentropy")
    assert capsys.readouterr().err.count("computed with from_logits=True") == 1
    model.compile(loss=losses.SparseCategoricalCrossentropy(from_logits=True))
    model.compile(loss=lambda y_true, logits: tf.reduce_mean(logits))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "loss", ["binary_crossentropy", "mse", "kl_divergence", losses.MeanSquaredError(), losses.Hinge(), "poisson"]
)
def test_losses_that_do_not_fit_classes_are_refused(single, loss):
    with pytest.raises(KerasBertError, match="expected a loss for TextClassifier, which returns logits of one class"):
        single[0].compile(loss=loss)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        ("no_such_loss", "expected a loss of tf_keras, received 'no_such_loss'"),
        (losses.MeanSquaredError, "received the class MeanSquaredError; call it"),
        (3, "expected a loss or the name of one, received 3"),
    ],
)
def test_what_is_no_loss_is_refused(single, loss, message):
    with pytest.raises(KerasBertError, match=message):
        single[0].compile(loss=loss)


@pytest.mark.parametrize("loss", ["binary_crossentropy", losses.BinaryCrossentropy(label_smoothing=0.0)])
def test_binary_cross_entropy_of_several_labels_is_computed_from_logits(tiny, loss):
    model = tiny.narrow(problem="multi_label")
    model.classifier.kernel.assign(model.classifier.kernel * 100)
    texts, y = tiny.rows(3)[0], np.array([[0, 1], [1, 1], [0, 0]], np.float32)
    p = 1 / (1 + np.exp(-model(model.pack(texts)).numpy().astype(np.float64)))
    assert values(model, texts, y, loss) == pytest.approx(-np.mean(y * np.log(p) + (1 - y) * np.log(1 - p)), rel=1e-5)
    with pytest.raises(KerasBertError, match="which returns logits of several labels"):
        model.compile(loss="sparse_categorical_crossentropy")


def test_losses_of_numbers_fit_regression_and_no_others_do(tiny):
    model = tiny.narrow(labels=None, problem="regression")
    texts, y = tiny.rows(3)[0], np.array([0.5, 1.0, 3.0])
    expected = np.mean((model.predict(texts)[:, 0] - y) ** 2)
    for loss in ("mse", "MeanSquaredError", losses.MeanSquaredError()):
        assert values(model, texts, y, loss) == pytest.approx(expected, rel=1e-5)
    for loss in ("binary_crossentropy", "sparse_categorical_crossentropy", "cosine_similarity"):
        with pytest.raises(KerasBertError, match="expected a loss"):
            model.compile(loss=loss)


@pytest.mark.parametrize(
    "loss", ["sparse_categorical_crossentropy", losses.SparseCategoricalCrossentropy(from_logits=True)]
)
def test_tokens_without_a_tag_do_not_count(tiny, loss):
    task = kb.TokenTagger(tiny.encoder(pooler=False), tiny.tokenizer(), labels=["O", "X"], sequence_length=tiny.length)
    words, tags = [["good", "film"], ["the", "end", "was", "bad"]], [["X", "O"], ["O", "O", "O", "X"]]
    packed = task.features(words)[1].pack([0, 1], 6, 0)
    logits, places = task(packed).numpy(), [(0, 1), (0, 2), (1, 1), (1, 2), (1, 3), (1, 4)]
    expected = cross_entropy([logits[place] for place in places], [1, 0, 0, 0, 0, 1])
    assert values(task, words, tags, loss) == pytest.approx(expected, rel=1e-5)


def test_the_loss_of_both_ends_of_an_answer_is_computed_from_logits(tiny):
    task = kb.QuestionAnswerer(tiny.encoder(pooler=False), tiny.tokenizer(), sequence_length=tiny.length)
    x, y = [("the film", "it was very good")], [(12, "good")]
    own = values(task, x, y, None)
    assert values(task, x, y, "sparse_categorical_crossentropy") == pytest.approx(2 * own, rel=1e-5)  # sum, not mean
    by_output = dict.fromkeys(("start_logits", "end_logits"), "sparse_categorical_crossentropy")
    assert values(task, x, y, by_output) == pytest.approx(2 * own, rel=1e-5)


def test_a_loss_of_single_vectors_is_refused_for_pairs(tiny):
    model = tiny.sentence_encoder()
    model.compile("sgd", loss="mse", run_eagerly=True)
    texts = tiny.rows(2)[0]
    vectors = np.ones((2, 32), np.float32)
    assert model.evaluate(texts, vectors, verbose=0) == pytest.approx(
        np.mean((model.predict(texts) - 1) ** 2), rel=1e-5
    )
    with pytest.raises(KerasBertError, match="expected a loss over pairs of vectors, received MeanSquaredError"):
        model.fit([("good film", "bad film")], [0.5], verbose=0)


@pytest.mark.long
def test_a_saved_model_keeps_the_adapted_loss(single, tmp_path):
    model, texts, y, expected = single
    model.compile("sgd", loss="categorical_crossentropy", metrics=["accuracy", "AUC"])
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    found = loaded.evaluate(texts, y, verbose=0, return_dict=True)
    assert found["loss"] == pytest.approx(expected, rel=1e-5) and set(found) == {"loss", "accuracy", "AUC"}
