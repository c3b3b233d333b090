"""The words of a text, and their positions in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Words:
    """The words of a text, and the pieces in which a raw text would be split.

    Attributes:
        text: The text.
        words: Its words in their order.
        starts: The first character of each word, `(words,)` int.
        ends: The character after each word, `(words,)` int.
        piece_starts: The first character of each piece, `(pieces,)` int.
        piece_ends: The character after each piece, `(pieces,)` int.
        owners: The number of each piece's word, `(pieces,)` int.
    """

    text: str
    words: tuple[str, ...]
    starts: np.ndarray
    ends: np.ndarray
    piece_starts: np.ndarray
    piece_ends: np.ndarray
    owners: np.ndarray

    def __len__(self) -> int:
        return len(self.words)

    def first_tokens(self, offsets: Sequence[tuple[int, int]]) -> np.ndarray:
        """Return the number of the first token with a character of each piece, `(pieces,)` int; -1 where there is none.

        Args:
            offsets: The characters of each token, as a tokenizer returns them. Pieces may share a token.
        """
        if not offsets:
            return np.full(len(self.owners), -1)
        starts, ends = np.array(offsets).reshape(-1, 2).T
        first = np.searchsorted(np.maximum.accumulate(ends), self.piece_starts, "right")
        return np.where(np.append(starts, len(self.text))[first] < self.piece_ends, first, -1)


def words_of(example: str | Sequence[str]) -> Words:
    """Split a text into words and pieces.

    Pieces follow BERT's basic tokenizer (Devlin et al. 2018, the authors' code): a text is split at white space, and every punctuation mark
    and every ideograph is a piece of its own. So is each kana, since Japanese has no spaces. The words of a raw text are its pieces. A
    given word may have several pieces, such as `U.S.`.

    Args:
        example: A text, or a list of words, which are joined by single spaces.
    """
    text = example if isinstance(example, str) else " ".join(example)
    bounds = np.array([bounds for _, bounds in _splitter().pre_tokenize_str(text)], int).reshape(-1, 2)
    pieces = bounds[:, 0], bounds[:, 1]
    if isinstance(example, str):
        words = tuple(text[start:end] for start, end in bounds.tolist())
        return Words(text, words, *pieces, *pieces, np.arange(len(words)))
    lengths = np.fromiter(map(len, example), int, len(example))
    ends = np.cumsum(lengths + 1) - 1
    return Words(text, tuple(example), ends - lengths, ends, *pieces, np.searchsorted(ends, pieces[0], "right"))


@cache
def _splitter() -> Any:
    from tokenizers import Regex, pre_tokenizers

    unspaced = Regex(r"[\p{Han}\p{Hiragana}\p{Katakana}\u30fc\uff70]")  # the last two lengthen a kana
    return pre_tokenizers.Sequence(
        [pre_tokenizers.BertPreTokenizer(), pre_tokenizers.Split(unspaced, behavior="isolated")]
    )
