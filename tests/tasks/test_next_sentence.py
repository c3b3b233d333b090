"""Next sentences and sentence order on pairs of texts."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.data.plain_text import pairs_from_text
from kerasbert.encoders import encoder_class
from kerasbert.errors import KerasBertError

pytestmark = pytest.mark.one_layer

GOLDEN = Path(__file__).parents[1] / "golden"
SIZES = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}


@pytest.fixture
def task(tiny):
    keras.utils.set_random_seed(0)
    return kb.NextSentencePredictor(tiny.encoder(num_hidden_layers=1), tiny.tokenizer(), 16)


@pytest.mark.long
def test_it_learns_the_order_of_sentences(task):
    draw = np.random.default_rng(0)
    words = ["film", "book", "song", "it", "we", "so", "very"]
    texts = [f"start {draw.choice(words)}. {draw.choice(words)} end." for _ in range(96)]
    table = pairs_from_text([line for text in texts for line in (text, "")], "sentence_order")
    x, y = table.x, [int(label == "swapped") for label in table.y]
    task.compile(kb.adamw(5e-3, warmup=0, decay="constant"))
    history = task.fit(x[:64], y[:64], batch_size=16, epochs=4, seed=0, verbose=0).history
    assert history["loss"][-1] < history["loss"][0]
    assert task.score(x[64:], y[64:])["accuracy"] > 0.9
    answers = task.predict([("start film.", "song end."), ("song end.", "start film.")])
    assert [answer["label"] for answer in answers] == ["next", "not next"]
    assert sum(answers[0]["probabilities"].values()) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("name", "output", "labels"),
    [
        ("bert-pretraining", "seq_relationship_logits", ("next", "not next")),
        ("mobilebert-pretraining", "seq_relationship_logits", ("next", "not next")),
        ("albert-two-groups", "sop_logits", ("in order", "swapped")),
    ],
)
@pytest.mark.long_cases
def test_the_head_of_pretraining_checkpoints(name, output, labels, tmp_path):
    task = kb.NextSentencePredictor.from_pretrained(GOLDEN / name)
    assert task.load_report.missing == () and task.labels == labels
    reference = dict(np.load(GOLDEN / name / "reference.npz"))
    inputs = {key: tf.constant(reference[key]) for key in ("input_ids", "attention_mask", "token_type_ids")}
    np.testing.assert_allclose(task(inputs), reference[output], atol=1e-5)
    np.testing.assert_allclose(task.serve(inputs)["probabilities"], tf.nn.softmax(reference[output]), atol=1e-5)
    task.save_pretrained(tmp_path / "saved")
    loaded = kb.load_task(tmp_path / "saved")
    assert type(loaded) is kb.NextSentencePredictor and loaded.labels == labels
    np.testing.assert_array_equal(loaded(inputs), task(inputs))


def test_the_task_of_hugging_face(task, tmp_path):
    task.save_pretrained(tmp_path / "saved")
    config = (tmp_path / "saved" / "config.json").read_text("utf-8")
    assert '"BertForNextSentencePrediction"' in config
    foreign = Path(shutil.copytree(tmp_path / "saved", tmp_path / "foreign"))
    (foreign / "kerasbert.json").unlink()
    loaded = kb.load_task(foreign)
    assert type(loaded) is kb.NextSentencePredictor
    assert loaded.predict([("it is", "so")]) == task.predict([("it is", "so")])


@pytest.mark.long_cases("mobilebert", "electra")
@pytest.mark.parametrize("kind", ["albert", "mobilebert", "distilbert", "electra", "roberta"])
def test_every_encoder(tiny, kind):
    encoder = encoder_class(kind)
    further = {"embedding_size": 8} if kind in ("albert", "mobilebert", "electra") else {}
    further |= {"type_vocab_size": 2} if kind == "roberta" else {}  # as the tokenizer here has them
    further |= {"intra_bottleneck_size": 8, "true_hidden_size": 8} if kind == "mobilebert" else {}
    known = encoder.config_class.__dataclass_fields__
    sizes = {key: value for key, value in {**tiny.sizes, **SIZES, **further}.items() if key in known}
    task = kb.NextSentencePredictor(encoder(encoder.config_class(**sizes)), tiny.tokenizer(), 12)
    task.compile(run_eagerly=True)
    task.fit([("it is", "so"), ("we saw", "the end")], [0, 1], verbose=0)
    assert task.predict([("it is", "so")])[0]["label"] in task.labels
    assert (task.labels[0] == "in order") == (kind == "albert")


def test_user_mistakes_are_reported(task, tiny):
    task.compile(run_eagerly=True)
    with pytest.raises(KerasBertError, match="row 0: .*pair.*it is"):
        task.predict(["it is"])
    with pytest.raises(KerasBertError, match="swapped"):
        task.fit([("it is", "so")], ["swapped"])
    with pytest.raises(KerasBertError, match="pooler"):
        kb.NextSentencePredictor(tiny.encoder(pooler=False), tiny.tokenizer(), 16)
