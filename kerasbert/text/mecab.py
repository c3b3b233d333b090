"""Japanese word splitting: NFKC, then the morphological analyser MeCab, with the place of each word in the original text."""

import functools
import os
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from kerasbert.errors import KerasBertError
from kerasbert.optional import import_optional
from kerasbert.sharing import ThreadLock

DICTIONARIES = ("unidic_lite", "ipadic", "unidic")
# All code points with a canonical decomposition are below this one.
_DECOMPOSED_BELOW = 0x30000
_LONGEST = 10_000  # characters that MeCab takes at once. It crashes on some texts of 300,000, and has 16 bits for the bytes of a word
_BREAKS = ("\u3002", "\n", " ")  # after which a longer text is divided, the best place first
_JAMO = (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))  # Hangul vowels and finals join the syllable before them

_LOCK = ThreadLock("MeCab")


class Word(NamedTuple):
    """A word and its place in the original text.

    Attributes:
        surface: The characters of the word.
        start: The place of its first character, if each character has one original character.
        places: Otherwise (start, end) of the original characters of each character.
    """

    surface: str
    start: int
    places: Sequence[tuple[int, int]] | None = None

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return (start, end) in the original text of the characters from `first` up to but not including `last`."""
        if self.places is None:
            return self.start + first, self.start + last
        return self.start + self.places[first][0], self.start + self.places[last - 1][1]

    def lower(self) -> "Word":
        """Return the word in lower case. One character may become two."""
        lowered = self.surface.lower()
        if len(lowered) == len(self.surface):
            return self._replace(surface=lowered)
        places = self.places or [(number, number + 1) for number in range(len(self.surface))]
        placed = zip(self.surface, places, strict=True)
        return Word(lowered, self.start, [place for character, place in placed for _ in character.lower()])


def mecab_words(text: str, dictionary: str, shift: int = 0) -> Iterator[Word]:
    """Split a text into words in Unicode form NFKC.

    White space between words is dropped. As in Hugging Face, so is all text after a NUL character. A text of more than 10,000 characters is
    split in parts, after a full stop or a space where there is one.

    Args:
        text: The text.
        dictionary: The Python package of MeCab's dictionary, one of `DICTIONARIES`.
        shift: An offset that is added to all places.

    Yields:
        The words with their places in `text`.

    Raises:
        KerasBertError: When fugashi or the dictionary is not installed, or the dictionary is unknown.
    """
    normalized = _nfkc(text)
    places = rest = None
    if normalized != text:
        places, rest = (_places(text), None) if len(text) <= _LONGEST else (None, _long_places(text))
    position = 0
    for surface in mecab_surfaces(normalized, dictionary):
        start = normalized.index(surface, position)
        end = start + len(surface)
        if places is not None:
            yield Word(surface, shift, places[start:end])
        elif rest is not None:
            yield Word(surface, shift, list(islice(rest, start - position, end - position)))
        else:
            yield Word(surface, shift + start)
        position = end


def mecab_surfaces(text: str, dictionary: str) -> Iterator[str]:
    """Yield the words of `mecab_words` without their places, which take most of its time."""
    for part in _parts(_nfkc(text).partition("\0")[0]):
        yield from _surfaces(part, dictionary)


def _surfaces(text: str, dictionary: str) -> list[str]:
    """Return the words that MeCab finds. It keeps them in the tagger, until the tagger gets its next text."""
    tagger = _tagger(dictionary)
    with _LOCK.held:
        return [node.surface for node in tagger(text)]


@functools.cache
def _tagger(dictionary: str) -> Any:
    if dictionary not in DICTIONARIES:
        raise KerasBertError(f"expected a MeCab dictionary of {', '.join(DICTIONARIES)}, received {dictionary!r}")
    fugashi, folder = import_optional("fugashi", "Japanese words"), import_optional(dictionary, "Japanese words").DICDIR
    return fugashi.GenericTagger(f'-d "{folder}" -r "{os.path.join(folder, "mecabrc")}"')


def _parts(text: str) -> Iterator[str]:
    """Yield the text in parts that MeCab can take."""
    start = 0
    while len(text) - start > _LONGEST:
        longest = text[start : start + _LONGEST]
        found = next((place for place in map(longest.rfind, _BREAKS) if place >= 0), _LONGEST - 1)
        yield longest[: found + 1]
        start += found + 1
    yield text[start:]


def _long_places(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of `_places`, of which only some are in memory at once."""
    start = 0
    while start < len(text):
        end = min(start + _LONGEST, len(text))
        while end < len(text) and any(_first_part_flags(text[end])):
            end += 1
        yield from ((first + start, last + start) for first, last in _places(text[start:end]))
        start = end


def _places(text: str) -> list[tuple[int, int]]:
    """Return, for each character of NFKC(text), (start, end) of its original characters in `text`."""
    places, start = [], 0
    for end in range(1, len(text) + 1):
        if end < len(text) and _joins(text[start:end], text[end]):
            continue
        normalized = _nfkc(text[start:end])
        if normalized == text[start:end]:
            places += [(place, place + 1) for place in range(start, end)]
        else:
            places += [(start, end)] * len(normalized)
        start = end
    return places


def _joins(before: str, character: str) -> bool:
    """Return True if normalization composes or reorders a character with those before it."""
    combining, composes = _first_part_flags(character)
    return combining or (composes and _nfkc(before + character) != _nfkc(before) + _nfkc(character))


@functools.lru_cache(maxsize=4096)
def _first_part_flags(character: str) -> tuple[bool, bool]:
    """Return two flags for the first character of a decomposition: it is combining; it may be the second part of a composition."""
    first = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.combining(first) != 0, first in _second_parts()


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


@functools.cache
def _second_parts() -> frozenset[str]:
    """Return the characters that are the second part of a composition."""
    seconds = set(map(chr, _JAMO))
    for number in range(_DECOMPOSED_BELOW):
        parts = unicodedata.decomposition(chr(number)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            seconds.add(chr(int(parts[1], 16)))
    return frozenset(seconds)
