"""Chunks of long texts: short enough, whole sentences, nothing lost, places that are right."""

import pytest

import kerasbert as kb
from kerasbert.errors import KerasBertError

TEXT = (
    "  We saw a film. It was a dull film!\nThe soup was good, and the film was long and really lovely. We saw it again. "
    "A short one\nA second line without an end\n\n"
) * 5


@pytest.fixture(scope="module")
def tokenizer():
    return kb.open("search").tokenizer


@pytest.mark.parametrize(("tokens", "overlap"), [(12, 0), (12, 4), (1, 0), (30, 14), (500, 0)])
def test_chunks_fit_and_cover_the_text(tokenizer, tokens, overlap):
    found = kb.chunks(TEXT, tokenizer, tokens, overlap)
    covered = set()
    for start, end in found:
        assert TEXT[start] != " " and 0 < len(tokenizer.token_ids([TEXT[start:end]])[0]) <= tokens
        covered.update(range(start, end))
    assert all(place in covered for place, character in enumerate(TEXT) if not character.isspace())
    starts = [start for start, _ in found]
    assert starts == sorted(set(starts))
    overlaps = [(a, b) for (_, a), (b, _) in zip(found, found[1:], strict=False) if b < a]
    assert bool(overlaps) == bool(overlap)
    for end, start in overlaps:
        assert len(tokenizer.token_ids([TEXT[start:end]])[0]) <= overlap


def test_chunks_end_with_sentences(tokenizer):
    text = "We saw a film. It was a dull film! The soup was good. We saw it again."
    parts = [text[start:end] for start, end in kb.chunks(text, tokenizer, 12)]
    assert parts == ["We saw a film. It was a dull film!", "The soup was good. We saw it again."]


def test_short_and_blank_texts(tokenizer):
    assert kb.chunks("  a film\n", tokenizer, 12) == [(2, 8)]
    assert kb.chunks(" \n\t", tokenizer, 12) == [] == kb.chunks("", tokenizer, 12)


def test_a_word_is_divided_only_where_it_is_longer_than_a_chunk(tokenizer):
    text = "zxqvzxqvzxqvzxqvzxqvzxqv film"
    parts = [text[start:end] for start, end in kb.chunks(text, tokenizer, 3)]
    assert "".join(parts).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(("tokens", "overlap"), [(0, 0), (12, 6), (12, -1), (12, True), ("a", 0)])
def test_numbers_out_of_range(tokenizer, tokens, overlap):
    with pytest.raises(KerasBertError, match="expected"):
        kb.chunks(TEXT, tokenizer, tokens, overlap)
