"""Capitals and accents of folders whose files do not tell: the vocabulary decides, and a note says so.

transformers 4.57.6 and 5.24.0 lowercase all of these texts. With their do_lower_case=False they give the ids of the cased folders.
"""

import json
import string

import pytest

from kerasbert.console.strictness import note_once
from kerasbert.text import SentencePiece, WordPiece, tokenizer_from_folder
from kerasbert.text.letter_case import LetterCase

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused1]", "<S>", "<T>"]
CASED = [*SPECIAL, "Berlin", "met", "in", "M", "##ál", "##aga", "が", "か", "a"]
UNCASED = [*SPECIAL, "berlin", "met", "in", "mal", "##aga", "か", "a"]
MANY = [f"word{number}" for number in range(200)]


@pytest.fixture(autouse=True)
def first_notes():
    note_once.cache_clear()


def folder(path, vocabulary, **config):
    (path / "vocab.txt").write_text("\n".join(vocabulary), "utf-8")
    if config:
        (path / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    return path


def tokens(tokenizer, text):
    return [tokenizer.vocabulary[number] for number in tokenizer.encode([text], max_length=32).input_ids[0][1:-1]]


def test_a_cased_vocabulary_keeps_capitals_and_accents(tmp_path, capsys):
    tokenizer = tokenizer_from_folder(folder(tmp_path, CASED))
    assert tokens(tokenizer, "Berlin met in Málaga が") == ["Berlin", "met", "in", "M", "##ál", "##aga", "が"]
    assert (tokenizer.lowercase, tokenizer.strip_accents) == (False, None)
    expected = "texts keep their capitals and accents, because 2 of 9 tokens have capitals and do_lower_case is not set"
    assert expected in capsys.readouterr().err


def test_an_uncased_vocabulary_is_lowercased_without_a_note(tmp_path, capsys):
    tokenizer = tokenizer_from_folder(folder(tmp_path, UNCASED))
    assert tokens(tokenizer, "Berlin met in Málaga が") == ["berlin", "met", "in", "mal", "##aga", "か"]
    assert (tokenizer.lowercase, tokenizer.strip_accents) == (True, None)
    assert not capsys.readouterr().err


def test_accents_of_an_uncased_vocabulary_are_kept(tmp_path, capsys):
    tokenizer = tokenizer_from_folder(folder(tmp_path, [*UNCASED, "grün", "が"]))
    assert tokens(tokenizer, "Grün が") == ["grün", "が"]
    assert "lowercased but keep their accents, because 2 of 9 tokens have accents" in capsys.readouterr().err


def test_a_few_added_words_with_capitals_leave_a_vocabulary_uncased(tmp_path, capsys):
    tokenizer = tokenizer_from_folder(folder(tmp_path, [*UNCASED, *MANY, "COVID"]))
    assert tokens(tokenizer, "BERLIN") == ["berlin"]
    assert "1 of 208 tokens have capitals and never occur" in capsys.readouterr().err


@pytest.mark.parametrize("value", [False, True])
def test_an_explicit_setting_takes_precedence(tmp_path, capsys, value):
    tokenizer = tokenizer_from_folder(folder(tmp_path, CASED, do_lower_case=value))
    assert tokenizer.lowercase is value
    assert ("2 of 9 tokens have capitals and never occur" in capsys.readouterr().err) is value


def test_an_explicit_setting_of_accents_takes_precedence(tmp_path):
    tokenizer = tokenizer_from_folder(folder(tmp_path, [*UNCASED, "grün"], strip_accents=True))
    assert (tokenizer.lowercase, tokenizer.strip_accents) == (True, True)


def test_decision_is_saved(tmp_path):
    tokenizer = tokenizer_from_folder(folder(tmp_path, CASED))
    tokenizer.save(tmp_path / "again")
    assert WordPiece.from_folder(tmp_path / "again").get_config() == tokenizer.get_config()


def test_capital_letters_make_a_large_vocabulary_cased():
    """A few capitals among many words of a script without case, as in Korean vocabularies."""
    words = [f"한{number}" for number in range(9000)]
    assert LetterCase.of([*words, *string.ascii_lowercase, *string.ascii_uppercase]).is_cased
    assert not LetterCase.of([*words, *string.ascii_lowercase, "X", "Ⅱ"]).is_cased


def test_sentencepiece_model_with_capitals(tmp_path):
    trained = SentencePiece.train(["Berlin met Alma", "alma met Berlin"] * 20, 40, lowercase=False)
    trained.save(tmp_path)
    (tmp_path / "tokenizer_config.json").unlink()
    tokenizer = tokenizer_from_folder(tmp_path)
    assert (tokenizer.lowercase, tokenizer.keep_accents) == (False, True)
    assert tokenizer.encode(["Alma"], max_length=9).input_ids == trained.encode(["Alma"], max_length=9).input_ids
