"""Tagging of words, under Keras."""

import json

import numpy as np
import pytest
import tf_keras as keras

import kerasbert as kb
from kerasbert.data.conll import read_conll
from kerasbert.encoders import encoder_class
from kerasbert.errors import KerasBertError
from kerasbert.losses import CrossEntropy
from kerasbert.processors import IGNORED
from kerasbert.tasks.auto import load_task
from kerasbert.tasks.token_tagger import TaggedAccuracy

pytestmark = pytest.mark.one_layer

LABELS = ("O", "B-GOOD", "I-GOOD", "B-BAD", "I-BAD")
SIZES = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
OWN_SIZES = {
    "albert": {"embedding_size": 8},
    "electra": {"embedding_size": 8},
    "mobilebert": {"embedding_size": 8, "intra_bottleneck_size": 8},
}


TAG_OF = {"good": "B-GOOD", "fine": "B-GOOD", "great": "I-GOOD", "bad": "B-BAD", "poor": "B-BAD", "awful": "I-BAD"}


def sentences(tiny, count, seed=0):
    """Each word has its tag."""
    words = [text.split() for text in tiny.rows(count, seed)[0]]
    return words, [[TAG_OF.get(word, "O") for word in row] for row in words]


def tagger(tiny, sizes=SIZES, **settings):
    keras.utils.set_random_seed(0)
    settings = {"labels": LABELS, "sequence_length": tiny.length, **settings}
    return kb.TokenTagger(tiny.encoder(pooler=False, **sizes), tiny.tokenizer(), **settings)


@pytest.fixture(scope="module")
def learned(tiny):
    """A tagger after a short training, with its history."""
    task = tagger(tiny, {"num_hidden_layers": 1})
    task.compile(kb.adamw(1e-2))
    history = task.fit(*sentences(tiny, 128), batch_size=16, epochs=3, seed=0, verbose=0).history
    return task, history


def test_it_learns_a_rule(learned, tiny):
    task, history = learned
    assert history["loss"][-1] < history["loss"][0] and history["accuracy"][-1] > history["accuracy"][0]
    words, tags = sentences(tiny, 48, seed=1)
    scores = task.score(words, tags)
    assert next(iter(scores)) == "entity F1" and scores["entity F1"] > 0.9
    # The same from raw text, where entities are given by their characters.
    texts = [" ".join(row) for row in words]
    answers = task.predict(texts)
    assert answers == task.predict(words)
    assert task.score(texts, [answer["entities"] for answer in answers])["entity F1"] == 1.0


def test_raw_text_has_entities_without_the_comma(learned):
    text = "It was very  good, the film. So awful!"
    (answer,) = learned[0].predict([text])
    assert [text[entity["start"] : entity["end"]] for entity in answer["entities"]] == ["good", "awful"]
    assert json.loads(json.dumps(answer)) == answer


def test_long_sentences_have_windows(learned, tiny):
    task = learned[0]
    words, tags = (sum(rows[:9], []) for rows in sentences(tiny, 9, seed=2))
    _, rows = task.features([words])
    assert len(rows) > 1 and task.truncated_texts == 0
    assert task.score([words], [tags])["entity F1"] > 0.9
    assert len(task.predict([words])[0]["tags"]) == len(words)
    assert np.isfinite(task.evaluate([words], [tags], verbose=0)[0])


def test_the_batch_does_not_change_a_prediction(learned):
    examples = [["good", "film"], ["it", "was", "so", "very", "bad", "in", "the", "end"]]
    for example, answer in zip(examples, learned[0].predict(examples), strict=True):
        (alone,) = learned[0].predict([example])
        assert alone["tags"] == answer["tags"]
        assert [e["score"] for e in alone["entities"]] == pytest.approx(
            [e["score"] for e in answer["entities"]], abs=1e-5
        )


def test_the_loss_is_the_mean_over_words(tiny):
    task = tagger(tiny)
    task.compile(run_eagerly=True)
    words, tags = [["good", "films"], ["it", "was", "awful", "."]], [["B-GOOD", "O"], ["O", "O", "B-BAD", "O"]]
    found = task.evaluate(words, tags, verbose=0, return_dict=True)
    examples, rows = task.features(words)
    raw_results = task.raw_results(rows)
    numbers = [[LABELS.index(tag) for tag in row] for row in tags]
    chosen = [reading["probabilities"][range(len(row)), row] for reading, row in zip(raw_results, numbers, strict=True)]
    assert found["loss"] == pytest.approx(-np.log(np.concatenate(chosen)).mean(), rel=1e-4)
    assert found["accuracy"] == pytest.approx(task.score(words, tags)["tag accuracy"])
    weighted = task.evaluate(words, tags, sample_weight=[0.0, 1.0], verbose=0, return_dict=True)
    assert weighted["loss"] == pytest.approx(-np.log(chosen[1]).sum() / 6, rel=1e-4)


