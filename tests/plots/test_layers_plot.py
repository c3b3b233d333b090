"""Linear probes on the layers of an encoder."""

import json

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.plots.linear_probes import LinearProbes

SENTENCES = [["the", "film", "was", "good"], ["we", "saw", "a", "grim", "book"], ["a", "song", "and", "a", "film"]] * 8
TAGS = [[f"B-{word}" if word in ("film", "book") else "O" for word in words] for words in SENTENCES]


@pytest.fixture(scope="module")
def drawn():
    """States of two layers, of which only the second one knows the class, and the classes."""
    draw = np.random.default_rng(0)
    classes = draw.integers(0, 3, 300)
    states = draw.normal(5, 2, (300, 2, 8)).astype(np.float32)
    states[:, 1, :3] += 6 * np.eye(3, dtype=np.float32)[classes]
    return states, classes


def test_a_probe_finds_what_a_layer_knows(drawn):
    states, classes = drawn
    probes = LinearProbes("softmax", 3, seeds=2)
    probes.fit(states[:200], classes[:200])
    right = (probes.predict(states[200:]).argmax(axis=-1) == classes[200:]).mean(axis=-1)  # (seeds, layers)
    assert (right[:, 0] < 0.55).all() and (right[:, 1] > 0.9).all()
    assert not np.array_equal(probes.kernel[0], probes.kernel[1])


def test_a_probe_is_as_good_as_logistic_regression(drawn):
    linear_model = pytest.importorskip("sklearn.linear_model")
    states, classes = drawn
    probes = LinearProbes("softmax", 3, seeds=1)
    probes.fit(states[:200], classes[:200])
    reference = linear_model.LogisticRegression().fit(states[:200, 1], classes[:200])
    found = (probes.predict(states[200:])[0, 1].argmax(axis=-1) == classes[200:]).mean()
    assert found >= reference.score(states[200:, 1], classes[200:]) - 0.03


@pytest.mark.parametrize("loss", ["sigmoid", "squared_error"])
def test_probes_of_numbers_and_of_several_labels(drawn, loss):
    states, classes = drawn
    targets = np.eye(3, dtype=np.float32)[classes]
    probes = LinearProbes(loss, 3, seeds=1)
    probes.fit(states, targets)
    errors = np.abs(probes.predict(states)[0] - targets).mean(axis=(1, 2))
    assert errors[1] < 0.6 * errors[0]


@pytest.mark.long
def test_probes_of_a_classifier_are_scored_as_its_head(trained, tiny, told, tmp_path):
    data, dev = tiny.rows(96, seed=5), tiny.rows(64, seed=6)
    plot = kb.plots.layers(trained, data, dev, seeds=2, epochs=10, progress=told)
    assert plot.metric == "accuracy" and plot.scores.shape == (2, 3) and plot.mix is None
    assert plot.head == pytest.approx(trained.score(*dev)["accuracy"])
    assert plot.scores[:, 2].mean() > 0.85 and plot.spread().shape == (3,)
    assert [stage for stage, done, total, _ in told.steps if done == total] == [
        "reading training data", "training probes", "reading dev data",
    ]  # fmt: skip
    assert "the model&#x27;s own head" in plot.page() and plot._repr_png_().startswith(b"\x89PNG")
    json.dumps(plot.to_dict())
    again = kb.plots.layers(trained, data, dev, seeds=2, epochs=10)
    np.testing.assert_array_equal(plot.scores, again.scores)


def test_probes_of_a_tagger_read_the_first_token_of_a_word(tiny):
    encoder = tiny.encoder(pooler=False)
    tagger = kb.TokenTagger(encoder, tiny.tokenizer(), ["O", "B-film", "B-book"], sequence_length=16)
    plot = kb.plots.layers(tagger, (SENTENCES, TAGS), (SENTENCES, TAGS), seeds=1)
    assert plot.metric == "entity F1" and plot.head is None
    assert plot.scores[0, 0] == 1  # the tag is that of the word itself


def test_weights_of_a_learned_sum_of_layers_are_shown(tiny):
    from kerasbert.encoders import BertConfig, BertEncoder

    encoder = BertEncoder(BertConfig(**tiny.sizes), layer_mix=True)
    task = kb.TextClassifier(encoder, tiny.tokenizer(), labels=tiny.labels, sequence_length=16)
    encoder.layer_mix.scores.assign([0.0, 1.0, 2.0])
    rows = tiny.rows(16)
    plot = kb.plots.layers(task, rows, rows, seeds=1, epochs=1, vectors="cls")
    np.testing.assert_allclose(plot.mix, np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum(), rtol=1e-5)
    assert "Weights of the learned sum of layers" in plot.page() and plot._repr_png_()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda task, rows: kb.plots.layers(task, rows[0], rows), "a pair of examples and labels, received list"),
        (lambda task, rows: kb.plots.layers(task, (rows[0], None), rows), "data with labels, received none"),
        (lambda task, rows: kb.plots.layers(task, (rows[0], ["odd"] * 8), rows), "odd"),
        (lambda task, rows: kb.plots.layers(task, rows, rows, vectors="tokens"), "vectors as one of mean, cls"),
        (lambda task, rows: kb.plots.layers(task, rows, rows, seeds=0), "seeds of at least 1, received 0"),
        (lambda task, rows: kb.plots.layers("runs/mine", rows, rows), "expected a task"),
    ],
)
def test_what_cannot_be_probed_is_refused(trained, tiny, call, message):
    with pytest.raises(kb.KerasBertError, match=message):
        call(trained, tiny.rows(8))


def test_tasks_without_labels_are_refused(vectors):
    with pytest.raises(kb.KerasBertError, match="received SentenceEncoder; train one of these on its encoder"):
        kb.plots.layers(vectors, (["a"], [1]), (["a"], [1]))
