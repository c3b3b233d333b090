"""Question answering on raw text."""

from dataclasses import fields

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.data.squad import SquadTable
from kerasbert.encoders import encoder_class
from kerasbert.errors import KerasBertError

pytestmark = pytest.mark.one_layer

LENGTH = 16
GOOD, BAD, OTHER = (
    ("good", "fine", "great", "warm"),
    ("bad", "poor", "awful"),
    ("film", "was", "it", "and", "so", "we", "saw"),
)
SMALL = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
X = [("is it good ?", "we saw it and it was so good and so warm and we saw it"), ("was it ?", "so it was")]
Y = [{"text": ["good"], "answer_start": [24]}, None]


def questions(count, seed=0):
    """Contexts of 4 to 20 words, so of up to three windows. The answer is the only good word in them; three in ten have none."""
    draw = np.random.default_rng(seed)
    examples, answers = [], []
    for _ in range(count):
        words = [str(word) for word in draw.choice(OTHER, draw.integers(3, 19))]
        words.insert(int(draw.integers(len(words) + 1)), str(draw.choice(BAD)))
        answer = str(draw.choice(GOOD)) if draw.random() < 0.7 else None
        if answer:
            words.insert(int(draw.integers(len(words) + 1)), answer)
        context = " ".join(words)
        examples.append(("is it good ?", context))
        answers.append({"text": answer, "answer_start": context.index(answer)} if answer else None)
    return examples, answers


@pytest.fixture
def make(tiny):
    def make(length=LENGTH, **settings):
        keras.utils.set_random_seed(0)
        return kb.QuestionAnswerer(tiny.encoder(pooler=False, **SMALL), tiny.tokenizer(), length, **settings)

    return make


@pytest.fixture(scope="module")
def learned(tiny):
    """Has learned to find the good word; tests must not change it."""
    keras.utils.set_random_seed(0)
    task = kb.QuestionAnswerer(tiny.encoder(pooler=False), tiny.tokenizer(), LENGTH)
    task.compile(kb.adamw(1e-2))
    history = task.fit(*questions(192), batch_size=16, epochs=3, seed=0, verbose=0).history
    assert history["loss"][-1] < history["loss"][0]
    assert {"start_logits_accuracy", "end_logits_accuracy"} < set(history)
    return task


@pytest.mark.long
def test_it_learns_over_windows_and_without_answers(learned):
    examples, answers = questions(60, seed=1)
    assert len(learned.features(examples)[1]) > len(examples)
    assert learned.no_answer and learned.processor.no_answer
    scores = learned.score(examples, answers)
    assert next(iter(scores)) == "F1" and min(scores.values()) > 0.9
    for answer, (_, context) in zip(learned.predict(examples), examples, strict=True):
        assert answer["answer"] in (*GOOD, "") and (
            answer["start"] is None or context[answer["start"] : answer["end"]] == answer["answer"]
        )


@pytest.mark.long
def test_quantized_training_keeps_the_metric(learned):
    examples, answers = questions(60, seed=1)
    model = kb.compression.quantize(learned, "static_wi8_ai8", calibration=examples)
    assert model.no_answer
    _, rows = model.features(examples[:1])
    logits = model.serve(rows.pack([0], int(rows.lengths[0]), 0))["start_logits"]
    # What calibration traced must not stay: it observes, and holds no activation in 8 bits.
    np.testing.assert_allclose(model.raw_results(rows)[0]["start_logits"], logits, atol=1e-3)
    model.compile(kb.adamw(1e-3))
    model.fit(examples, answers, seed=0, verbose=0)
    assert model.score(examples, answers)["F1"] > 0.8


def test_saving(learned, tmp_path):
    learned.save_pretrained(tmp_path / "saved")
    again = kb.load_task(tmp_path / "saved")
    assert again.processor == learned.processor and again.sequence_length == LENGTH
    examples, _ = questions(5, seed=2)
    scores = [[answer["score"] for answer in task.predict(examples)] for task in (again, learned)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-4)


def test_settings_are_saved_and_copied(make):
    settings = {
        "stride": 5, "longest_answer": 4, "n_best": 2, "no_answer": True, "no_answer_threshold": 0.5, "unit": "character"
    }  # fmt: skip
    task = kb.QuestionAnswerer.from_config(make(**settings).get_config())
    assert task.processor.settings() == settings == task.with_policy(None).processor.settings()
    with pytest.raises(KerasBertError, match="n_best.*0"):
        make(n_best=0)


def test_the_default_length_is_384_or_the_positions(make, tiny):
    assert make(None).sequence_length == tiny.sizes["max_position_embeddings"]
    encoder = tiny.encoder(pooler=False, **SMALL | {"max_position_embeddings": 512})
    assert kb.QuestionAnswerer(encoder).sequence_length == 384


