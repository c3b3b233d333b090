"""WordPiece as MediaPipe Tasks and TFLite's Task Library tokenize. The expected tokens were recorded from these clients."""

import unicodedata

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.text import ClientWordPiece, SentencePiece, WordPiece, tokenizer_from_config, tokenizer_from_folder
from kerasbert.text.client_rules import CLIENTS, ClientRules, client_text
from kerasbert.text.client_wordpiece import client_unsupported_reason

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCABULARY = [
    *SPECIAL, "a", "b", "ab", "##b", "e", "é", "è", "##è", "İ", "σ", "Σ", "c\u2028", "x" * 100, "y" * 50, "##" + "y" * 50, "##" + "y" * 51,
    "é" * 50, "#", "[", "日", "日本", "한", "##국", "z", "Z", ",", "f\u00a0",
]  # fmt: skip
# Each text with the tokens between [CLS] and [SEP] that MediaPipe 1.2.2 and tflite-support 0.4.4 feed a model with this vocabulary.
MEASURED = [
    ("", []),
    (" \t\r\n\f", []),
    ("a b", ["a", "b"]),
    ("AB A", ["ab", "a"]),
    ("é É e", ["é", "[UNK]", "e"]),
    ("e\u0301", ["[UNK]"]),
    ("İ Σ σ", ["İ", "Σ", "σ"]),
    ("z Z", ["z", "z"]),
    ("a,b", ["a", ",", "b"]),
    ("a\u00a0b", ["[UNK]"]),
    ("a\u200bb", ["[UNK]"]),
    ("a\u3000b", ["[UNK]"]),
    ("a\x0bb", ["[UNK]"]),
    ("a\ufffdb", ["[UNK]"]),
    ("c\u2028", ["c\u2028"]),
    ("f\u00a0", ["f\u00a0"]),
    ("日本a", ["日", "[UNK]", "a"]),
    ("한국", ["한", "##국"]),
    ("a\u1b7fb", {"mediapipe": ["a", "[UNK]", "b"], "task-library": ["[UNK]"]}),
    ("a\U0001f600b", ["[UNK]"]),
    ("a\u2014b", ["a", "[UNK]", "b"]),
    ("[MASK]", ["[", "[UNK]", "[UNK]"]),
    ("a##b", ["a", "#", "#", "b"]),
    ("a\0b", ["a"]),
    ("z a \0 z", ["z", "a"]),
    ("x" * 100, ["x" * 100]),
    ("x" * 101, ["[UNK]"]),
    ("y" * 100, ["y" * 50, "##" + "y" * 50]),
    ("y" * 101, ["[UNK]"]),
    ("é" * 50, ["é" * 50]),
    ("é" * 51, ["[UNK]"]),
    ("è" * 50, ["è", *["##è"] * 49]),
    ("è" * 51, ["[UNK]"]),
]


def tokens(tokenizer, text):
    (ids,) = tokenizer.encode([text], max_length=512).input_ids
    return [tokenizer.vocabulary[number] for number in ids[1:-1]]


@pytest.mark.parametrize("client", CLIENTS)
def test_tokens_equal_those_of_the_clients(client):
    tokenizer = ClientWordPiece(VOCABULARY, tokenize_as=client)
    for text, expected in MEASURED:
        expected = expected[client] if isinstance(expected, dict) else expected
        assert tokens(tokenizer, text) == expected, ascii(text)


def test_offsets_and_words_refer_to_the_original_text():
    encoded = ClientWordPiece(VOCABULARY, tokenize_as="mediapipe").encode(["AB 한국, é\0 b"], max_length=16)
    assert encoded.offsets == [[(0, 0), (0, 2), (3, 4), (4, 5), (5, 6), (7, 8), (0, 0)]]
    assert encoded.word_ids == [[None, 0, 1, 1, 2, 3, None]]


@pytest.mark.parametrize("client", CLIENTS)
def test_every_punctuation_mark_of_unicode_is_a_word(client):
    words = {code for first, last in ClientRules.of(client).words for code in range(first, last + 1)}
    known = {code for code in range(0x110000) if unicodedata.category(chr(code))[0] == "P"}
    assert known <= words
    assigned = {code for code in words if unicodedata.category(chr(code)) != "Cn"}
    others = {chr(code) for code in assigned - known if unicodedata.category(chr(code)) != "Lo"}
    assert others == set("$+<=>^`|~")  # ASCII's symbols; letters are the CJK ideographs


def test_lowercasing_keeps_offsets():
    text = "".join(map(chr, [*range(1, 0x3000), 0x1F600]))
    assert len(client_text(text)) == len(text)
    assert client_text("ÀÉİΣ AZ") == "ÀÉİΣ az"


def test_folder_and_config_round_trip(tmp_path):
    plain = WordPiece(VOCABULARY, lowercase=False, model_max_length=64)
    tokenizer = ClientWordPiece.of(plain, "task-library")
    tokenizer.save(tmp_path)
    for again in (tokenizer_from_folder(tmp_path), tokenizer_from_config(tokenizer.get_config())):
        assert type(again) is ClientWordPiece
        assert again.get_config() == tokenizer.get_config()
    assert tokenizer.vocabulary == plain.vocabulary and tokenizer.model_max_length == 64
    assert repr(tokenizer) == f"ClientWordPiece({len(VOCABULARY)} tokens, as task-library)"


def test_unsupported_vocabularies_raise(tmp_path):
    with pytest.raises(KerasBertError, match="expected mediapipe or task-library .*, received 'android'"):
        ClientWordPiece(VOCABULARY, tokenize_as="android")
    with pytest.raises(KerasBertError, match="received an empty token with id 5, which the clients leave out"):
        ClientWordPiece([*SPECIAL, "", "a"], tokenize_as="mediapipe")
    with pytest.raises(KerasBertError, match=r"received '<unk>' as unk_token, .* '\[UNK\]' only"):
        ClientWordPiece(["<unk>", *VOCABULARY], tokenize_as="mediapipe", unk_token="<unk>")
    with pytest.raises(KerasBertError, match="expected a WordPiece vocabulary .*, received a SentencePiece"):
        ClientWordPiece.of(object.__new__(SentencePiece), "mediapipe")


def test_reasons_of_unsupported_tokenizers():
    config = WordPiece(VOCABULARY).get_config()
    assert client_unsupported_reason(config, VOCABULARY) == ""
    assert "cased vocabulary" in client_unsupported_reason({**config, "lowercase": False}, VOCABULARY)
    assert "a SentencePiece tokenizer" in client_unsupported_reason({"kind": "sentencepiece"}, VOCABULARY)
    assert client_unsupported_reason(config, None) == "no vocabulary"
