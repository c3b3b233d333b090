"""Other people's clients take our files unchanged, and give our answers: MediaPipe Tasks, and TFLite's Task Library."""

from dataclasses import replace

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.export.backends import clients
from kerasbert.export.backends.client_tools import tokenization
from kerasbert.export.backends.client_tools.calls import CLIENTS, ClientAnswers, ask as ask_client, ids_of
from kerasbert.export.runtime.opening import open_pipeline
from kerasbert.export.tflite.metadata import Metadata, append, read
from kerasbert.export.tflite.model import decode, encode
from kerasbert.export.tflite.tflite_metadata import ENTRY, IDENTIFIER, add_tflite_metadata, has_client_tokenizer
from kerasbert.export.validation.checks import FAILED, NOT_JUDGED, NOT_RUN, PASSED
from kerasbert.export.validator import validate
from kerasbert.processors.embedding import Embedding
from kerasbert.text import ClientWordPiece


@pytest.fixture(params=CLIENTS, scope="module")
def client(request):
    """A client that runs here; a test of one that does not is skipped."""
    client = CLIENTS[request.param]
    card = Metadata(
        "SentenceEncoder", Embedding(), 8, "float32", "cpu", 0, vocabulary=("[PAD]", "[UNK]", "[CLS]", "[SEP]")
    )
    try:
        ids_of(client, card, ["the"], 8)
    except KerasBertError as error:
        pytest.skip(str(error))
    return client


def ask(client, kind, model, examples) -> list:
    return ask_client(client, kind, model, examples).answers


@pytest.fixture(scope="module")
def classifier(trained, tmp_path_factory):
    """A float file, which runtimes of any age load."""
    return kb.export.convert(trained, recipe="float32").save(tmp_path_factory.mktemp("clients") / "classifier.tflite")


@pytest.mark.environment
def test_client_classifiers_match_our_classes(client, classifier, tiny):
    texts = [
        text.capitalize() + suffix
        for text, suffix in zip(tiny.rows(20, seed=8)[0], [".", ", so warmly!"] * 10, strict=True)
    ]
    theirs = ask(client, "classifier", classifier, texts)
    for found, ours in zip(theirs, open_pipeline(classifier).predictions(texts), strict=True):
        assert found == pytest.approx(ours["probabilities"], abs=1e-4)


@pytest.mark.environment
def test_client_embedders_match_our_vectors(client, tiny, tmp_path):
    encoder = kb.SentenceEncoder(tiny.encoder(pooler=False), tiny.tokenizer(), sequence_length=tiny.length)
    file = kb.export.convert(encoder, recipe="float32").save(tmp_path / "embedder.tflite")
    texts = tiny.rows(8, seed=9)[0]
    np.testing.assert_allclose(ask(client, "embedder", file, texts), encoder.predict(texts), atol=1e-5)


def test_the_metadata_is_in_the_file_once(classifier):
    data = classifier.read_bytes()
    card = read(data)
    content = decode(data)
    entries = [entry for entry in content.metadata if entry.name == ENTRY]
    assert len(entries) == 1
    raw = bytes(content.buffers[entries[0].buffer].data)
    assert raw[4:8] == IDENTIFIER
    for word in (b"ids", b"mask", b"segment_ids", b"probability", b"vocab.txt", b"labels.txt"):
        assert word in raw
    again = decode(data)
    add_tflite_metadata(again, card)
    again = decode(append(encode(again), card))
    assert sum(entry.name == ENTRY for entry in again.metadata) == 1


def test_a_tokenizer_that_the_clients_do_not_have_is_not_named(classifier, trained):
    card = read(classifier)
    assert has_client_tokenizer(card)
    object.__setattr__(card, "tokenizer", {**card.tokenizer, "lowercase": False})
    assert not has_client_tokenizer(card)
    content = decode(classifier.read_bytes())
    add_tflite_metadata(content, card)
    raw = bytes(content.buffers[next(e.buffer for e in content.metadata if e.name == ENTRY)].data)
    assert b"vocab.txt" not in raw and b"labels.txt" in raw


ACCENTS = ["the film was gr\u00e9at", "a dull\u200b film"]


def texts_of(tiny, count=12):
    """Texts that clients tokenize as we do but for the last two, and labels."""
    texts, labels = tiny.rows(count - len(ACCENTS), seed=8)
    return [*texts, *ACCENTS], [*labels, *tiny.labels[::-1]]


@pytest.mark.environment
def test_ids_are_those_of_our_tokenizer_with_the_clients_rules(client, classifier):
    card = read(classifier)
    texts = [
        "",
        "the Film, gr\u00e9at",
        "sad\u00a0film",
        "\ud55c\uad6d film\u3002the",
        "[MASK] the",
        "a\0b",
        "the " * 40,
        "x" * 101,
        "\u1b7fthe",
    ]
    tokenizer = ClientWordPiece([*card.vocabulary, "gr\u00e9at", "\ud55c"], tokenize_as=client.name)
    object.__setattr__(card, "vocabulary", tokenizer.vocabulary)
    ours = [row + [0] * (32 - len(row)) for row in tokenizer.encode(texts, max_length=32).input_ids]
    assert ids_of(client, card, texts, 32) == ours


@pytest.mark.environment
def test_validation_in_a_client(client, classifier, trained, tiny):
    found = validate(classifier, against=trained, data=texts_of(tiny), on=(client.name,))
    names = [check.name.removeprefix(f"{client.name}: ") for check in found.checks]
    assert names == ["signature", "tokenized alike", "tokenized otherwise", "all rows", "settings", "pipeline"]
    alike, other, every = found.checks[1:-2]
    assert (alike.status, alike.rows, other.rows, every.rows) == (PASSED, 10, 2, 12)
    assert alike.outputs[0].max_error < 1e-4 and every.metrics[0].name == "accuracy"
    assert "row 10 'gréat', row 11 'dull\\u200b film'" in other.reason


