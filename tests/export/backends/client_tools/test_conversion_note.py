"""The line about other people's clients that `convert` says, and when it says nothing."""

from dataclasses import replace

import pytest

from kerasbert.export.backends.client_tools.conversion_note import client_note
from kerasbert.export.tflite.metadata import TEXT, Metadata
from kerasbert.processors.classification import Regression, SingleLabel
from kerasbert.processors.question_answering import QuestionAnswering
from kerasbert.processors.tagging import Tagging
from kerasbert.text import ClientWordPiece, WordPiece
from kerasbert.text.client_differences import _readable, differences

VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "film", "cafe", "caf", "##é")


def card(tokenizer=None, **fields) -> Metadata:
    settings = (tokenizer or WordPiece(VOCABULARY)).get_config()
    vocabulary = settings.pop("vocabulary")
    fields = {"processor": SingleLabel(), "target": "cpu", **fields}
    return Metadata(
        task="TextClassifier", sequence_length=16, recipe="float32", parameters=1, tokenizer=settings, vocabulary=vocabulary, **fields
    )  # fmt: skip


def test_the_note_counts_texts_that_differ():
    line = client_note(card(), ["the film", "The café, a film", "the\u00a0film", "a film \u200b"])
    assert line == (
        "note: MediaPipe and the Task Library tokenize 3 of 4 calibration examples otherwise, such as 'café, a film': "
        "train with --tokenize-as mediapipe, or count them with validate --on mediapipe"
    )
    answerer = card(processor=QuestionAnswering())
    assert "the Task Library tokenizes 1 of 2 " in client_note(answerer, [("film", "the film"), ("the", "café")])


def test_without_texts_the_note_names_the_vocabulary():
    assert "some texts otherwise (accents, capitals beyond ASCII" in client_note(card())
    assert "otherwise (capitals beyond ASCII" in client_note(card(WordPiece(VOCABULARY, strip_accents=False)))
    cased = client_note(card(WordPiece(VOCABULARY, lowercase=False)), ["the film"])
    assert cased.startswith("note: MediaPipe and the Task Library do not take texts for this file: a cased vocabulary")
    other = replace(card(), tokenizer={"kind": "sentencepiece"}, processor=QuestionAnswering())
    assert client_note(other).startswith("note: the Task Library does not take texts for this file: a SentencePiece")


@pytest.mark.parametrize(
    ("fields", "examples"),
    [
        ({}, ["the film", "The Film."]),
        ({"processor": Tagging()}, None),
        ({"processor": Regression()}, None),
        ({"target": "edge-tpu"}, None),
        ({"target": "web"}, None),
        ({"inputs": TEXT}, None),
        ({}, [("café", "the")]),
    ],
)
def test_no_note_without_differences_or_clients(fields, examples):
    assert client_note(card(**fields), examples) == ""


def test_no_note_for_a_model_with_client_tokenization():
    assert client_note(card(ClientWordPiece(VOCABULARY, tokenize_as="mediapipe")), ["café"]) == ""
    assert client_note(replace(card(), vocabulary=None)) == ""


def test_excerpts_are_readable():
    assert _readable("st\u00fcrzt \u65e5\u672c") == "'st\u00fcrzt \u65e5\u672c'"
    assert _readable("u\u0308 \u200b\x1b") == "'u\\u0308 \\u200b\\x1b'"


def test_excerpts_start_at_the_difference():
    tokenizer = WordPiece(VOCABULARY)
    client = ClientWordPiece.of(tokenizer, "mediapipe")
    texts = ["the film", "the film \u200b", "", "\u200b", "x" * 200 + " café", "the film café"]
    found = differences(tokenizer, texts, client.encode(texts, max_length=8).input_ids, 8)
    assert found == {1: "'film \\u200b'", 3: "'\\u200b'", 4: "'café'", 5: "'café'"}
    padded = [row + [0] * (8 - len(row)) for row in tokenizer.encode(texts, max_length=8).input_ids]
    assert differences(tokenizer, texts, padded, 8) == {}