def test_the_loss_is_the_mean_of_both_cross_entropies(make):
    task = make()
    task.compile(run_eagerly=True)
    found = task.evaluate(X, Y, verbose=0, return_dict=True)
    examples, rows = task.features(X)
    targets = task.processor.encode_labels(Y, examples, rows)
    packed = rows.pack(range(len(rows)), LENGTH, 0)
    logits = task(packed)  # all rows as long: padding takes part in the softmax, as in the literature
    expected = [
        keras.losses.sparse_categorical_crossentropy(targets[name], logits[name], from_logits=True).numpy().mean()
        for name in targets
    ]
    assert max(rows.lengths) == LENGTH
    assert found["loss"] == pytest.approx(np.mean(expected), rel=1e-4)
    task.compile(loss="sparse_categorical_crossentropy", run_eagerly=True)  # one of the user's own
    assert np.isfinite(task.evaluate(X, Y, verbose=0)[0])


@pytest.mark.long
def test_the_first_fit_decides_whether_there_may_be_no_answer(make):
    task = make()
    task.compile(run_eagerly=True)
    assert task.predict(X[:1])[0]["answer"]
    task.fit(X[:1], Y[:1], verbose=0)
    assert task.no_answer is False
    task.fit(X, Y, verbose=0)
    assert task.no_answer is False
    forced = make(no_answer=True)
    forced.compile(run_eagerly=True)
    forced.fit(X[:1], Y[:1], verbose=0)
    assert forced.no_answer is True


def test_tables_weights_and_columns(make, tmp_path):
    task = make()
    task.compile(run_eagerly=True)
    table = SquadTable(tmp_path / "x.json", X, Y)
    task.fit(table, validation_data=table, verbose=0)
    assert task.no_answer is True
    assert task.score(table) == task.score(X, Y) == task.score(tuple(zip(*X, strict=True)), Y)
    assert np.isfinite(task.evaluate(X, Y, sample_weight=[1.0, 0.0], verbose=0)[0])


@pytest.mark.long
def test_packed_inputs_and_datasets(make):
    task = make()
    task.compile(run_eagerly=True)
    examples, rows = task.features(X)
    packed = rows.pack(range(len(rows)), LENGTH, 0)
    targets = task.processor.encode_labels(Y, examples, rows)
    assert task.predict(packed).shape == (len(rows), LENGTH)
    expected = task.evaluate(packed, targets, verbose=0)
    assert task.evaluate(packed, np.stack(list(targets.values()), 1), verbose=0) == pytest.approx(expected)
    assert task.evaluate(task.dataset(X, Y), verbose=0) == pytest.approx(expected, rel=1e-4)
    data = tf.data.Dataset.from_tensor_slices((packed, targets)).batch(2)
    assert np.isfinite(task.fit(data, verbose=0).history["loss"][0])
    with pytest.raises(KerasBertError, match="texts, received packed"):
        task.score(packed, targets)


def test_mixed_precision(make):
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        task = make()
        task.compile(kb.adamw(1e-3), run_eagerly=True)
        assert np.isfinite(task.fit(X, Y, verbose=0).history["loss"][0])
        assert task(task.pack(["film"]))["end_logits"].dtype == tf.float32
    finally:
        keras.mixed_precision.set_global_policy("float32")


def test_choose_threshold_sets_the_best_one(make):
    task = make()
    y = [None, None]
    best = task.choose_threshold(X, y)
    assert best == 1.0 and task.no_answer
    assert [answer["answer"] for answer in task.predict(X)] == ["", ""]
    assert task.score(X, y)["F1"] == best
    with pytest.raises(KerasBertError, match="answers to choose"):
        task.choose_threshold(X)


@pytest.mark.long_cases("albert", "roberta")
@pytest.mark.parametrize("kind", ["albert", "mobilebert", "distilbert", "electra", "roberta"])
def test_every_encoder(kind, tiny):
    encoder = encoder_class(kind)
    sizes = {
        **tiny.sizes,
        **SMALL,
        "max_position_embeddings": 40,
        "type_vocab_size": 2,
        "embedding_size": 8,
        "intra_bottleneck_size": 8,
    }
    known = {field.name for field in fields(encoder.config_class) if field.init}
    config = encoder.config_class(**{name: size for name, size in sizes.items() if name in known})
    task = kb.QuestionAnswerer(encoder(config, pooler=False), tiny.tokenizer(), LENGTH)
    task.compile(run_eagerly=True)
    assert np.isfinite(task.fit(X, Y, verbose=0).history["loss"][0])
    assert len(task.predict(X)) == 2


def test_user_mistakes_are_reported(make):
    task = make()
    task.compile(run_eagerly=True)
    with pytest.raises(KerasBertError, match="row 0, 'is it good .*'good' at character 3"):
        task.fit(X, [(3, "good"), None])
    with pytest.raises(KerasBertError, match="row 1: .*question, context"):
        task.predict([X[0], "film"])
    with pytest.raises(KerasBertError, match="labels"):
        task.fit(X)
