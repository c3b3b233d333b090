"""Metrics of Keras on logits have the values that they have on the probabilities of `predict`."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.errors import KerasBertError

pytestmark = pytest.mark.one_layer

metrics = keras.metrics
Y = np.array([0, 1, 1, 0, 1, 0, 0, 1])


def evaluated(model, x, y, given, **options):
    model.compile("sgd", metrics=given, run_eagerly=True, **options)
    return model.evaluate(x, y, verbose=0, return_dict=True, batch_size=8)


def directly(metric, y, probabilities):
    metric.update_state(y, probabilities)
    return np.asarray(metric.result())


@pytest.fixture(scope="module")
def two(tiny):
    """A classifier of two classes with clear logits, texts, and its probabilities."""
    model = tiny.narrow(seed=2)
    model.classifier.kernel.assign(model.classifier.kernel * 1000)
    texts = tiny.rows(8)[0]
    model.classifier.bias.assign(-model(model.pack(texts)).numpy().mean(0))
    probabilities = model.predict(texts)
    assert len(set(probabilities.argmax(1))) == 2
    return model, texts, probabilities


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("accuracy", lambda p: np.mean(p.argmax(1) == Y)),
        ("acc", lambda p: np.mean(p.argmax(1) == Y)),
        ("categorical_accuracy", lambda p: np.mean(p.argmax(1) == Y)),
        (metrics.BinaryAccuracy(name="m"), lambda p: np.mean((p[:, 1] > 0.5) == Y)),
        (metrics.Precision(name="m"), lambda p: Y[p[:, 1] > 0.5].mean()),
        (metrics.Recall(name="m"), lambda p: (p[Y == 1, 1] > 0.5).mean()),
        ("auc", lambda p: directly(metrics.AUC(), Y, p[:, 1])),
        ("crossentropy", lambda p: -np.log(p[np.arange(8), Y]).mean()),
        ("sparse_categorical_crossentropy", lambda p: -np.log(p[np.arange(8), Y]).mean()),
    ],
)
@pytest.mark.long_cases
def test_metrics_of_two_classes(two, given, expected):
    model, texts, probabilities = two
    found = evaluated(model, texts, Y, [given])
    name = given if isinstance(given, str) else "m"
    assert found[name] == pytest.approx(float(expected(probabilities)), rel=1e-4)


def test_weighted_metrics_and_the_f1_score_read_probabilities(two):
    model, texts, probabilities = two
    found = evaluated(model, texts, Y, [metrics.F1Score(name="f1")], weighted_metrics=["auc"])
    np.testing.assert_allclose(found["f1"], directly(metrics.F1Score(), np.eye(2)[Y], probabilities), rtol=1e-5)
    assert found["auc"] == pytest.approx(float(directly(metrics.AUC(), Y, probabilities[:, 1])), rel=1e-5)


def test_a_note_names_the_class_of_a_metric_of_two_classes(two, capsys):
    two[0].compile(metrics=["AUC", "accuracy"])
    assert capsys.readouterr().err == (
        "note: metric AUC is computed from probabilities of 'positive', the softmax of the task's logits\n"
    )


@pytest.mark.parametrize("given", ["mse", metrics.Accuracy(), metrics.Mean(), "kl_divergence", metrics.IoU(2, [0])])
def test_metrics_that_do_not_fit_classes_are_refused(two, given):
    with pytest.raises(KerasBertError, match="expected a metric for TextClassifier, which returns logits of one class"):
        two[0].compile(metrics=[given])


def test_unknown_metrics_and_classes_are_refused(two):
    with pytest.raises(KerasBertError, match="expected a metric of tf_keras, received 'no_such'"):
        two[0].compile(metrics=["no_such"])
    with pytest.raises(KerasBertError, match="received the class AUC; call it"):
        two[0].compile(metrics=[metrics.AUC])


def test_binary_accuracy_is_refused_for_three_classes(tiny):
    with pytest.raises(KerasBertError, match="received BinaryAccuracy"):
        tiny.narrow(labels=("a", "b", "c")).compile(metrics=[metrics.BinaryAccuracy()])


@pytest.mark.parametrize(
    "given", ["accuracy", "binary_accuracy", metrics.BinaryAccuracy("m"), metrics.BinaryAccuracy("m", threshold=0.0)]
)
@pytest.mark.long_cases
def test_accuracy_of_several_labels_counts_every_label(tiny, given):
    model = tiny.narrow(problem="multi_label")
    model.classifier.kernel.assign(model.classifier.kernel * 60)
    texts, y = tiny.rows(3)[0], np.array([[0, 1], [1, 1], [0, 0]], np.float32)
    found = evaluated(model, texts, y, [given])
    assert found.popitem()[1] == pytest.approx(np.mean((model.predict(texts) > 0.5) == y))


def test_regression_has_metrics_of_numbers_only(tiny):
    model = tiny.narrow(labels=None, problem="regression")
    texts, y = tiny.rows(3)[0], np.array([0.5, 1.0, 3.0])
    assert evaluated(model, texts, y, ["mae"])["mae"] == pytest.approx(
        np.abs(model.predict(texts)[:, 0] - y).mean(), rel=1e-5
    )
    for given in ("accuracy", metrics.AUC()):
        with pytest.raises(KerasBertError, match="expected (a metric|metrics)"):
            model.compile(metrics=[given])


@pytest.mark.long
def test_tokens_without_a_tag_do_not_count(tiny):
    task = kb.TokenTagger(tiny.encoder(pooler=False), tiny.tokenizer(), labels=["O", "X"], sequence_length=tiny.length)
    words, tags = [["good", "film"], ["the", "end", "was", "bad"]], [["X", "O"], ["O", "O", "O", "X"]]
    packed = task.features(words)[1].pack([0, 1], 6, 0)
    p, places = tf.nn.softmax(task(packed)).numpy(), [(0, 1), (0, 2), (1, 1), (1, 2), (1, 3), (1, 4)]
    p, y = np.array([p[place] for place in places]), np.array([1, 0, 0, 0, 0, 1])
    found = evaluated(
        task, words, tags, ["accuracy", metrics.SparseCategoricalAccuracy("sparse"), metrics.AUC(name="auc")]
    )
    assert found["accuracy"] == found["sparse"] == pytest.approx(np.mean(p.argmax(1) == y))
    assert found["auc"] == pytest.approx(float(directly(metrics.AUC(), y, p[:, 1])), rel=1e-5)
