"""`tf.data` of texts and labels, and `validation_split`, do what lists of strings do."""

import threading

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

from kerasbert.data import read_table
from kerasbert.errors import KerasBertError
from kerasbert.tasks.validation_split import split_off

pytestmark = pytest.mark.one_layer


def compiled(model):
    model.compile(keras.optimizers.SGD(0.1), run_eagerly=True)
    return model


def slices(*parts):
    return tf.data.Dataset.from_tensor_slices(parts if len(parts) > 1 else parts[0])


FORMS = {
    "a pair of texts and labels": lambda texts, labels: slices(texts, labels),
    "batches": lambda texts, labels: slices(texts, labels).batch(2),
    "labels in a column": lambda texts, labels: slices(texts, [[label] for label in labels]).batch(3),
    "columns": lambda texts, labels: slices({"Text": texts, "label": labels, "id": list(range(len(texts)))}),
    "text columns": lambda texts, labels: slices({"sentence": texts}, labels),
    "with weights": lambda texts, labels: slices(texts, labels, [1.0] * len(texts)),
}


@pytest.mark.long_cases("batches", "columns")
@pytest.mark.parametrize("form", FORMS)
def test_labels_by_name(tiny, form):
    model = compiled(tiny.narrow())
    texts, labels = tiny.rows(6)
    data = FORMS[form](texts, labels)
    expected = model.evaluate(texts, labels, verbose=0, return_dict=True)
    assert model.evaluate(data, verbose=0, return_dict=True) == pytest.approx(expected, rel=1e-4)
    np.testing.assert_allclose(model.predict(data), model.predict(texts), atol=1e-6)
    history = model.fit(data, batch_size=3, validation_data=data, verbose=0).history
    assert {"loss", "val_loss", "val_accuracy"} <= set(history)


@pytest.mark.parametrize("names", [("sentence1", "sentence2"), ("text", "pair"), ("question", "sentence")])
@pytest.mark.long_cases
def test_pairs_by_column(tiny, names):
    model = tiny.narrow()
    texts, _ = tiny.rows(4)
    columns = dict(zip(names, (texts, texts[::-1]), strict=True))
    expected = model.predict((texts, texts[::-1]))
    np.testing.assert_allclose(model.predict(slices(columns)), expected, atol=1e-6)
    np.testing.assert_allclose(model.predict(slices({**columns, "label": ["any"] * 4})), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("problem", "labels"), [("multi_label", ["negative|positive", "", "positive"]), ("regression", ["1", "2.5", "0"])]
)
def test_labels_of_multi_label_and_regression(tiny, problem, labels):
    model = compiled(tiny.narrow(problem=problem, **({"labels": ["score"]} if problem == "regression" else {})))
    texts, _ = tiny.rows(3)
    expected = model.evaluate(texts, labels, verbose=0)
    assert model.evaluate(slices(texts, labels), verbose=0) == pytest.approx(expected, rel=1e-4)


def test_errors_in_a_pipeline_are_raised_as_kerasbert_errors(tiny):
    model = compiled(tiny.narrow())
    texts, _ = tiny.rows(3)
    with pytest.raises(KerasBertError, match="row 1: expected one of the labels .*'postive'; did you mean 'positive'"):
        model.fit(slices(texts, ["positive", "postive", "negative"]), verbose=0)
    with pytest.raises(KerasBertError, match="UTF-8, received byte 0xff"):
        model.predict(slices([b"good", b"\xff"]))
    with pytest.raises(KerasBertError, match="expected a text among text, .* received body, label"):
        model.fit(slices({"body": texts, "label": ["positive"] * 3}), verbose=0)


