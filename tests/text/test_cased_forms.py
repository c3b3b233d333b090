"""A cased tokenizer made from an uncased one: which forms it has, and what stays as before."""

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.text import WordPiece
from kerasbert.text.cased_forms import CasedForm, cased_tokenizer, match_tokens, strings_of

_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "##a", "##b", "aba", "bab", "##bab", "1", "ß", "aBa"]


def _tokens(tokenizer, text):
    ids = tokenizer.encode([text], max_length=50).input_ids[0]
    return [tokenizer.vocabulary[number] for number in ids[1:-1]]


@pytest.fixture
def uncased():
    return WordPiece(_TOKENS)


def test_ids_of_lower_case_texts_stay(uncased):
    cased = cased_tokenizer(uncased, ["ABA"])
    texts = ["aba bab", "ababab 1 xyz", "Äba".lower()]
    assert cased.encode(texts, max_length=50).input_ids == uncased.encode(texts, max_length=50).input_ids
    assert not cased.lowercase and cased.strip_accents


def test_words_with_capitals_have_their_own_tokens(uncased):
    cased = cased_tokenizer(uncased, [])
    assert _tokens(cased, "Aba Bab A") == ["Aba", "Bab", "A"]
    assert _tokens(cased, "ABA") == ["A", "##B", "##A"], "capitals that no text has are spelled"
    assert _tokens(cased, "aBab") == ["aBa", "##b"], "a token with a capital stays"
    assert "[pad]" not in cased.vocabulary and len(set(cased.vocabulary)) == len(cased.vocabulary)


def test_forms_in_capitals_follow_the_texts(uncased):
    cased = cased_tokenizer(uncased, ["say ABA", "BABBAB"])
    assert _tokens(cased, "ABA BABBAB") == ["ABA", "BAB", "##BAB"]


def test_each_form_names_its_token(uncased):
    cased = cased_tokenizer(uncased, ["ABA"])
    matches = match_tokens(uncased, cased)
    assert matches[: uncased.vocabulary_size] == list(range(uncased.vocabulary_size))
    forms = {form.token: form for form in matches if isinstance(form, CasedForm)}
    assert len(forms) == cased.vocabulary_size - uncased.vocabulary_size
    assert forms["Aba"].source == forms["ABA"].source == _TOKENS.index("aba")
    assert not forms["Aba"].capitals and forms["ABA"].capitals and not forms["A"].capitals
    assert forms["##A"].source == _TOKENS.index("##a")


def test_tokens_that_are_lacking_match_nothing(uncased):
    cased = cased_tokenizer(uncased, ["ABA"])
    other = WordPiece([*reversed(cased.vocabulary), "zz"])
    matches = match_tokens(cased, other)
    assert matches[:-1] == list(reversed(range(cased.vocabulary_size))), "a form that is known stays itself"
    assert matches[-1] is None


def test_letters_without_one_capital_have_no_form(uncased):
    assert not {"SS", "Ss"} & set(cased_tokenizer(uncased, []).vocabulary), "the capital of ß is two letters"


def test_a_cased_tokenizer_is_refused(uncased):
    with pytest.raises(KerasBertError, match="expected an uncased WordPiece tokenizer .* cased"):
        cased_tokenizer(cased_tokenizer(uncased), [])


def test_strings_of_examples_in_any_form():
    examples = [("a", "b"), ["c", ["d"]], {"question": "e", "context": "f", "start": 3}, b"g", None]
    assert list(strings_of(examples)) == list("abcdef")
