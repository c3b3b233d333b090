"""Japanese text to words: NFKC, then the morphological analyser MeCab, with each word's place in the text as given."""

import functools
import os
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from kerasbert.errors import KerasBertError
from kerasbert.optional import import_optional

DICTIONARIES = ("unidic_lite", "ipadic", "unidic")
# The last code point that has a canonical decomposition lies below.
_DECOMPOSED_BELOW = 0x30000
_JAMO = (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))  # Hangul vowels and finals join the syllable before them


class Word(NamedTuple):
    """A word and where it stands: its characters are those from `start` on, or from `places`, (start, end) each."""

    surface: str
    start: int
    places: Sequence[tuple[int, int]] | None = None

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Where in the text the characters `first` to `last` (not included) of the word come from."""
        if self.places is None:
            return self.start + first, self.start + last
        return self.start + self.places[first][0], self.start + self.places[last - 1][1]

    def lower(self) -> "Word":
        """The word in lower case; a character may become two."""
        lowered = self.surface.lower()
        if len(lowered) == len(self.surface):
            return self._replace(surface=lowered)
        places = self.places or [(number, number + 1) for number in range(len(self.surface))]
        each = zip(self.surface, places, strict=True)
        return Word(lowered, self.start, [place for character, place in each for _ in character.lower()])


def mecab_words(text: str, dictionary: str, shift: int = 0) -> list[Word]:
    """The words of `text` in Unicode form NFKC, each with its place in `text` itself, plus `shift`.

    White space between words is left out, and so is, as in Hugging Face, what follows a NUL character.

    Raises:
      KerasBertError: fugashi or the dictionary is not installed, or the dictionary is not known.
    """
    normalized = _nfkc(text)
    places = None if normalized == text else _places(text)
    words, position = [], 0
    for node in _tagger(dictionary)(normalized):
        surface = node.surface
        start = normalized.index(surface, position)
        position = start + len(surface)
        words.append(Word(surface, shift + start) if places is None else Word(surface, shift, places[start:position]))
    return words


def check_installed(dictionary: str) -> None:
    """Raises KerasBertError where MeCab or the dictionary cannot be used; it names the extra to install."""
    _tagger(dictionary)


@functools.cache
def _tagger(dictionary: str):
    if dictionary not in DICTIONARIES:
        raise KerasBertError(f"expected a MeCab dictionary of {', '.join(DICTIONARIES)}, received {dictionary!r}")
    fugashi, folder = import_optional("fugashi", "Japanese words"), import_optional(dictionary, "Japanese words").DICDIR
    return fugashi.GenericTagger(f'-d "{folder}" -r "{os.path.join(folder, "mecabrc")}"')


def _places(text: str) -> list[tuple[int, int]]:
    """For every character of NFKC(text) the start and end of the characters of `text` it was made from."""
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
    """Whether a character is composed, or may be reordered, with what stands before it."""
    combining, composes = _first_of(character)
    return combining or (composes and _nfkc(before + character) != _nfkc(before) + _nfkc(character))


@functools.lru_cache(maxsize=4096)
def _first_of(character: str) -> tuple[bool, bool]:
    """Whether a character begins, taken apart, with a combining one, or with the second half of composed ones."""
    first = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.combining(first) != 0, first in _seconds()


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


@functools.cache
def _seconds() -> frozenset[str]:
    """Characters that are the second half of a composed one."""
    seconds = set(map(chr, _JAMO))
    for number in range(_DECOMPOSED_BELOW):
        parts = unicodedata.decomposition(chr(number)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            seconds.add(chr(int(parts[1], 16)))
    return frozenset(seconds)