@pytest.mark.long
def test_validation_split_takes_the_last_examples(tiny, tmp_path):
    texts, labels = tiny.rows(10)
    path = tmp_path / "a.tsv"
    path.write_text("text\tlabel\n" + "".join(f"{t}\t{y}\n" for t, y in zip(texts, labels, strict=True)))
    model = tiny.narrow()
    forms = {
        "lists": (texts, labels), "arrays": (np.array(texts), np.array(labels)), "a table": (read_table(path), None),
        "pairs": ((texts, texts), labels), "packed": (model.pack(texts), model.encode_labels(labels)),
    }  # fmt: skip
    for name, (x, y) in forms.items():
        runs = []
        for settings in ({"validation_split": 0.25}, None):
            task = compiled(tiny.narrow())
            if settings is None:
                last = ((texts[7:], texts[7:]) if name == "pairs" else texts[7:], labels[7:])
                x = (texts[:7], texts[:7]) if name == "pairs" else texts[:7]
                y, settings = labels[:7], {"validation_data": last}
            history = task.fit(x, y, batch_size=4, seed=0, verbose=0, **settings).history
            runs.append({name: values[0] for name, values in history.items()})
        assert len(runs[0]) == 4 and runs[0] == pytest.approx(runs[1], rel=1e-5), name


def test_validation_split_keeps_equal_examples_together(tiny, capsys):
    model = compiled(tiny.narrow())
    texts = ["good film", "bad film", "the end", " good  film ", "fine book", "dull song"]
    labels = ["positive", "negative", "negative", "positive", "positive", "negative"]
    for x in (texts, model.pack(texts)):
        train, y, weights, (dev, dev_y, dev_weights) = split_off(model, x, np.array(labels), np.arange(6), 0.5)
        assert (weights.tolist(), dev_weights.tolist()) == ([0, 1, 2, 3], [4, 5])
        assert y.tolist() == labels[:4] and dev_y.tolist() == labels[4:]
        assert len(train["input_ids"] if x is not texts else train) == 4
        assert len(dev["input_ids"] if x is not texts else dev) == 2
        assert "1 of the last 3 examples equal one of the others, and are trained on" in capsys.readouterr().err
    train, _, _, (dev, _) = split_off(model, ["good"] * 4, labels[:4], None, 0.5)
    assert (len(train), len(dev)) == (2, 2) and "scores are those of the training data" in capsys.readouterr().err
    with pytest.raises(KerasBertError, match="expected labels of 6 examples, received 5; give one for each"):
        split_off(model, texts, labels[:5], None, 0.5)


def test_validation_split_with_weights_and_wrong_fractions(tiny):
    texts, labels = tiny.rows(8)
    model = compiled(tiny.narrow())
    history = model.fit(texts, labels, sample_weight=np.ones(8), validation_split=0.5, verbose=0).history
    assert "val_loss" in history
    for x, share, told in (
        (slices(texts, labels), 0.5, "received a tf.data.Dataset; pass validation_data"),
        (texts, 1.5, "received a share of 1.5"),
        (texts[:1], 0.5, "enough examples to split off 0.5 of them, received 1"),
    ):
        with pytest.raises(KerasBertError, match=told):
            model.fit(x, labels[: len(x)] if isinstance(x, list) else None, validation_split=share, verbose=0)


@pytest.mark.long
def test_calls_of_several_threads_raise_their_own_errors(tiny):
    texts, _ = tiny.rows(8)
    both, errors = threading.Barrier(2), {}

    def fit(name):
        model = compiled(tiny.narrow())
        both.wait()
        try:
            model.fit(slices(texts, ["positive"] * 7 + [name]), batch_size=1, verbose=0)
        except KerasBertError as error:
            errors[name] = str(error)

    for _ in range(3):
        threads = [threading.Thread(target=fit, args=(name,)) for name in ("one", "other")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert "received 'one'" in errors["one"] and "received 'other'" in errors["other"]


def test_pairs_of_a_sentence_encoder_have_two_vectors(tiny):
    model = tiny.sentence_encoder()
    model.compile("sgd", run_eagerly=True)
    texts, _ = tiny.rows(4)
    pairs, scores = (texts, texts[::-1]), np.array([0.5, 1.0, 0.0, 0.25], np.float32)
    expected = model.evaluate(pairs, scores, verbose=0)
    assert model.evaluate(slices(pairs, scores).batch(4), verbose=0) == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(model.predict(slices(pairs, scores)), model.predict(pairs), atol=1e-6)