def test_a_batch_without_words_has_no_loss():
    loss, accuracy = CrossEntropy(), TaggedAccuracy()
    logits = np.array([[[2.0, 0.0], [0.0, 9.0], [1.0, 0.0]]], np.float16)
    assert float(loss(np.full((1, 3), IGNORED), logits)) == 0.0
    wanted = np.array([[1, IGNORED, 0]])
    assert float(loss(wanted, logits)) == pytest.approx(
        -np.log([1 / (1 + np.e**2), np.e / (1 + np.e)]).mean(), rel=1e-5
    )
    accuracy.update_state(wanted, logits)
    assert float(accuracy.result()) == 0.5


def test_mixed_precision(tiny):
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        task = tagger(tiny)
        task.compile(keras.optimizers.SGD(1e-2), run_eagerly=True)
        assert np.isfinite(task.fit(*sentences(tiny, 8), verbose=0).history["loss"][0])
    finally:
        keras.mixed_precision.set_global_policy("float32")


def test_packed_inputs(tiny):
    task = tagger(tiny)
    words, tags = sentences(tiny, 4)
    examples, rows = task.features(words)
    packed = rows.pack(range(4), tiny.length, 0)
    y = np.full((4, tiny.length), IGNORED)
    for row, wanted in zip(y, task.processor.encode_labels(tags, examples, rows), strict=True):
        row[: len(wanted)] = wanted
    task.compile(run_eagerly=True)
    assert task.evaluate(packed, y, verbose=0) == pytest.approx(task.evaluate(words, tags, verbose=0), rel=1e-4)
    assert task.predict(packed).shape == (4, tiny.length, 5)
    with pytest.raises(KerasBertError, match="row 1: .*0 to 4"):
        task.fit(packed, np.where(np.arange(4)[:, None] == 1, 7, y))


@pytest.mark.long
def test_quantized_training(learned, tiny):
    words, tags = sentences(tiny, 8)
    task = kb.compression.quantize(learned[0], "static_wi8_ai8", calibration=words)
    task.compile(kb.adamw(1e-3), run_eagerly=True)
    assert np.isfinite(task.fit(words, tags, verbose=0).history["loss"][0])
    assert task.score(words, tags)["entity F1"] > 0.8


@pytest.mark.long_cases("albert", "roberta")
@pytest.mark.parametrize("model_type", ["bert", "albert", "mobilebert", "distilbert", "electra", "roberta"])
def test_every_encoder_trains_and_is_saved(tiny, model_type, tmp_path):
    kind = encoder_class(model_type)
    config = kind.config_class(**{**tiny.sizes, **SIZES, **OWN_SIZES.get(model_type, {})})
    task = kb.TokenTagger(kind(config, pooler=False), tiny.tokenizer(), LABELS, tiny.length, stride=5)
    task.compile(run_eagerly=True)
    words, tags = sentences(tiny, 2)
    before = task.fingerprint()
    assert np.isfinite(task.fit(words, tags, verbose=0).history["loss"][0]) and task.fingerprint() != before
    task.save_pretrained(tmp_path / "model")
    loaded = load_task(tmp_path / "model")
    assert (loaded.labels, loaded.stride, loaded.fingerprint()) == (LABELS, 5, task.fingerprint())
    assert [answer["tags"] for answer in loaded.predict(words)] == [answer["tags"] for answer in task.predict(words)]


@pytest.mark.long
def test_a_keras_file_keeps_loss_and_labels(learned, tiny, tmp_path):
    task = learned[0]
    task.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert isinstance(loaded.loss, CrossEntropy) and loaded.labels == LABELS
    words, tags = sentences(tiny, 4)
    assert loaded.evaluate(words, tags, verbose=0) == pytest.approx(task.evaluate(words, tags, verbose=0), rel=1e-5)


@pytest.mark.long
def test_tables(tiny, tmp_path):
    (tmp_path / "a.conll").write_text("good I-GOOD\nfilm O\n\nit O\n")
    table, task = read_conll(tmp_path / "a.conll"), tagger(tiny)
    task.compile(run_eagerly=True)
    task.fit(table, validation_data=table, verbose=0)
    assert task.score(table).keys() == {"entity F1", "precision", "recall", "tag accuracy"}
    assert [answer["words"] for answer in task.predict(table)] == table.x


def test_user_mistakes_are_reported(tiny, tmp_path):
    task = tagger(tiny)
    task.save_pretrained(tmp_path / "model")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    plain = {name: value for name, value in config.items() if name not in ("id2label", "label2id", "architectures")}
    (tmp_path / "model" / "config.json").write_text(json.dumps({**plain, "architectures": ["BertModel"]}))
    (tmp_path / "model" / "kerasbert.json").unlink()
    numbered = tuple(f"LABEL_{number}" for number in range(len(task.labels)))
    assert kb.TokenTagger.from_pretrained(tmp_path / "model").labels == numbered  # the head is there, without names
    for labels in ((), ("O",), ("O", "O")):
        with pytest.raises(KerasBertError, match="two or more different labels"):
            tagger(tiny, labels=labels)
    with pytest.raises(KerasBertError, match="stride"):
        tagger(tiny, stride=0)
    task.compile(run_eagerly=True)
    for call in (task.fit, task.score):
        with pytest.raises(KerasBertError, match="row 0: .*1 tags for 2 words"):
            call([["good", "film"]], [["O"]])
    with pytest.raises(KerasBertError, match="list"):
        task.predict("good film")
