"""Long texts in pieces that have the tokens of the whole text.

The engine takes about 130 bytes for each character of a text, also for the tokens that truncation drops. A long text is therefore cut
before the engine sees it, at places where no word, no added token and no normalization reaches across. `tests/text/test_long_texts.py`
compares the tokens of pieces with those of whole texts.

The engine itself moves the offsets of SentencePiece behind a character that the model's map deletes, such as U+0001 at the start of a text.
In a piece that ends with the piece.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

ResultT = TypeVar("ResultT")

PIECE = 16_384  # characters; shorter texts are not cut
_MOST_PIECES = 64  # that the engine takes at once
# Texts encoded at once, and their characters: the engine's results are large, and are freed before the next chunk.
_CHUNK, _CHUNK_CHARACTERS = 8192, 2_000_000
# Letters and digits that neither combine with their neighbours nor change with them: ASCII, Latin, Greek, Cyrillic, Hebrew, Arabic,
# Devanagari, Thai, kana, ideographs, Hangul.
_LETTERS = (
    "0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0391-\u03a1\u03a3-\u03ce\u0400-\u0481\u048a-\u052f\u05d0-\u05ea"
    "\u0621-\u064a\u0904-\u0939\u0e01-\u0e30\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
)
_IDEOGRAPHS = "\u4e00-\u9fff"
_PUNCTUATION = ".,!?;:\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f"


class PiecedSegment:
    """The tokens of a text that was cut, 16 bytes for each; see `kerasbert.text.encoded.Segment`."""

    def __init__(self) -> None:
        self.ids = array("i")
        self._starts, self._ends, self._words = array("i"), array("i"), array("i")  # the word -1 stands for None

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """(start, end) characters of each token."""
        return list(zip(self._starts, self._ends, strict=True))

    @property
    def word_ids(self) -> list[int | None]:
        """The word of each token."""
        return [None if word < 0 else word for word in self._words]

    def extend(self, ids: Iterable[int], offsets: Iterable[tuple[int, int]], word_ids: Iterable[int | None]) -> None:
        """Add the tokens of the next piece, whose words are numbered from 0 on."""
        self.ids.extend(ids)
        first = 1 + max(self._words[-1:], default=-1)
        for start, end in offsets:
            self._starts.append(start)
            self._ends.append(end)
        self._words.extend(-1 if word is None else word + first for word in word_ids)


def word_ends(
    added_tokens: Sequence[str], spaces: str, *, splits_punctuation: bool, splits_ideographs: bool
) -> re.Pattern[str] | None:
    """Return a pattern of the places at which a text may be cut, or None if an added token reaches across words.

    A piece begins with the space that follows a word.

    Args:
        added_tokens: The tokens that are found in a text before it is split into words, as they are and normalized.
        spaces: The characters that end words, each of them alone between two letters.
        splits_punctuation: True if each punctuation character is a word of its own.
        splits_ideographs: True if each ideograph is a word of its own.
    """
    if any(character.isspace() for token in added_tokens for character in token):
        return None
    used = set("".join(added_tokens))
    places = [f"(?<=[{_LETTERS}])(?=[{re.escape(spaces)}][{_LETTERS}])"]
    if splits_punctuation and (marks := "".join(mark for mark in _PUNCTUATION if mark not in used)):
        places.append(f"(?<=[{re.escape(marks)}])(?=[{_LETTERS}])")
    if splits_ideographs and not re.search(f"[{_IDEOGRAPHS}]", "".join(used)):
        places.append(f"(?<=[{_IDEOGRAPHS}])(?=[{_IDEOGRAPHS}])")
    return re.compile("|".join(places))


def pieces(text: str, ends: re.Pattern[str] | None) -> Iterator[tuple[int, str]]:
    """Yield the place of each piece and the piece, of about `PIECE` characters each.

    Args:
        text: The text.
        ends: The places at which it may be cut. Text without such a place is one piece.
    """
    start = 0
    while ends and len(text) - start > PIECE and (found := ends.search(text, start + PIECE)):
        yield start, text[start : found.start()]
        start = found.start()
    yield start, text[start:]


def growing_batches(found: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Yield one piece, then two, then four and so on, because the first piece often has all tokens that are needed."""
    rest, size = iter(found), 1
    while batch := list(islice(rest, size)):
        yield batch
        size = min(2 * size, _MOST_PIECES)


def by_chunk(
    texts: list[str], batch: Callable[[list[str]], Sequence[ResultT]], long: Callable[[str], ResultT]
) -> list[ResultT]:
    """Return the result of each text: of a long text by itself, of others in lists for the engine.

    Args:
        texts: The texts.
        batch: Returns the results of texts of at most `PIECE` characters.
        long: Returns the result of a longer text.
    """
    results: list[ResultT] = []
    for chunk in _chunks(texts):
        results += [long(chunk[0])] if len(chunk[0]) > PIECE else batch(chunk)
    return results


def _chunks(texts: list[str]) -> Iterator[list[str]]:
    """Yield texts in lists for the engine. A text of more than `PIECE` characters is alone."""
    chunk: list[str] = []
    characters = 0
    for text in texts:
        size = len(text)
        if chunk and (size > PIECE or len(chunk) == _CHUNK or characters + size > _CHUNK_CHARACTERS):
            yield chunk
            chunk, characters = [], 0
        chunk.append(text)
        characters += size
        if size > PIECE:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk
