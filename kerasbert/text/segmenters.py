"""Words that a tokenizer does not know: those of a Chinese word segmenter, of white space, or of a function of the user."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from kerasbert.arguments import check_choice, is_single, shown
from kerasbert.errors import KerasBertError
from kerasbert.optional import import_optional


def _jieba_words() -> Callable[[str], Iterable[str]]:
    return import_optional("rjieba", "Chinese words").cut


# What finds words, by name. A value makes the function, so that a package that is not installed is named before the first text.
SEGMENTERS: dict[str, Callable[[], Callable[[str], Iterable[str]]]] = {
    "jieba": _jieba_words,
    "spaces": lambda: str.split,
}


def words_by(words: str | Callable[[str], Iterable[str]]) -> Callable[[str], np.ndarray]:
    """Return a function from a text to the places of its words.

    Args:
        words: A name of `SEGMENTERS`, or a function that returns the words of a text in their order.

    Returns:
        A function from a text to the start and the end of each word, one behind the other, int64 `(2 * words,)`.

    Raises:
        KerasBertError: When the name is unknown, or the package of the segmenter is not installed.
    """
    if callable(words):
        find = words
    else:
        expected = "`words=` as a function from a text to its words, or one of"
        find = SEGMENTERS[check_choice(words, expected, SEGMENTERS, "pass one of these")]()
    return lambda text: _bounds(text, find(text))


def joined_words(
    numbers: Sequence[int | None], offsets: Sequence[tuple[int, int]] = (), bounds: np.ndarray | None = None
) -> np.ndarray:
    """Return the number of each token's word, counted from 0 in the order of the text.

    With words of a segmenter, a word begins where both the tokenizer and the segmenter begin one: neither's words are divided. A character
    that is in no word of the segmenter is a word of its own.

    Args:
        numbers: The word of each token by the tokenizer; None for a token without a word.
        offsets: (start, end) characters of each token.
        bounds: The start and the end of each word of the segmenter, or None.

    Returns:
        Word numbers, int32 `(tokens,)`.
    """
    own = np.array([-1 if number is None else number for number in numbers], np.int64)
    begins = np.diff(own, prepend=-2) != 0
    begins |= own < 0
    if bounds is not None and len(own):
        places = np.array(offsets, np.int64)
        # A token may begin with the space before it, so its last character counts. Odd numbers are words, even ones lie between words.
        within = np.searchsorted(bounds, np.maximum(places[:, 1] - 1, places[:, 0]), side="right")
        begins &= (np.diff(within, prepend=-1) != 0) | (within % 2 == 0)
    return (np.cumsum(begins) - 1).astype(np.int32)


def _bounds(text: str, words: Any) -> np.ndarray:
    """Find each word of a list in the text, behind the word before it."""
    if is_single(words) or not isinstance(words, Iterable):
        raise KerasBertError(
            f"expected `words=` to return the words of a text as a list, received {shown(words)}; split the text"
        )
    bounds, position = [], 0
    for word in words:
        start = text.find(word, position) if isinstance(word, str) else -1
        if start < 0:
            raise KerasBertError(
                f"expected `words=` to return words of the text in their order, received {shown(word)}, "
                f"which is not in the text behind character {position}; return parts of the text as they are in it"
            )
        position = start + len(word)
        bounds += [start, position]
    return np.array(bounds, np.int64)
