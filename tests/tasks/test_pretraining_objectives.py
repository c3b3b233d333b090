"""Objectives of pretraining: what they learn, and batches in parts."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.errors import KerasBertError

pytestmark = pytest.mark.one_layer

SIZES = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
DOCUMENTS = ["the film was good. we saw it end. it was so.", "", "a book is dull. the song was grim. we saw it."] * 8


def pretrainer(tiny, objectives=None, **settings):
    keras.utils.set_random_seed(0)
    task = kb.Pretrainer(
        tiny.encoder(**SIZES, **NO_DROPOUT), tiny.tokenizer(), 24, share=0.25, objectives=objectives, **settings
    )
    task.compile(keras.optimizers.SGD(0.1), run_eagerly=True)
    return task


@pytest.fixture
def texts(tmp_path):
    (tmp_path / "texts.txt").write_text("\n".join(DOCUMENTS))
    return kb.data.TextStream(tmp_path / "texts.txt")


@pytest.mark.long_cases
@pytest.mark.parametrize(
    "objectives",
    [["masked-lm"], {"masked-lm": 1, "span-boundary": 0.5}, ["masked-lm", "sentence-order"], ["replaced-tokens"]],
    ids=lambda names: ",".join(names),
)
def test_a_batch_in_parts_has_the_loss_and_the_gradients_of_the_whole(tiny, texts, objectives):
    """Loss and gradients weigh each masked token of the batch alike, whichever part has it."""
    losses, weights = [], []
    for accumulate in (1, 3):
        task = pretrainer(tiny, objectives, masking="spans", accumulate=accumulate)
        before = task.get_weights()
        batch = next(iter(task.batches(texts, 7, seed=1).batches()))
        data = tf.nest.map_structure(tf.constant, (batch.inputs, batch.labels))
        losses.append({name: float(value) for name, value in task.train_step(data).items() if "loss" in name})
        weights.append(task.get_weights())
        assert any(np.abs(one - other).max() > 1e-4 for one, other in zip(weights[-1], before, strict=True))
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    for one, other in zip(*weights, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-6)


@pytest.mark.long
def test_a_stream_is_trained_saved_and_continued(tiny, texts, tmp_path):
    task = pretrainer(tiny, {"masked-lm": 1, "span-boundary": 1}, masking="spans", accumulate=2)
    history = task.fit(
        texts, steps_per_epoch=6, batch_size=8, epochs=2, validation_data=texts, seed=3, verbose=0
    ).history
    assert history["val_loss"][1] < history["val_loss"][0]
    assert {"prediction_logits_loss", "span_logits_loss"} <= set(history)
    task.save_pretrained(tmp_path / "folder")
    loaded = kb.Pretrainer.from_pretrained(tmp_path / "folder")
    assert loaded.fingerprint() == task.fingerprint() and loaded.head_config() == task.head_config()
    assert not kb.MaskedLM.from_pretrained(tmp_path / "folder").has_new_head
    again = kb.Pretrainer.from_pretrained(tmp_path / "folder", objectives=["masked-lm"], masking="tokens")
    assert again.objective_weights == {"masked-lm": 1.0} and not again.has_new_head


@pytest.mark.long
def test_a_generator_replaces_masked_tokens_and_the_labels_say_which(tiny, texts, tmp_path):
    task = pretrainer(tiny, ["replaced-tokens"])
    batch = next(iter(task.batches(texts, 8, seed=1).batches()))
    words, mask = batch.labels["prediction_logits"], task.tokenizer.mask_id
    assert (batch.inputs["input_ids"][words != -100] == mask).all()  # the generator reads masks alone
    x, y, _ = task.masked_only(tf.nest.map_structure(tf.constant, (batch.inputs, batch.labels)))
    outputs = task(x, training=False)
    labels, logits = task.targets(x, y, outputs)
    originals = np.where(words == -100, batch.inputs["input_ids"], words)
    corrupted = outputs["corrupted"].numpy()
    assert (corrupted == originals)[words == -100].all()
    expected = np.where(batch.inputs["attention_mask"] > 0, corrupted != originals, -100)
    np.testing.assert_array_equal(labels["logits"], expected)
    assert set(logits) == {"prediction_logits", "logits"}
    # The encoder reads the samples, and both models share the embeddings.
    plain = task({name: tf.constant(value) for name, value in {**batch.inputs, "input_ids": corrupted}.items()})
    np.testing.assert_allclose(logits["logits"], plain["logits"], atol=1e-6)
    history = task.fit(texts, steps_per_epoch=5, batch_size=8, epochs=2, seed=3, verbose=0).history
    assert history["prediction_logits_loss"][1] < history["prediction_logits_loss"][0]
    assert history["loss"][0] == pytest.approx(
        history["prediction_logits_loss"][0] + 50 * history["logits_loss"][0], rel=1e-4
    )
    task.save_pretrained(tmp_path / "folder")
    task.save_generator(tmp_path / "generator")
    assert kb.Pretrainer.from_pretrained(tmp_path / "folder").fingerprint() == task.fingerprint()
    generator = kb.MaskedLM.from_pretrained(tmp_path / "generator")
    packed = {name: batch.inputs[name] for name in ("input_ids", "attention_mask", "token_type_ids")}
    np.testing.assert_allclose(generator(packed), task(packed)["prediction_logits"], atol=1e-5)


def test_objectives_are_checked(tiny):
    for objectives, message in {
        ("masks",): "expected an objective of masked-lm, .*, received 'masks'",
        ("next-sentence", "sentence-order"): "expected one of next-sentence and sentence-order, received both",
        ("span-boundary", "replaced-tokens"): "expected span-boundary without replaced-tokens",
        (): "expected objectives as a list of names",
    }.items():
        with pytest.raises(KerasBertError, match=message):
            pretrainer(tiny, objectives)
    with pytest.raises(KerasBertError, match="expected a weight above 0 for masked-lm, received 0"):
        pretrainer(tiny, {"masked-lm": 0})
    with pytest.raises(KerasBertError, match="expected an encoder with a pooled output for next-sentence"):
        kb.Pretrainer(tiny.encoder(pooler=False, **SIZES), tiny.tokenizer(), 24, objectives=["next-sentence"])


def test_a_stream_needs_steps_and_no_generator_for_scores(tiny, texts):
    task = pretrainer(tiny, ["replaced-tokens"])
    with pytest.raises(KerasBertError, match="expected steps_per_epoch= for a text stream"):
        task.fit(texts)
    with pytest.raises(KerasBertError, match="expected objectives without a generator for score"):
        task.score(["the film was good"])


@pytest.mark.parametrize(
    "settings",
    [{"generator_size": "x"}, {"objectives": [["masked-lm"]]}, {"masks": 0}, {"accumulate": True}, {"masking": 3}],
)
def test_settings_of_other_types_are_refused(tiny, settings):
    with pytest.raises(KerasBertError, match="expected"):
        pretrainer(tiny, **settings).processor  # noqa: B018 (it checks the masks)


def test_a_batch_size_may_stand_in_its_place(tiny, texts):
    task = pretrainer(tiny, ["masked-lm"])
    rows = []
    task.train_step = lambda data: rows.append(len(data[0]["input_ids"])) or {"loss": tf.constant(0.0)}
    task.fit(texts, None, 6, steps_per_epoch=2, verbose=0)
    assert rows == [6, 6]
    with pytest.raises(KerasBertError, match="steps_per_epoch"):
        task.fit(texts, steps_per_epoch="x")


@pytest.mark.long
def test_losses_given_as_functions_are_those_of_parts(tiny, texts):
    losses = []
    for accumulate in (1, 2):
        task = pretrainer(tiny, ["masked-lm"], accumulate=accumulate)
        function = lambda y, logits: tf.nn.sparse_softmax_cross_entropy_with_logits(tf.reshape(y, [-1]), logits)  # noqa: E731
        task.compile(keras.optimizers.SGD(0.1), loss=function, run_eagerly=True)
        history = task.fit(texts, batch_size=6, steps_per_epoch=2, seed=1, verbose=0).history
        losses.append(history["loss"])
    np.testing.assert_allclose(*losses, rtol=1e-5)


def test_pairs_of_a_mobilebert_whose_pooled_output_is_its_first_token(tiny):
    config = kb.encoders.MobileBertConfig(
        vocab_size=len(tiny.vocabulary), embedding_size=4, num_hidden_layers=1, num_attention_heads=2, hidden_size=8,
        intermediate_size=8, intra_bottleneck_size=4, classifier_activation=False,
    )  # fmt: skip
    task = kb.Pretrainer(kb.encoders.MobileBertEncoder(config), tiny.tokenizer(), 24)
    assert list(task.objective_weights) == ["masked-lm", "next-sentence"]
    assert task.encoder.pooler is None
    inputs = {name: tf.ones((2, 8), tf.int32) for name in ("input_ids", "attention_mask", "token_type_ids")}
    assert task(inputs)["seq_relationship_logits"].shape == (2, 2)


def test_replaced_tokens_are_drawn_in_float32_by_a_model_in_16_bits(tiny, tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("the film was good and the book was dull .\n" * 40)
    before = keras.mixed_precision.global_policy()
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    try:
        task = kb.Pretrainer(tiny.encoder(pooler=False), tiny.tokenizer(), 16, objectives=["replaced-tokens"])
    finally:
        keras.mixed_precision.set_global_policy(before)
    dtypes, called = [], task.call
    task.call = lambda inputs, training=None: dtypes.append(inputs["draws"].dtype) or called(inputs, training=training)
    task.compile(kb.adamw(1e-3), run_eagerly=True)
    history = task.fit(kb.data.TextStream(path), steps_per_epoch=1, batch_size=4, verbose=0).history
    assert set(dtypes) == {tf.float32} and np.isfinite(history["loss"]).all()
