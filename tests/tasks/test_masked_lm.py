"""Masked language modelling on texts."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.processors import IGNORED

pytestmark = pytest.mark.one_layer

SENTENCES = ["the film was good", "a book is dull", "we saw it end"]


@pytest.fixture
def task(tiny):
    keras.utils.set_random_seed(0)
    return kb.MaskedLM(tiny.encoder(num_hidden_layers=1), tiny.tokenizer(), 16, share=0.25)


@pytest.mark.long
def test_it_learns_to_fill_masks(task):
    task.compile(kb.adamw(1e-2))
    before = task.score(SENTENCES)
    history = task.fit(SENTENCES * 32, batch_size=16, epochs=6, seed=0, verbose=0).history
    assert set(history) == {"loss", "masked_accuracy"} and history["loss"][-1] < history["loss"][0]
    after = task.score(SENTENCES)
    assert after["masked accuracy"] > 0.6 and after["perplexity"] < before["perplexity"] / 2
    answers = task.predict(["a [MASK] is dull", "we saw it [MASK]"])
    assert [answer["masks"][0]["words"][0]["word"] for answer in answers] == ["book", "end"]
    assert answers[0]["masks"][0]["start"] == 2 and len(answers[0]["masks"][0]["words"]) == 5


def test_only_masked_tokens_are_decoded_and_have_a_loss(task):
    """The loss over (N, V) is that of the places of (B, S, V) that have a target."""
    task.compile(run_eagerly=True)
    ((inputs, targets),) = task.dataset(SENTENCES, batch_size=4)
    found = task.test_on_batch(inputs, targets, return_dict=True)
    chosen = targets != IGNORED
    logits, right = tf.boolean_mask(task(inputs), chosen), tf.boolean_mask(targets, chosen)
    losses = keras.losses.sparse_categorical_crossentropy(right, logits, from_logits=True)
    assert found["loss"] == pytest.approx(float(tf.reduce_mean(losses)), rel=1e-5)
    places = tf.where(chosen)
    np.testing.assert_allclose(task({**inputs, "positions": places}), logits, atol=1e-5)


@pytest.mark.long
def test_epochs_have_different_masks_and_validation_the_same(task):
    shuffled, fixed = (task.dataset(SENTENCES * 4, batch_size=4, shuffle=shuffle, seed=3) for shuffle in (True, False))

    def passes(data):
        return [sorted(ids for inputs, _ in data for ids in inputs["input_ids"].numpy().tolist()) for _ in range(2)]

    one, other = passes(shuffled)
    assert one != other
    one, other = passes(fixed)
    assert one == other
    task.compile(run_eagerly=True)
    history = task.fit(SENTENCES, validation_data=SENTENCES, epochs=1, sample_weight=[1, 0, 1], verbose=0).history
    assert {"val_loss", "val_masked_accuracy"} <= set(history)


@pytest.mark.long
def test_raw_results_are_those_of_the_whole_logits(task, tiny):
    """A `.tflite` file gives all logits of a row; the task only those of the masks."""
    texts = ["the [MASK] was [MASK]", "it [MASK] " + "very " * 20]
    _, rows = task.features(texts)
    packed = rows.pack(range(len(rows)), 16, 0)
    logits = task.serve_numpy(packed)["logits"]
    for row, reading in enumerate(task.raw_results(rows)):
        np.testing.assert_allclose(
            task.processor.raw_result({"logits": logits[row]}, rows, row)["logits"], reading["logits"], atol=1e-5
        )
        np.testing.assert_allclose(reading["logits"].sum(axis=1), 1, atol=1e-5)
    assert task.predict(packed).shape == (2, 16, len(tiny.vocabulary))


def test_a_long_text_is_trained_on_in_windows(task, capsys):
    data = task.dataset(["the film was good and it was so very bright " * 8], batch_size=32)
    ((inputs, targets),) = data
    assert inputs["input_ids"].shape[0] > 4 and (targets.numpy() != IGNORED).any(axis=1).all()
    assert "cut" not in capsys.readouterr().err
    task.predict(["the film was good and it was so very bright " * 8 + "[MASK]"])
    assert "1 of 1 texts are too long for 16 tokens" in capsys.readouterr().err


@pytest.mark.long
def test_settings_are_saved(task, tmp_path):
    task.whole_words = True
    task.save_pretrained(tmp_path / "saved")
    loaded = kb.load_task(tmp_path / "saved")
    assert type(loaded) is kb.MaskedLM and loaded.processor == task.processor
    assert loaded.predict(["the [MASK]"]) == task.predict(["the [MASK]"])
    task.save(tmp_path / "model.keras")
    assert keras.models.load_model(tmp_path / "model.keras").processor == task.processor


def test_user_mistakes_are_reported(task, tiny, monkeypatch):
    task.compile(run_eagerly=True)
    with monkeypatch.context() as patch, pytest.raises(KerasBertError, match=r"row 1: .*\[MASK\].*a book"):
        patch.setattr(type(task), "_raw_results_of", None)  # told before the model is run
        task.predict(["the [MASK]", "a book"])
    with pytest.raises(KerasBertError, match="row 1: .*empty"):
        task.fit(["the film", ""])
    with pytest.raises(KerasBertError, match="labels"):
        task.fit(["the film"], ["good"])
    with pytest.raises(KerasBertError, match="share"):
        kb.MaskedLM(tiny.encoder(), tiny.tokenizer(), 16, share=2.0)
