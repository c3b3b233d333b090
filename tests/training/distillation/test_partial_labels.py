"""Distillation with labels for some of the examples only."""

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.processors.features import IGNORED
from kerasbert.training.distillation import Distiller, SoftLabels
from kerasbert.training.distillation.partial_labels import encode_partly


@pytest.fixture
def distiller(models):
    return Distiller(models.student(), models.teacher, [SoftLabels()], label_weight=0.5)


def test_rows_without_labels_learn_from_the_teacher_alone(distiller, models):
    labels = [label if i % 3 == 0 else None for i, label in enumerate(models.labels)]
    (inputs, targets) = next(iter(distiller.dataset(models.texts, labels, batch_size=24)))
    known = inputs["labelled"].numpy()
    assert known.sum() == 8
    distiller.compile("sgd", run_eagerly=True)
    outputs = distiller.student(inputs["student"])
    values = distiller.test_on_batch(inputs, targets, return_dict=True)
    assert values["label_loss"] == pytest.approx(np.mean(known * _losses(targets, outputs)), rel=1e-4)
    right = (outputs.numpy().argmax(1) == targets.numpy())[known > 0].mean()
    assert values["accuracy"] == pytest.approx(right)
    assert values["soft_labels"] > 0


def _losses(targets, outputs):
    logits = outputs.numpy()
    logits = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    return -logits[np.arange(len(logits)), targets.numpy()]


def test_values_of_missing_labels_do_not_matter(distiller, models, fit):
    some = [models.labels[0], *[None] * 23]
    history = fit(distiller, models.texts, some)
    assert history["loss"][0] > 0 and history["accuracy"][0] in (0.0, 1.0)  # of one row


def test_tags_of_unlabelled_sentences_are_ignored(tiny):
    task = kb.TokenTagger(
        tiny.encoder(num_hidden_layers=1, pooler=False), tiny.tokenizer(), labels=["O", "B-X"], sequence_length=16
    )
    words = [["a", "good", "film"], ["so", "bad"]]
    examples, features = task.features(words)
    targets = encode_partly(task, [["O", "B-X", "O"], None], examples, features)
    assert targets.labelled is None
    assert (targets.values[0] != IGNORED).any() and (targets.values[1] == IGNORED).all()


def test_windows_of_long_sentences_are_labelled_or_ignored(tiny):
    task = kb.TokenTagger(
        tiny.encoder(num_hidden_layers=1, pooler=False), tiny.tokenizer(), labels=["O", "B-X"], sequence_length=8
    )
    words = [["good", "film"] * 8, ["bad"] * 12, ["so", "bad"]]
    examples, features = task.features(words)
    assert len(features) > 4
    targets = encode_partly(task, [["B-X"] * 16, None, ["O", "O"]], examples, features)
    for values, example in zip(targets.values, features.example, strict=True):
        assert (np.asarray(values) != IGNORED).any() == (example != 1)


def test_windows_of_answers_need_all_labels_only_if_these_are_learned(tiny):
    task = kb.QuestionAnswerer(tiny.encoder(num_hidden_layers=1, pooler=False), tiny.tokenizer(), sequence_length=16)
    questions = [("a film", "good film " * 20), ("so bad", "bad film")]
    examples, features = task.features(questions)
    assert len(features) > len(examples)
    labels = [{"text": ["good"], "answer_start": [0]}, None]
    with pytest.raises(kb.KerasBertError, match="label_weight=0 learns from the teacher alone"):
        encode_partly(task, labels, examples, features)
    assert encode_partly(task, labels, examples, features, needed=False).values is None


def test_a_dataset_with_unlabelled_rows(models, distiller):
    data = kb.data.Dataset("train.tsv", models.texts, models.labels)
    more = kb.data.with_unlabelled(data, ["a fine film", "so cold"])
    assert len(more) == len(models.texts) + 2 and more.labels[-2:] == [None, None]
    inputs, _ = next(iter(distiller.dataset(more, batch_size=26)))
    assert inputs["labelled"].numpy().sum() == 24


@pytest.mark.parametrize(
    "x, more, message",
    [
        (["a", "b"], [("a", "b")], "expected examples of one part, .*received pairs of texts"),
        ((["a"], ["b"]), ["a"], "expected pairs of texts, .*received examples of one part"),
    ],
)
def test_rows_of_another_form_are_refused(x, more, message):
    with pytest.raises(kb.KerasBertError, match=message):
        kb.data.with_unlabelled(kb.data.Dataset("train.tsv", x, ["1"]), more)


def test_no_labels_at_all_and_too_few_are_told_apart(distiller, models):
    with pytest.raises(kb.KerasBertError, match="one label, or None, for each text, received 2 for 24"):
        distiller.dataset(models.texts, ["positive", None])
    with pytest.raises(kb.KerasBertError, match="expected labels for the texts, received none"):
        distiller.dataset(models.texts, [None] * 24)
