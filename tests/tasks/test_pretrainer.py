"""The heads of pretraining on raw texts."""

from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.data.plain_text import pairs_from_text
from kerasbert.errors import KerasBertError
from kerasbert.processors import IGNORED
from kerasbert.processors.masked_lm import MaskedWords
from kerasbert.tasks.pretraining_task import PretrainingTask, masked_words

pytestmark = pytest.mark.one_layer

DOCUMENTS = ["the film was good. we saw it end. it was so.", "", "a book is dull. the song was grim. we saw it."]
SIZES = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}


@pytest.fixture
def pretrainer(tiny):
    keras.utils.set_random_seed(0)
    task = kb.Pretrainer(tiny.encoder(**SIZES), tiny.tokenizer(), 24, share=0.25)
    task.compile(keras.optimizers.SGD(0.1), run_eagerly=True)
    return task


@pytest.fixture
def detector(tiny):
    keras.utils.set_random_seed(0)
    task = kb.ReplacedTokenDetector(tiny.encoder(pooler=False, **SIZES), tiny.tokenizer(), 16, share=0.25)
    task.compile(keras.optimizers.SGD(0.1), run_eagerly=True)
    return task


def cross_entropy(logits, classes):
    log = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    return -np.mean([row[number] for row, number in zip(log, classes, strict=True)])


def test_the_loss_is_the_sum_of_that_of_masked_words_and_pairs(pretrainer):
    """Devlin et al. 2018, appendix A.2; both by hand from the logits of all tokens."""
    ((inputs, labels),) = pretrainer.dataset(DOCUMENTS)
    outputs, words = pretrainer(inputs), labels["prediction_logits"].numpy()
    places = words != IGNORED
    expected = cross_entropy(outputs["prediction_logits"].numpy()[places], words[places])
    expected += cross_entropy(outputs["seq_relationship_logits"].numpy(), labels["seq_relationship_logits"].numpy())
    found = pretrainer.evaluate(DOCUMENTS, verbose=0, return_dict=True)
    assert found["loss"] == pytest.approx(expected, rel=1e-5)
    assert {"prediction_logits_accuracy", "seq_relationship_logits_accuracy"} <= set(found)


@pytest.mark.parametrize("objectives", [["masked-lm"], ["masked-lm", "next-sentence"]])
def test_every_trained_variable_has_a_gradient(tiny, caplog, objectives):
    """A pooler is trained where pairs are. Keras warns of variables without a gradient."""
    task = kb.Pretrainer(tiny.encoder(**SIZES), tiny.tokenizer(), 24, objectives=objectives)
    task.compile(kb.adamw(0.1), run_eagerly=True)
    before = {path: variable.numpy() for path, variable in task.variables_by_path().items()}
    task.fit(DOCUMENTS, verbose=0)
    moved = {path for path, variable in task.variables_by_path().items() if (variable.numpy() != before[path]).any()}
    still = set(before) - moved
    assert still == ({"encoder.pooler.kernel", "encoder.pooler.bias"} if len(objectives) == 1 else set())
    assert "Gradients do not exist" not in caplog.text


FORMS = {
    "texts": lambda folder: DOCUMENTS,
    "documents": lambda folder: [[DOCUMENTS[0]], [DOCUMENTS[2]]],
    "a file": lambda folder: kb.data.read_text(folder / "texts.txt"),
    "pairs": lambda folder: pairs_from_text(DOCUMENTS),
}


@pytest.mark.long_cases("texts", "documents")
@pytest.mark.parametrize("form", FORMS)
def test_fit_takes(pretrainer, tmp_path, form):
    (tmp_path / "texts.txt").write_text("\n".join(DOCUMENTS))
    before = pretrainer.score(DOCUMENTS)
    history = pretrainer.fit(FORMS[form](tmp_path), epochs=2, seed=0, verbose=0, validation_split=0.25).history
    assert history["loss"][1] < history["loss"][0] and "val_loss" in history
    after = pretrainer.score(DOCUMENTS)
    assert (
        list(after) == ["masked accuracy", "perplexity", "pair accuracy"]
        and after["perplexity"] != before["perplexity"]
    )


@pytest.mark.long
def test_pairs_and_packed_inputs_need_labels(pretrainer):
    x, y = pairs_from_text(DOCUMENTS).x, pairs_from_text(DOCUMENTS).y
    packed = pretrainer.pack(*zip(*x, strict=True))
    for data in (x, packed):
        with pytest.raises(KerasBertError, match="expected labels of the pairs, 'next' or 'not next', received none"):
            pretrainer.fit(data, verbose=0)
        pretrainer.fit(data, y, verbose=0)
    words = np.full(packed["input_ids"].shape, IGNORED)
    words[:, 1] = 7
    pretrainer.fit(packed, {"prediction_logits": words, "seq_relationship_logits": [0] * len(x)}, verbose=0)


def test_what_cannot_be_done_is_refused_with_what_to_do(pretrainer, detector):
    with pytest.raises(
        KerasBertError, match=r"kb.MaskedLM .* fills masks and kb.NextSentencePredictor .* judges pairs"
    ):
        pretrainer.predict([("the film", "a book")])
    with pytest.raises(KerasBertError, match="expected documents alone, received labels"):
        pretrainer.fit(DOCUMENTS, ["next"] * 3, verbose=0)
    with pytest.raises(KerasBertError, match="received a tf.data.Dataset, whose documents are not known"):
        pretrainer.fit(tf.data.Dataset.from_tensor_slices(DOCUMENTS), verbose=0)
    with pytest.raises(KerasBertError, match="received a Pretrainer, whose heads are for pretraining; kb.MaskedLM"):
        kb.export.convert(pretrainer)
    with pytest.raises(
        KerasBertError, match="received a ReplacedTokenDetector, .*; convert a task that was trained from it"
    ):
        kb.export.convert(detector)


