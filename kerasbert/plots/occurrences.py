"""Where a word stands in a sentence: the tokens of each occurrence, by the words of the tokenizer."""

import re
from collections.abc import Sequence


def occurrences(
    text: str, word: str, offsets: Sequence[tuple[int, int]], word_ids: Sequence[int | None]
) -> list[list[int]]:
    """Return the numbers of the tokens of each occurrence of a word.

    An occurrence begins where a word of the tokenizer begins, and ends where one ends. It may span several of them, such as "New York" or
    two ideographs. SentencePiece has words with punctuation, so tokens beside it count too. Letter case does not matter.

    Args:
        text: The text.
        word: The word.
        offsets: The characters of each token in the text.
        word_ids: The word of each token; None for special tokens around the text.
    """
    spans: dict[int, tuple[int, int]] = {}
    starts, ends = set(), set()
    for (start, end), number in zip(offsets, word_ids, strict=True):
        if number is not None:
            # Some tokenizers count the space before a word.
            start += len(text[start:end]) - len(text[start:end].lstrip())
            first, last = spans.get(number, (start, end))
            spans[number] = min(first, start), max(last, end)
            starts |= set() if text[:start][-1:].isalnum() else {start}
            ends |= set() if text[end : end + 1].isalnum() else {end}
    starts |= {start for start, _ in spans.values()}
    ends |= {end for _, end in spans.values()}
    found = []
    for match in re.finditer(f"(?={re.escape(word)})", text, re.IGNORECASE):
        first, last = match.start(), match.start() + len(word)
        if first in starts and last in ends:
            tokens = [
                place
                for place, ((start, end), number) in enumerate(zip(offsets, word_ids, strict=True))
                if number is not None and start < last and end > first
            ]
            found.append(tokens)
    return found