@pytest.fixture
def pretended(monkeypatch, classifier):
    """Clients that tokenize by our rules for them, and turn the classes of texts that they tokenize otherwise."""

    def ids(client, card, texts, length):
        tokenizer = ClientWordPiece(card.vocabulary, tokenize_as=client.name)
        return [row + [0] * (length - len(row)) for row in tokenizer.encode(texts, max_length=length).input_ids]

    def answers(client, kind, model, texts):
        found = [answer["probabilities"] for answer in open_pipeline(model).predictions(texts)]
        turned = [dict(zip(each, [*each.values()][::-1], strict=True)) for each in found]
        return ClientAnswers(
            [b if t in ACCENTS else a for t, a, b in zip(texts, found, turned, strict=True)], [1.0] * len(texts)
        )

    monkeypatch.setattr(type(CLIENTS["mediapipe"].environment), "ready", True)
    monkeypatch.setattr(tokenization, "ids_of", ids)
    monkeypatch.setattr(clients, "ask", answers)
    return classifier


@pytest.mark.parametrize("name", CLIENTS)
def test_rows_tokenized_otherwise_are_judged_apart(name, pretended, trained, tiny, tmp_path):
    report = tmp_path / "report.html"
    found = validate(pretended, against=trained, data=texts_of(tiny), on=(name,), report=report).checks[1:-2]
    assert [(check.name, check.status, check.rows) for check in found] == [
        (f"{name}: tokenized alike", PASSED, 10), (f"{name}: tokenized otherwise", FAILED, 2), (f"{name}: all rows", NOT_JUDGED, 12),
    ]  # fmt: skip
    assert found[1].named_rows == {10: "'gréat'", 11: "'dull\\u200b film'"}
    page = report.read_text("utf-8")
    assert f"{name}: tokenized otherwise: 2 rows" in page and "dull\\u200b film" in page
    assert found[1].outputs[0].agreement == 0.0 and found[2].outputs[0].agreement == pytest.approx(10 / 12)
    assert found[1].reason.endswith(f"row 10 'gréat', row 11 'dull\\u200b film'; train with --tokenize-as {name}")


def test_rows_all_tokenized_alike_are_one_check(pretended, trained, tiny):
    (check,) = validate(pretended, against=trained, data=tiny.rows(8), on=("mediapipe",)).checks[1:-2]
    assert (check.name, check.status, check.rows, check.reason) == (
        "mediapipe",
        PASSED,
        8,
        "every row tokenized as by the model",
    )
    assert check.metrics and check.device == "mediapipe 1.2.2"


def test_a_file_for_a_client_is_compared_with_a_model_for_it(classifier, trained, tiny, tmp_path):
    settings = {**read(classifier).tokenizer, "kind": ClientWordPiece.kind, "tokenize_as": "mediapipe"}
    file = tmp_path / "client.tflite"
    file.write_bytes(append(classifier, replace(read(classifier), tokenizer=settings)))
    with pytest.raises(KerasBertError, match="the same tokenization.*as mediapipe and as the checkpoint"):
        validate(file, against=trained, data=tiny.rows(2)[0])
    (check,) = validate(file, against=file, data=ACCENTS, on=("cpu",)).checks[1:2]
    assert check.outputs[0].max_error == 0.0


def test_other_classes_than_those_of_the_file_fail(pretended, trained, tiny, monkeypatch):
    monkeypatch.setattr(clients, "ask", lambda *_: ClientAnswers([{"good": 1.0, "": 0.0}], [1.0]))
    (check,) = validate(pretended, against=trained, data=tiny.rows(1)[0], on=("mediapipe",)).checks[1:-2]
    assert check.status == FAILED and "received '', 'good' from the client" in check.reason


def test_a_refused_file_fails_with_the_clients_message(pretended, trained, tiny, monkeypatch):
    def refused(*_):
        raise KerasBertError(
            "exit code 1: RuntimeError: Didn't find op for builtin opcode 'FULLY_CONNECTED' version '12'."
        )

    monkeypatch.setattr(clients, "ask", refused)
    for name, advice in (("mediapipe", "version '12'."), ("task-library", "convert with --min-runtime 2.9")):
        (check,) = validate(pretended, against=trained, data=tiny.rows(2)[0], on=(name,)).checks[1:-2]
        assert check.status == FAILED and check.reason.startswith("exit code 1") and check.reason.endswith(advice)


def test_reasons_why_a_client_is_not_run(pretended, trained, tiny, monkeypatch):
    def reason(data, **changes):
        (check,) = validate(pretended, against=trained, data=data, on=("task-library",)).checks[1:-2]
        assert check.status == NOT_RUN
        return check.reason

    texts, labels = tiny.rows(3)
    packed = tiny.tokenizer().encode(texts, max_length=tiny.length)
    assert "the data are packed ids; validate with texts" in reason(dict(kb.text.pack(packed, length=tiny.length)))
    with pytest.raises(
        KerasBertError, match="row 0: expected one text, as in the model's training data, received a pair"
    ):
        validate(pretended, against=trained, data=((texts, texts), labels), on=("task-library",))

    def broken(*_):
        raise KerasBertError("exit code 1: ImportError: libusb-1.0.so.0: cannot open shared object file")

    monkeypatch.setattr(tokenization, "ids_of", broken)
    assert reason(texts).startswith("the client does not run here: exit code 1") and "libusb-1.0-0" in reason(texts)
    monkeypatch.setattr(type(CLIENTS["mediapipe"].environment), "ready", False)
    assert reason(texts) == CLIENTS["task-library"].environment.missing
