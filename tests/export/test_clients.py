"""Other people's clients take our files unchanged, and give our answers: MediaPipe Tasks, and TFLite's Task Library."""

import json
from pathlib import Path

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.export.backends.child import run_child
from kerasbert.export.backends.known_environments import MEDIAPIPE, TASK_LIBRARY
from kerasbert.export.flatbuffer import unpack
from kerasbert.export.metadata import append, read
from kerasbert.export.predictor import open_predictor
from kerasbert.export.task_metadata import ENTRY, IDENTIFIER, described, lowers

CLIENT = Path(__file__).parent / "clients" / "run_client.py"


def ask(environment, client: str, model: Path, examples: list, folder: Path) -> list:
    if not environment.ready:
        pytest.skip(environment.missing)
    given, wanted = folder / "examples.json", folder / "answers.json"
    given.write_text(json.dumps(examples), "utf-8")
    ended = run_child([environment.python, CLIENT, client, model, given, wanted], 120)
    assert ended.well, ended.last_words
    return json.loads(wanted.read_text("utf-8"))


@pytest.fixture(scope="module")
def classifier(trained, tmp_path_factory):
    """A float file, which runtimes of any age load."""
    return kb.export.convert(trained, recipe="float32").save(tmp_path_factory.mktemp("clients") / "classifier.tflite")


@pytest.mark.environment
@pytest.mark.parametrize(
    "environment, client", [(MEDIAPIPE, "mediapipe_classifier"), (TASK_LIBRARY, "task_library_classifier")]
)
def test_classifiers_give_our_classes(environment, client, classifier, tiny, tmp_path):
    texts = [
        text.capitalize() + suffix
        for text, suffix in zip(tiny.rows(20, seed=8)[0], [".", ", so warmly!"] * 10, strict=True)
    ]
    theirs = ask(environment, client, classifier, texts, tmp_path)
    for found, ours in zip(theirs, open_predictor(classifier).answer(texts), strict=True):
        assert found == pytest.approx(ours["probabilities"], abs=1e-4)


@pytest.mark.environment
@pytest.mark.parametrize(
    "environment, client", [(MEDIAPIPE, "mediapipe_embedder"), (TASK_LIBRARY, "task_library_embedder")]
)
def test_embedders_give_our_vectors(environment, client, tiny, tmp_path):
    encoder = kb.SentenceEncoder(tiny.encoder(pooler=False), tiny.tokenizer(), sequence_length=tiny.length)
    file = kb.export.convert(encoder, recipe="float32").save(tmp_path / "embedder.tflite")
    texts = tiny.rows(8, seed=9)[0]
    np.testing.assert_allclose(ask(environment, client, file, texts, tmp_path), encoder.predict(texts), atol=1e-5)


def test_the_metadata_is_in_the_file_once(classifier):
    data = classifier.read_bytes()
    card = read(data)
    content = unpack(data)
    entries = [entry for entry in content.metadata if entry.name == ENTRY]
    assert len(entries) == 1
    raw = bytes(content.buffers[entries[0].buffer].data)
    assert raw[4:8] == IDENTIFIER
    for word in (b"ids", b"mask", b"segment_ids", b"probability", b"vocab.txt", b"labels.txt"):
        assert word in raw
    again = unpack(append(described(data, card), card))
    assert sum(entry.name == ENTRY for entry in again.metadata) == 1


def test_a_tokenizer_that_the_clients_do_not_have_is_not_named(classifier, trained):
    card = read(classifier)
    assert lowers(card)
    object.__setattr__(card, "tokenizer", {**card.tokenizer, "lowercase": False})
    assert not lowers(card)
    content = unpack(described(classifier.read_bytes(), card))
    raw = bytes(content.buffers[next(e.buffer for e in content.metadata if e.name == ENTRY)].data)
    assert b"vocab.txt" not in raw and b"labels.txt" in raw
