"""`fit`, `evaluate` and `predict` on all accepted forms of data."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.errors import KerasBertError

pytestmark = pytest.mark.one_layer


def compiled(model, **options):
    """Run eagerly: tracing takes longer than the few steps here."""
    model.compile(keras.optimizers.SGD(0.1), run_eagerly=True, **options)
    return model


def pairs_of(texts):
    return [text.split(" ", 1)[1] for text in texts]


FORMS = {
    "list": lambda model, x, y: (x, y),
    "tuple": lambda model, x, y: (tuple(x), tuple(y)),
    "array": lambda model, x, y: (np.array(x), np.array(y)),
    "object array": lambda model, x, y: (np.array(x, object), y),
    "bytes": lambda model, x, y: ([text.encode() for text in x], y),
    "tensor": lambda model, x, y: (tf.constant(x), y),
    "class numbers": lambda model, x, y: (x, [model.labels.index(name) for name in y]),
    "packed": lambda model, x, y: (model.pack(x), y),
    "packed without mask": lambda model, x, y: ({"input_ids": model.pack(x[:1] * len(x), length=8)["input_ids"]}, y),
    "pair": lambda model, x, y: ((x, pairs_of(x)), y),
    "2-tuples": lambda model, x, y: (list(zip(x, pairs_of(x), strict=True)), y),
}


@pytest.mark.long_cases("list", "bytes", "packed", "pair")
@pytest.mark.parametrize("form", FORMS)
def test_fit_and_predict_take(tiny, form):
    model = compiled(tiny.narrow())
    before = model.encoder.embeddings.word.table.numpy()
    texts, labels = tiny.rows(6)
    x, y = FORMS[form](model, texts, labels)
    history = model.fit(x, y, batch_size=4, verbose=0).history
    assert set(history) == {"loss", "accuracy"} and np.isfinite(history["loss"][0])
    assert np.abs(model.encoder.embeddings.word.table - before).max() > 0
    predicted = model.predict(x)
    assert predicted.shape == (6, 2)
    np.testing.assert_allclose(predicted.sum(1), 1, atol=1e-6)


@pytest.mark.long
def test_all_forms_of_the_same_texts_have_the_same_predictions(tiny):
    model = tiny.narrow()
    texts, _ = tiny.rows(6)
    one = model.predict(texts)
    for x in (np.array(texts), tf.constant(texts), model.pack(texts), tf.data.Dataset.from_tensor_slices(texts)):
        np.testing.assert_allclose(model.predict(x), one, atol=1e-6)
    pairs = pairs_of(texts)
    both = model.predict((texts, pairs))
    assert np.abs(both - one).max() > 1e-5
    np.testing.assert_allclose(model.predict(list(zip(texts, pairs, strict=True))), both, atol=1e-6)
    strings = tf.data.Dataset.from_tensor_slices(((texts, pairs), np.zeros(6)))
    np.testing.assert_allclose(model.predict(strings), both, atol=1e-6)


@pytest.mark.parametrize("batched", [False, True])
def test_fit_takes_a_dataset_of_strings(tiny, batched):
    model = compiled(tiny.narrow())
    texts, labels = tiny.rows(6)
    data = tf.data.Dataset.from_tensor_slices((texts, model.encode_labels(labels)))
    data = data.batch(3) if batched else data
    history = model.fit(data, batch_size=3, validation_data=data, verbose=0).history
    assert "val_loss" in history and int(model.optimizer.iterations) == 2
    assert model.evaluate(data, verbose=0, return_dict=True)["loss"] == pytest.approx(
        model.evaluate(texts, labels, verbose=0, return_dict=True)["loss"], rel=1e-4
    )


def test_fit_takes_a_dataset_of_packed_inputs(tiny):
    model = compiled(tiny.narrow())
    texts, labels = tiny.rows(6)
    data = tf.data.Dataset.from_tensor_slices((model.pack(texts), model.encode_labels(labels))).batch(3)
    model.fit(data, verbose=0)
    np.testing.assert_allclose(model.predict(data), model.predict(texts), atol=1e-6)


@pytest.mark.parametrize("of_strings", [False, True])
def test_tf_data_autotuning_is_off(tiny, of_strings):
    """Where it does, a pass ends when its tuner wakes next, which is up to a minute later."""
    texts, labels = tiny.rows(4)
    x = tf.data.Dataset.from_tensor_slices((texts, [0, 1, 0, 1])) if of_strings else texts
    data = tiny.narrow().dataset(x, None if of_strings else labels)
    assert data.options().autotune.enabled is False


@pytest.mark.parametrize("options", [{"jit_compile": True}, {}])
def test_compiled_training_pads_to_few_lengths(tiny, options):
    model = tiny.narrow()
    model.compile(keras.optimizers.SGD(0.1), **options)
    texts, labels = tiny.rows(4)
    inputs, _ = next(iter(model.dataset([texts[0].split()[0]], labels[:1])))
    assert inputs["input_ids"].shape[1] == (8 if options else 4)


@pytest.mark.long
def test_a_training_step_is_traced_once(tiny, monkeypatch):
    """Variables of the optimizer that the first trace makes would need a second one."""
    model, traces = tiny.narrow(), []
    model.compile(kb.adamw(1e-3), run_eagerly=False)
    step = keras.Model.train_step
    monkeypatch.setattr(keras.Model, "train_step", lambda self, data: traces.append(self) or step(self, data))
    texts, labels = tiny.rows(2)
    model.fit(texts[:1] * 4, labels[:1] * 4, batch_size=2, verbose=0)
    assert len(traces) == 1 and int(model.optimizer.iterations) == 2


@pytest.mark.long
def test_a_further_fit_does_not_build_the_optimizer_again(tiny):
    """An optimizer of a user may make new variables in each `build`."""

    class Counted(keras.optimizers.SGD):
        builds = 0

        def build(self, variables):
            self.builds += 1
            super().build(variables)

    model = tiny.narrow()
    model.compile(Counted(0.1), run_eagerly=False)
    model.fit(*tiny.rows(2), verbose=0)
    before = model.optimizer.builds
    model.fit(*tiny.rows(2), verbose=0)
    assert before > 0 and model.optimizer.builds == before


def test_multi_label(tiny):
    model = compiled(tiny.narrow(problem="multi_label", labels=("a", "b", "c")))
    texts, _ = tiny.rows(4)
    hot = np.array([[1, 1, 0], [0, 0, 0], [0, 0, 1], [1, 0, 0]], np.float32)
    for y in (hot, [["a", "b"], [], ["c"], ["a"]], ["a|b", "", "c", "a"], ["a,b", "", '["c"]', "a"]):
        np.testing.assert_array_equal(model.encode_labels(y), hot)
    model.fit(texts, [["a", "b"], [], ["c"], ["a"]], verbose=0)
    predicted = model.predict(texts)
    assert predicted.shape == (4, 3) and (predicted > 0).all() and (predicted < 1).all()
    assert np.abs(predicted.sum(1) - 1).max() > 0.01
    logits = model({name: tf.constant(v) for name, v in model.pack(texts).items()})
    np.testing.assert_allclose(predicted, tf.sigmoid(logits), atol=1e-5)


@pytest.mark.long
def test_regression(tiny):
    model = compiled(tiny.narrow(problem="regression", labels=None))
    texts, _ = tiny.rows(4)
    assert model.labels == ("score",) and model.output_name == "score"
    first = model.fit(texts, [3.0, 3.5, 2.5, 3.0], epochs=15, verbose=0).history["loss"]
    assert first[-1] < 0.7 * first[0]
    assert model.predict(texts).shape == (4, 1)
    with pytest.raises(KerasBertError, match="'much'"):
        model.fit(texts, [1, 2, "much", 4])


def test_sentence_encoder_learns_target_vectors(tiny):
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    model = tiny.sentence_encoder(sizes=sizes)
    model.compile(keras.optimizers.SGD(1.0), run_eagerly=True)
    texts, _ = tiny.rows(4)
    loss = model.fit(texts, np.eye(8)[:4], epochs=6, verbose=0).history["loss"]
    assert loss[-1] < loss[0]
    vectors = model.predict(texts)
    assert vectors.shape == (4, 8) and vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    with pytest.raises(KerasBertError, match=r"\(rows, 8\)"):
        model.fit(texts, np.eye(4))


def test_a_trained_model_has_learned_the_rule(tiny, trained):
    texts, labels = tiny.rows(200, seed=5)
    accuracy = np.mean(trained.predict(texts).argmax(1) == trained.encode_labels(labels))
    assert accuracy > 0.9
    assert trained.evaluate(texts, labels, verbose=0, return_dict=True)["accuracy"] == pytest.approx(accuracy, abs=1e-6)


@pytest.mark.long
def test_predict_keeps_the_order_of_mixed_lengths(tiny, trained):
    texts, _ = tiny.rows(23, seed=6)
    lengths = [len(text.split()) for text in texts]
    assert len(set(lengths)) > 4 and lengths != sorted(lengths, reverse=True)
    together = trained.predict(texts, batch_size=5)
    alone = np.concatenate([trained.predict([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=2e-6)
    assert np.ptp(alone[:, 0]) > 0.5
    np.testing.assert_allclose(trained.serve_numpy(trained.pack(texts))["probabilities"], alone, atol=2e-6)


def test_sample_weights_belong_to_their_texts(tiny):
    texts, labels = tiny.rows(9, seed=2)
    model = compiled(tiny.narrow())
    first = int(np.argmin([len(text) for text in texts]))  # sorting by length moves it to the end
    alone = model.evaluate([texts[first]], [labels[first]], verbose=0, return_dict=True)["loss"]
    weights = np.eye(9)[first] * 9
    weighted = model.evaluate(texts, labels, sample_weight=weights, verbose=0, return_dict=True)["loss"]
    assert weighted == pytest.approx(alone, rel=1e-4)


def test_callbacks_and_validation(tiny):
    model = compiled(tiny.narrow())
    texts, labels = tiny.rows(6)
    seen = []
    note = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(sorted(logs)))
    stop = keras.callbacks.EarlyStopping("val_loss", patience=0, min_delta=100.0)
    model.fit(texts, labels, epochs=5, validation_data=(texts, labels), callbacks=[note, stop], verbose=0)
    assert seen == [["accuracy", "loss", "val_accuracy", "val_loss"]] * 2


def test_own_loss_and_metrics_replace_the_defaults(tiny):
    model = compiled(tiny.narrow(), loss=lambda y, logits: tf.reduce_mean(tf.square(logits)), metrics=[])
    history = model.fit(*tiny.rows(4), verbose=0).history
    assert set(history) == {"loss"} and history["loss"][0] < 0.1


@pytest.mark.long
def test_a_seed_makes_training_reproducible(tiny):
    def train(seed):
        model = compiled(tiny.narrow(seed=1))
        model.fit(*tiny.rows(12), batch_size=4, epochs=2, seed=seed, verbose=0)
        return model.classifier.kernel.numpy()

    keras.utils.set_random_seed(3)
    one = train(7)
    np.testing.assert_array_equal(train(7), one)
    assert np.abs(train(8) - one).max() > 1e-6


@pytest.mark.long
def test_keras_seed_makes_training_reproducible(tiny):
    def train():
        model = compiled(tiny.narrow(seed=1))
        keras.utils.set_random_seed(3)
        model.fit(*tiny.rows(12), batch_size=4, verbose=0)
        return model.classifier.kernel.numpy()

    np.testing.assert_array_equal(train(), train())


def test_truncated_texts_are_noted_once(tiny, capsys):
    model = tiny.narrow(sequence_length=6)
    texts = ["good film", "the film was so very good and fine", "a book was a very very dull book"]
    model.predict(texts)
    printed = capsys.readouterr()
    lines = [line for line in (printed.out + printed.err).splitlines() if "truncated" in line]
    assert len(lines) == 1 and "2 of 3" in lines[0] and "6 tokens" in lines[0]
    model.predict(texts[:1])
    assert "truncated" not in capsys.readouterr().out


def test_summary_counts_the_parameters(tiny, capsys):
    model = tiny.narrow()
    model.summary()
    text = capsys.readouterr().out
    assert f"{model.count_params()}" in text.replace(",", "") and "encoder" in text


@pytest.mark.parametrize(
    ("y", "told"),
    [
        (["negative", "postive", "negative"], "row 1: .*'postive'; did you mean 'positive'"),
        ([0, 1, 2], "from 0 to 1.*2"),
        ([0, -1, 1], "from 0 to 1.*-1"),
        ([[0, 1], [1, 0], [1, 0]], "one label a text"),
        ([0, "positive", 1], "one type, received 'positive' in row 1 and 0 in row 0"),
        (["negative", "positive"], "2 for 3"),
    ],
)
def test_wrong_labels(tiny, y, told):
    with pytest.raises(KerasBertError, match=told) as error:
        compiled(tiny.narrow()).fit(["good film", "bad film", "dull"], y)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("x", "told"),
    [
        ([], "at least one text"),
        ("good film", "str"),
        (7, "int"),
        ([["a", "b", "c"]], "row 0"),
        (np.array([["a", "b"]]), r"\(1, 2\)"),
        ((["a", "b"], ["c"]), "2 texts, 1 pairs"),
        (["good", None], "NoneType in row 1"),
        ({"input_ids": np.ones((2, 4), np.int32), "attention_mask": np.ones((2, 3), np.int32)}, "of one shape"),
    ],
)
def test_wrong_texts(tiny, x, told):
    with pytest.raises(KerasBertError, match=told) as error:
        tiny.narrow().predict(x)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"labels": ("one",)}, "two or more"),
        ({"labels": ("same", "same")}, "different"),
        ({"labels": None}, "two or more"),
        ({"problem": "ranking"}, "'ranking'"),
        ({"problem": "regression", "labels": ("a", "b")}, "one label"),
        ({"sequence_length": 33}, "3 to 32.*33"),
        ({"sequence_length": 2}, "3 to 32.*2"),
        ({"sizes": {"vocab_size": 20}}, "at most 20"),
    ],
)
def test_wrong_settings_are_rejected(tiny, settings, told):
    with pytest.raises(KerasBertError, match=told):
        tiny.classifier(**settings)


def test_wrong_encoders_and_poolings_are_rejected(tiny):
    from kerasbert.tasks import SentenceEncoder, TextClassifier

    with pytest.raises(KerasBertError, match="pooler"):
        TextClassifier(tiny.encoder(pooler=False), tiny.tokenizer(), labels=("a", "b"), sequence_length=16)
    with pytest.raises(KerasBertError, match="'median'"):
        SentenceEncoder(tiny.encoder(), tiny.tokenizer(), pooling="median", sequence_length=16)


def test_autograph_is_used_for_losses_only(tiny, monkeypatch):
    status = []

    def call(self, *args, **kwargs):
        status.append(tf.__internal__.autograph.control_status_ctx().status.name)
        return original(self, *args, **kwargs)

    def loss(labels, probabilities):
        error = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(labels, probabilities))
        if error > 100.0:  # of a tensor: a user's loss may ask so
            error = tf.constant(100.0)
        return error

    model = tiny.narrow()
    original = type(model).call
    monkeypatch.setattr(type(model), "call", call)
    model.compile("sgd", loss)
    model.fit(*tiny.rows(8), verbose=0)
    assert status and set(status) == {"DISABLED"}


@pytest.mark.long
def test_jit_compiled_training_is_the_same_training(tiny):
    losses = []
    for jit in (False, True):
        model = tiny.narrow()
        model.encoder.embeddings.dropout.rate = model.dropout.rate = 0.0
        for layer in model.encoder.layers:
            layer.dropout.rate = layer.attention.dropout.rate = 0.0
        model.compile(keras.optimizers.SGD(0.1), jit_compile=jit)
        losses.append(model.fit(*tiny.rows(8), epochs=2, seed=0, verbose=0).history["loss"])
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)


@pytest.fixture
def policy(request):
    keras.mixed_precision.set_global_policy(request.param)
    yield request.param
    keras.mixed_precision.set_global_policy("float32")


@pytest.mark.long_cases("None-mixed_bfloat16", "static_wi8_ai8-mixed_float16")
@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"], indirect=True)
@pytest.mark.parametrize("recipe", [None, "static_wi8_ai8", "dynamic_wi8_afp32"])
def test_mixed_precision(tiny, policy, recipe):
    import kerasbert as kb

    texts, labels = tiny.rows(8)
    model = tiny.narrow(seed=4)
    model.classifier.kernel.assign(model.classifier.kernel * 10)
    if recipe:
        model = kb.compression.quantize(model, recipe, calibration=texts)
    half = model.predict(texts)
    keras.mixed_precision.set_global_policy("float32")
    single = type(model).from_config(model.get_config())
    keras.mixed_precision.set_global_policy(policy)
    single.set_weights(model.get_weights())
    assert half.dtype == np.float32 and np.isfinite(half).all()
    np.testing.assert_allclose(half, single.predict(texts), atol=0.02)
    assert model.encoder.layers[0].attention.query.kernel.dtype == tf.float32
    before = model.classifier.kernel.numpy().copy()
    # Several epochs: a step that overflows halves Keras' loss scale and changes nothing.
    compiled(model).fit(texts, labels, epochs=4, verbose=0)
    assert 0 < np.abs(model.classifier.kernel - before).max() < 4


def test_predictions_make_no_pipeline(trained, monkeypatch):
    """A pipeline of tf.data would leave its traces in memory: `kerasbert predict` grew by 1.5 MB for every 4,096 rows."""
    monkeypatch.setattr(tf.data.Dataset, "from_generator", None)
    assert [each["label"] for each in trained.predictions(["a good film", "a bad film"])] == ["positive", "negative"]