def test_replaced_tokens_have_a_loss_and_others_too(detector):
    ((inputs, labels),) = detector.dataset(["the film was good", "a book is dull"])
    truth, logits = labels.numpy(), detector(inputs).numpy().astype(np.float64)
    original = detector.pack(["the film was good", "a book is dull"], length=truth.shape[1])
    order = [0 if inputs["input_ids"][0][2] in original["input_ids"][0] else 1]
    assert truth.shape == inputs["input_ids"].shape and (truth[:, 0] == IGNORED).all() and order
    kept = truth != IGNORED
    y, p = truth[kept], 1 / (1 + np.exp(-logits[kept]))
    expected = -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
    found = detector.evaluate(["the film was good", "a book is dull"], verbose=0, return_dict=True)
    assert found == pytest.approx({"loss": expected, "accuracy": np.mean((p > 0.5) == y)}, rel=1e-5)


def test_labels_say_which_tokens_differ(detector):
    texts = ["the film was good and it was so very bright"] * 4
    ids = detector.pack(texts, length=12)["input_ids"]
    ((inputs, labels),) = detector.dataset(texts, batch_size=4)
    changed = inputs["input_ids"].numpy() != ids
    np.testing.assert_array_equal(labels.numpy() == 1, changed)
    assert 0 < changed.sum() <= 4 * round(0.25 * 10)
    assert set(inputs["input_ids"].numpy()[changed]) <= set(ids[:, 1:11].ravel())


@pytest.mark.long
def test_a_detector_learns_from_texts_and_from_packed_inputs_with_labels(detector):
    texts = ["the film was good", "a book is dull"]
    history = detector.fit(texts * 8, epochs=2, seed=0, verbose=0).history
    assert np.isfinite(history["loss"]).all() and set(detector.score(texts)) == {"F1", "token accuracy"}
    packed, labels = detector.pack(texts, length=6), [[IGNORED, 0, 1, 0, 0, IGNORED]] * 2
    detector.fit(packed, labels, verbose=0)
    with pytest.raises(KerasBertError, match="expected labels 0, 1 and -100 of packed inputs"):
        detector.fit(texts, ["good", "bad"], verbose=0)
    answer = detector.predict(texts)[1]
    logits = detector.predict(packed)[1]
    assert [token["token"] for token in answer["tokens"]] == ["a", "book", "is", "dull"]
    np.testing.assert_allclose(
        [token["probability"] for token in answer["tokens"]], 1 / (1 + np.exp(-logits[1:5])), rtol=1e-4
    )


def test_settings_are_saved(pretrainer, detector, tmp_path):
    pretrainer.save_pretrained(tmp_path)
    assert kb.load_task(tmp_path).processor == pretrainer.processor
    assert type(detector).from_config(detector.get_config()).processor == detector.processor


@pytest.mark.parametrize("kind", ["MaskedLM", "ReplacedTokenDetector"])
@pytest.mark.long_cases
def test_a_dataset_of_texts_has_other_masks_in_each_epoch_and_the_same_in_validation(tiny, kind):
    task = getattr(kb, kind)(tiny.encoder(pooler=False, **SIZES), tiny.tokenizer(), 16)
    task.compile(keras.optimizers.SGD(0.1), run_eagerly=True)
    texts = ["the film was good and it was so very bright in the end " * 2, "a book is dull"]
    data = tf.data.Dataset.from_tensor_slices(texts).batch(2)
    assert np.isfinite(task.fit(data, epochs=2, validation_data=data, verbose=0).history["val_loss"]).all()
    for shuffle in (True, False):
        batches = task.dataset(data, shuffle=shuffle)
        one, other = ([inputs["input_ids"].numpy() for inputs, _ in batches] for _ in range(2))
        assert len(one[0]) == 3  # windows of the long text
        assert np.array_equal(one[0], other[0]) != shuffle
    assert task.dataset(data, shuffle=True).cardinality() == 1
    with pytest.raises(KerasBertError, match="expected texts alone in a dataset"):
        task.fit(tf.data.Dataset.from_tensor_slices((texts, ["good", "bad"])), verbose=0)


class Twice(PretrainingTask):
    """Masked words by two heads, one of which no checkpoint of transformers has."""

    architecture, heads = "ForMaskedLM", ("masked_lm",)
    objectives = (masked_words(), replace(masked_words("other"), head="second"))

    def __init__(self, encoder, tokenizer=None, sequence_length=None, **kwargs):
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        self.make_heads()

    @property
    def processor(self):
        return MaskedWords()


def test_an_objective_with_a_head_of_its_own_is_trained_and_saved(tiny, tmp_path, capsys):
    task, texts = Twice(tiny.encoder(pooler=False, **SIZES), tiny.tokenizer(), 16), tiny.rows(8)[0]
    task.compile(keras.optimizers.SGD(0.1), run_eagerly=True)
    history = task.fit(texts, sample_weight=[1.0] * 8, verbose=0).history
    assert {"logits_accuracy", "other_accuracy"} <= set(history)
    task.save_pretrained(tmp_path)
    assert Twice.from_pretrained(tmp_path).fingerprint() == task.fingerprint()
    assert not kb.MaskedLM.from_pretrained(tmp_path).has_new_head
    assert "(head of pretraining)" in capsys.readouterr().err
