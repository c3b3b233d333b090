"""`kerasbert.open` predicts with files and folders."""

import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.opening import open_pipeline
from kerasbert.export.runtime.pipeline import Pipeline
from kerasbert.export.tflite import metadata
from kerasbert.processors import make_processor
from kerasbert.processors.embedding import Embedding

pytestmark = pytest.mark.one_layer

TEXTS = ["word1 word2", "word3", "word4 word1 word5"]


@pytest.fixture
def known(card):
    return replace(card, vocabulary=("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *card.vocabulary[5:]))


@pytest.fixture
def classifier(float_file, known, tmp_path):
    path = tmp_path / "classifier.tflite"
    path.write_bytes(metadata.append(float_file, known))
    return path


@pytest.fixture
def encoder(embedding_file, known, tmp_path):
    path = tmp_path / "encoder.tflite"
    settings = {"processor": Embedding(width=64), "task": "SentenceEncoder"}
    path.write_bytes(metadata.append(embedding_file, replace(known, **settings)))
    return kb.open(path)


def test_a_file_predicts_as_the_command(classifier):
    model, answers = kb.open(classifier), open_pipeline(classifier).predictions(TEXTS)
    assert model(TEXTS) == answers and model(iter(TEXTS)) == answers and model(np.array(TEXTS)) == answers
    assert model(TEXTS[0]) == answers[0] and model([]) == []
    assert kb.open(classifier, isolated=True)(TEXTS) == answers
    assert model.labels == ("a", "b", "c") and "classifier.tflite" in repr(model)
    assert model.score(TEXTS, [answer["label"] for answer in answers])["accuracy"] == 1


def test_top_k_lists_the_likeliest_classes(classifier):
    whole, cut = kb.open(classifier)(TEXTS[0]), kb.open(classifier)(TEXTS[0], top_k=2)
    best = sorted(whole["probabilities"], key=whole["probabilities"].get, reverse=True)[:2]
    assert list(cut["probabilities"]) == best and cut["label"] == best[0] == whole["label"]
    for wrong in (0, True, 1.5):
        with pytest.raises(KerasBertError, match="top_k of at least 1"):
            kb.open(classifier)(TEXTS, top_k=wrong)


@pytest.mark.long
def test_a_folder_predicts_as_its_task(tiny, tmp_path):
    task = tiny.narrow()
    task.save_pretrained(tmp_path / "folder")
    model = kb.open(tmp_path / "folder")
    texts = ["good film", "bad end"]
    found, wanted = model(texts), task.predictions(texts)
    assert [answer["label"] for answer in found] == [answer["label"] for answer in wanted]
    assert found[0]["score"] == pytest.approx(wanted[0]["score"], abs=1e-6)
    assert model(["good"], ["bad"])[0]["score"] == pytest.approx(
        task.predictions([("good", "bad")])[0]["score"], abs=1e-6
    )


def test_vectors_similarity_and_search(encoder):
    vectors = encoder(TEXTS)
    assert vectors.shape == (3, 64) and vectors.dtype == np.float32 and encoder(TEXTS[0]).shape == (64,)
    assert encoder([]).shape == (0, 64)
    one = vectors[0] @ vectors[1] / np.linalg.norm(vectors[0]) / np.linalg.norm(vectors[1])
    assert encoder.similarity(TEXTS[0], TEXTS[1]) == pytest.approx(one, abs=1e-6)
    np.testing.assert_allclose(encoder.similarity(TEXTS, vectors).diagonal(), 1, atol=1e-6)
    np.testing.assert_allclose(encoder(TEXTS[:1], TEXTS[1:2]), [one], atol=1e-6)
    found = encoder.search(TEXTS[1], TEXTS, top_k=2)
    assert (
        len(found) == 2
        and found[0]["index"] == 1
        and found[0]["text"] == TEXTS[1]
        and found[0]["score"] > found[1]["score"]
    )
    assert encoder.search(TEXTS[1], vectors)[0] == {"index": 1, "score": pytest.approx(found[0]["score"])}
    assert encoder.search("word1", []) == []


def test_second_texts_are_combined_as_the_task_needs():
    """One context is repeated for all questions; a list of choices belongs to one prompt."""
    seen = []

    def model(name):
        answer = lambda x, processor, report: seen.append((x, processor)) or [{"best": [1, 2, 3]}] * len(x)  # noqa: E731
        processor = make_processor(name)
        return Pipeline("a task", processor, SimpleNamespace(processor=processor, predictions=answer))

    assert model("question_answering")(["q", "r"], "context", top_k=2) == [{"best": [1, 2]}] * 2
    assert seen.pop()[0] == [("q", "context"), ("r", "context")]
    model("multiple_choice")("prompt", ["a", "b"])
    assert seen.pop()[0] == [("prompt", ["a", "b"])]
    model("masked_lm")(["a [MASK]"], top_k=7)
    assert seen.pop()[1].top == 7
    model("question_answering")("q", "c", top_k=90)
    assert seen.pop()[1].n_best == 90
    with pytest.raises(KerasBertError, match="single texts"):
        model("tagging")("a", "b")


def test_invalid_arguments_are_refused(classifier, encoder, tmp_path):
    model = kb.open(classifier)
    for call, message in (
        (
            lambda: model.similarity("a", "b"),
            "sentence encoder to compare texts, received a model of the task type 'single_label'",
        ),
        (lambda: model(5), "a text or several, received 5"),
        (lambda: model(["a"], ["b", "c"]), "received 2 for 1"),
        (lambda: encoder(TEXTS, top_k=2), "for the task type 'embedding'"),
        (lambda: encoder.search(TEXTS, TEXTS), "one text as a query, received list"),
        (lambda: encoder.search("a", "b"), "several texts"),
        (lambda: encoder.search("a", TEXTS, top_k=0), "at least 1"),
        (lambda: encoder.similarity("a", np.zeros((2, 5), np.float32)), "64 dimensions, received 5"),
        (lambda: kb.open(tmp_path / "none.tflite"), "not there"),
        (lambda: kb.open(tmp_path / "none"), "folder"),
    ):
        with pytest.raises(KerasBertError, match=message):
            call()


def test_a_file_needs_no_tensorflow_and_open_is_not_exported(classifier):
    assert "open" in dir(kb) and "open" not in kb.__all__  # `from kerasbert import *`
    code = "import sys, kerasbert as kb\nkb.open(sys.argv[1])('word1')\nsys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code, classifier], check=False).returncode == 0
