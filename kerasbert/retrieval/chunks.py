"""Chunks of a long text, each short enough for an encoder, with their places in it."""

import bisect
from collections.abc import Sequence
from typing import Any

from kerasbert.arguments import argument, check_whole_number, shown
from kerasbert.data.plain_text import sentence_ends
from kerasbert.errors import KerasBertError
from kerasbert.text import Tokenizer

_WHOLE = 2**31 - 1  # tokens


def chunks(text: str, tokenizer: Tokenizer, tokens: int, overlap: int = 0) -> list[tuple[int, int]]:
    """Divide a text. A chunk ends with a sentence or a line where one ends in its second half, otherwise with a word.

    Args:
        text: The text.
        tokenizer: Counts the tokens.
        tokens: The most tokens of a chunk, without special tokens.
        overlap: Tokens at the end of a chunk with which the next one begins again, at most; fewer than half of `tokens`.

    Returns:
        The start and the end of each chunk, in characters. Blank text has none.

    Raises:
        KerasBertError: When a number is out of range.

    Example:
        ```python
        text = "It rained all day. We stayed inside and read."
        [text[start:end] for start, end in kb.chunks(text, task.tokenizer, 8)]
        ```
    """
    tokens = check_whole_number(tokens, "a number of tokens")
    overlap = check_overlap(overlap, tokens)
    encoded = tokenizer.encode([text], max_length=_WHOLE)
    placed = [
        (place, word)
        for place, word, sequence in zip(encoded.offsets[0], encoded.word_ids[0], encoded.sequence_ids[0], strict=True)
        if sequence is not None and place[1] > place[0]
    ]
    places, words = [place for place, _ in placed], [word for _, word in placed]
    if len(places) <= tokens:
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        return [(start, end)] if places else []
    ends = sentence_ends(text)
    found, first = [], 0
    while True:
        last = _end(places, words, ends, first, first + tokens)
        found.append((places[first][0], places[last - 1][1]))
        if last == len(places):
            return found
        first = max(first + 1, _start(places, words, ends, last - overlap, last))


def check_overlap(overlap: Any, tokens: int) -> int:
    """Check the tokens with which a chunk repeats the one before it.

    Args:
        overlap: The number.
        tokens: The most tokens of a chunk.

    Raises:
        KerasBertError: When it is no whole number from 0 to less than half of them.
    """
    if not isinstance(overlap, int) or isinstance(overlap, bool) or not 0 <= overlap < (tokens + 1) // 2:
        raise KerasBertError(
            f"expected {argument('overlap')} from 0 to less than half of a chunk's {tokens:,} tokens, received {shown(overlap)}; lower it"
        )
    return overlap


def _end(
    places: Sequence[tuple[int, int]], words: Sequence[int | None], ends: Sequence[int], first: int, limit: int
) -> int:
    """Return the number of the token behind a chunk that begins with token `first` and ends before `limit` at the latest."""
    if limit >= len(places):
        return len(places)
    middle = first + (limit - first) // 2
    return (
        next((last for last in range(limit, middle, -1) if _ends_sentence(places, ends, last)), None)
        or next((last for last in range(limit, first, -1) if _ends_word(words, last)), None)
        or limit
    )


def _start(
    places: Sequence[tuple[int, int]], words: Sequence[int | None], ends: Sequence[int], earliest: int, last: int
) -> int:
    """Return the number of the token with which the next chunk begins: that of the first sentence or word from `earliest` on."""
    return next(
        (first for first in range(earliest, last) if _ends_sentence(places, ends, first)),
        next((first for first in range(earliest, last) if _ends_word(words, first)), last),
    )


def _ends_word(words: Sequence[int | None], number: int) -> bool:
    """Whether a word ends before a token."""
    return words[number - 1] != words[number] or words[number] is None


def _ends_sentence(places: Sequence[tuple[int, int]], ends: Sequence[int], number: int) -> bool:
    """Whether a sentence ends between a token and the one before it."""
    place = bisect.bisect_left(ends, places[number - 1][1])
    return place < len(ends) and ends[place] <= places[number][0]
