"""The words of a text, and where in it they stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np


@dataclass(frozen=True, eq=False)
class Words:
    """Words as they stand in a text, and the pieces that they consist of.

    Attributes:
      text: the text.
      words: its words in their order.
      starts, ends: the first character of each word and the one behind its last, (words,) int.
      piece_starts, piece_ends: those of each piece, (pieces,) int.
      owners: the number of each piece's word, (pieces,) int.
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
        """The number of the first token that has a character of each piece, (pieces,) int; -1 where none has.

        offsets: the characters of each token, as a tokenizer gives them. Pieces may share a token.
        """
        if not offsets:
            return np.full(len(self.owners), -1)
        starts, ends = np.array(offsets).reshape(-1, 2).T
        first = np.searchsorted(np.maximum.accumulate(ends), self.piece_starts, "right")
        return np.where(np.append(starts, len(self.text))[first] < self.piece_ends, first, -1)


def words_of(example: str | Sequence[str]) -> Words:
    """The words of a text; given words are joined by single spaces.

    A text is split as BERT's basic tokenizer does it: at white space, and every punctuation mark and every ideograph stands alone (Devlin
    et al. 2018, the authors' code). So does each kana, since Japanese words have no borders that are written. What comes of that are the
    words of a raw text, and the pieces of given words, `U.S.` for example.
    """
    text = example if isinstance(example, str) else " ".join(example)
    split = np.array([place for _, place in _splitter().pre_tokenize_str(text)], int).reshape(-1, 2)
    pieces = split[:, 0], split[:, 1]
    if isinstance(example, str):
        words = tuple(text[start:end] for start, end in split.tolist())
        return Words(text, words, *pieces, *pieces, np.arange(len(words)))
    lengths = np.fromiter(map(len, example), int, len(example))
    ends = np.cumsum(lengths + 1) - 1
    return Words(text, tuple(example), ends - lengths, ends, *pieces, np.searchsorted(ends, pieces[0], "right"))


@cache
def _splitter():
    from tokenizers import Regex, pre_tokenizers

    unspaced = Regex(r"[\p{Han}\p{Hiragana}\p{Katakana}\u30fc\uff70]")  # the last two lengthen a kana
    return pre_tokenizers.Sequence(
        [pre_tokenizers.BertPreTokenizer(), pre_tokenizers.Split(unspaced, behavior="isolated")]
    )
