"""Heads of users: any Keras layer or function on the encoder's outputs, through everything that a task does."""

import json

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.layers.traversal import dense_layers

pytestmark = pytest.mark.one_layer


@kb.register_head("test-mean-mlp")
class MeanMLP(keras.layers.Layer):
    def __init__(self, outputs, hidden=8):
        super().__init__()
        self.pool = keras.layers.GlobalAveragePooling1D()
        self._hidden = keras.layers.Dense(hidden, activation="relu")
        self.layers = {"out": keras.layers.Dense(outputs)}

    def call(self, encoded, mask):
        return self.layers["out"](self._hidden(self.pool(encoded.sequence, mask=mask)))


@kb.register_head("test-last-layers")
class LastLayers(keras.layers.Layer):
    def __init__(self, outputs):
        super().__init__()
        self.norm, self.dense = keras.layers.BatchNormalization(), keras.layers.Dense(outputs)

    def call(self, encoded):
        first_tokens = tf.concat([states[:, 0] for states in encoded.hidden_states[-4:]], axis=-1)
        return self.norm(self.dense(first_tokens))


@kb.register_head("test-lstm")
class BiLSTM(keras.layers.Layer):
    def __init__(self, outputs):
        super().__init__()
        self.rnn, self.dense = keras.layers.Bidirectional(keras.layers.LSTM(4)), keras.layers.Dense(outputs)

    def call(self, encoded, mask):
        return self.dense(self.rnn(encoded.sequence, mask=mask))


@kb.register_head("test-closure")
def closure(outputs):
    layers = keras.Sequential([keras.layers.Dense(8, "tanh"), keras.layers.Dense(8), keras.layers.Dense(outputs)])
    shift = tf.Variable(tf.zeros(outputs))

    def head(encoded, mask):
        return layers(encoded.pooled) + shift

    return head


@kb.register_head("test-tagger")
class Tagger(keras.layers.Layer):
    def __init__(self, outputs):
        super().__init__()
        self.hidden, self.dense = keras.layers.Dense(8, "gelu"), keras.layers.Dense(outputs)

    def call(self, encoded, mask, training=None):
        return self.dense(self.hidden(encoded.sequence))


KINDS = ("test-mean-mlp", "test-last-layers", "test-lstm", "test-closure", "test-tagger")


def tagged(count, seed):
    """Sentences whose good words are tagged."""
    from_rows = [text.split() for text in rows_of(count, seed)[0]]
    good = {"good", "fine", "great", "lovely", "warm", "bright"}
    return from_rows, [["B-good" if word in good else "O" for word in words] for words in from_rows]


rows_of = None


@pytest.fixture(scope="module", params=KINDS)
def own(request, tiny, tmp_path_factory):
    """A trained task with an own head, its data, and its folder."""
    global rows_of
    rows_of = tiny.rows
    keras.utils.set_random_seed(0)
    if request.param == "test-tagger":
        task = kb.TokenTagger(tiny.encoder(), tiny.tokenizer(), ["O", "B-good"], 16, head=request.param)
        data = tagged(64, 1)
    else:
        task, data = tiny.classifier(head=request.param), tiny.rows(64, seed=1)
    before = {path: variable.numpy() for path, variable in task.head.own_variables().items()}
    task.compile(kb.adamw(1e-2), run_eagerly=request.param != KINDS[0])  # tracing takes longer than the steps
    task.fit(*data, seed=0, verbose=0)
    changed = [path for path, values in before.items() if not np.array_equal(values, task.head.own_variables()[path])]
    assert changed == list(before)  # all weights of the head are trained
    folder = tmp_path_factory.mktemp("own") / "model"
    task.save_pretrained(folder)
    return task, data, folder


@pytest.mark.long_cases
def test_a_saved_folder_names_the_head_and_loads_it(own):
    task, (texts, _), folder = own
    settings = json.loads((folder / "kerasbert.json").read_text("utf-8"))["settings"]
    assert settings["head"] == task.head_name
    loaded = kb.load_task(folder)
    assert loaded.fingerprint() == task.fingerprint() and not loaded.has_new_head
    np.testing.assert_equal(loaded.predictions(texts[:4]), task.predictions(texts[:4]))


@pytest.mark.long_cases
def test_the_file_computes_what_the_quantized_model_computes(own, tmp_path, capsys):
    task, (texts, labels), _ = own
    int8 = kb.compression.quantize(task, "static_wi8_ai8", calibration=texts)
    assert ("LSTMCell" in capsys.readouterr().err) == (task.head_name == "test-lstm")
    quantizers = [dense for dense in dense_layers(int8) if dense.path.startswith("head.")]
    assert quantizers and all(dense.output_quantizer.calibrated for dense in quantizers)
    ranges = [float(quantizers[0].input_quantizer.maximum)]
    int8.compile(kb.adamw(1e-3), run_eagerly=task.head_name != KINDS[0])
    int8.fit(texts, labels, seed=0, verbose=0)
    assert [float(quantizers[0].input_quantizer.maximum)] != ranges  # training moves the ranges of the head
    model = kb.export.convert(int8)
    model.save(tmp_path / "own.tflite")
    for ours, theirs in zip(int8.predictions(texts[:8]), kb.open(tmp_path / "own.tflite")(texts[:8]), strict=True):
        assert ours.keys() == theirs.keys()
        for name in ours.keys() & {"probabilities"}:
            assert theirs[name] == pytest.approx(ours[name], abs=1e-5)
    report = kb.export.validate(tmp_path / "own.tflite", against=int8, data=(texts, labels))
    assert report.verdict != "failed"


@pytest.mark.long_cases("mean-mlp", "last-layers", "closure", "tagger")
def test_students_and_pruned_copies_keep_the_head(own):
    from kerasbert.compression.pruning.structured import prune_heads
    from kerasbert.training.distillation import Distiller, SoftLabels, student_from

    task, (texts, labels), _ = own
    smaller = prune_heads(task, heads={0: [1]})
    assert smaller.head.own_variables().keys() == task.head.own_variables().keys()
    student = student_from(smaller, 1)
    np.testing.assert_array_equal(*(list(each.head.own_variables().values())[0].numpy() for each in (student, task)))
    distiller = Distiller(student, task, [SoftLabels()])
    distiller.compile(kb.adamw(1e-3), run_eagerly=True)
    loss = distiller.fit(texts[:8], labels[:8], batch_size=8, seed=0, verbose=0).history["loss"][0]
    assert np.isfinite(loss)
