"""The words of a text, and where in it they stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np


@dataclass(frozen=True, eq=False)
class Words:
    """Words as they stand in a text.

    Attributes:
      text: the text.
      words: its words in their order.
      starts, ends: the first character of each word and the one behind its last, (words,) int.
    """

    text: str
    words: tuple[str, ...]
    starts: np.ndarray
    ends: np.ndarray

    def __len__(self) -> int:
        return len(self.words)

    def first_tokens(self, offsets: Sequence[tuple[int, int]]) -> np.ndarray:
        """The number of the first token that has a character of each word, (words,) int; -1 where none has.

        offsets: the characters of each token, as a tokenizer gives them. Two words may share a token.
        """
        if not offsets:
            return np.full(len(self), -1)
        starts, ends = np.array(offsets).reshape(-1, 2).T
        ends = np.maximum.accumulate(ends)
        first = np.searchsorted(ends, self.starts, "right")
        reached = np.append(starts, len(self.text))[first] < self.ends
        return np.where(reached & (self.starts < self.ends), first, -1)


def words_of(example: str | Sequence[str]) -> Words:
    """The words of a text; given words are joined by single spaces.

    A text is split as BERT's basic tokenizer does it: at white space, and every punctuation mark and every ideograph is a word of its own
    (Devlin et al. 2018, the authors' code). So is each kana, since Japanese words have no borders that are written.
    """
    if isinstance(example, str):
        split = _splitter().pre_tokenize_str(example)
        places = np.array([place for _, place in split], int).reshape(-1, 2)
        return Words(example, tuple(example[start:end] for start, end in places.tolist()), places[:, 0], places[:, 1])
    lengths = np.fromiter(map(len, example), int, len(example))
    ends = np.cumsum(lengths + 1) - 1
    return Words(" ".join(example), tuple(example), ends - lengths, ends)


@cache
def _splitter():
    from tokenizers import Regex, pre_tokenizers

    unspaced = Regex(r"[\p{Han}\p{Hiragana}\p{Katakana}\u30fc\uff70]")  # the last two lengthen a kana
    return pre_tokenizers.Sequence(
        [pre_tokenizers.BertPreTokenizer(), pre_tokenizers.Split(unspaced, behavior="isolated")]
    )
