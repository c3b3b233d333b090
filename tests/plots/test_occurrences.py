"""The tokens of a word's occurrences, by the words of a tokenizer."""

import pytest

from kerasbert.plots.occurrences import occurrences


@pytest.mark.parametrize(
    ("text", "word", "offsets", "word_ids", "expected"),
    [
        # New York in New York City: a word of several words, with special tokens around the text
        ("New York City", "new york", [(0, 0), (0, 3), (4, 8), (9, 13), (0, 0)], [None, 0, 1, 2, None], [[1, 2]]),
        # a word inside another one is none
        ("bankers bank", "bank", [(0, 4), (4, 7), (8, 12)], [0, 0, 1], [[2]]),
        # without spaces: the words of MeCab
        ("日本の銀行は銀行員を", "銀行", [(0, 2), (2, 3), (3, 5), (5, 6), (6, 9), (9, 10)], [0, 1, 2, 3, 4, 5], [[2]]),
        # ideographs are words of their own, and a word has two
        ("去银行", "银行", [(0, 1), (1, 2), (2, 3)], [0, 1, 2], [[1, 2]]),
        # byte-level BPE counts the space before a word
        ("the bank", "bank", [(0, 3), (3, 8)], [0, 1], [[1]]),
        # SentencePiece has words with their punctuation
        ("a (bank), bankers", "bank", [(0, 1), (2, 3), (3, 7), (7, 9), (10, 14), (14, 17)], [0, 1, 1, 1, 2, 2], [[2]]),
        ("a a", "a", [(0, 1), (2, 3)], [0, 1], [[0], [1]]),
        ("c++ (c)", "c++", [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7)], [0, 1, 2, 3, 4, 5], [[0, 1, 2]]),
    ],
)
def test_words_are_found_by_the_words_of_the_tokenizer(text, word, offsets, word_ids, expected):
    assert occurrences(text, word, offsets, word_ids) == expected
