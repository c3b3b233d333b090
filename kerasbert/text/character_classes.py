"""The character classes of BERT's normalizer (dropped, space, CJK, accents, punctuation) as RE2 character classes.

The classes are extracted from `tokenizers` itself, by querying each code point, for two reasons. Its Unicode tables have another version
than those of ICU and RE2. Some of its rules are in no table: it keeps unassigned code points, and treats ASCII symbols such as "$" as
punctuation. A graph with these classes therefore splits text exactly as the host engine does.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers.normalizers import Normalizer
    from tokenizers.pre_tokenizers import PreTokenizer

_PLANE = 0x10000
_PLANES = (0, 1, 2, 3, 14, 15, 16)  # no others have assigned code points
_SURROGATES = range(0xD800, 0xE000)


@dataclass(frozen=True)
class CharacterClasses:
    """Character ranges for an RE2 class, such as `\\x{300}-\\x{36f}\\x{483}-\\x{487}`.

    Attributes:
        dropped: Characters that are removed: control, format and private-use characters, and U+FFFD.
        space: Characters that separate words, and become a space.
        ideographs: CJK characters, each a word of its own.
        accents: Nonspacing marks, which are removed from decomposed text.
        punctuation: Punctuation marks, each a word of its own.
    """

    dropped: str
    space: str
    ideographs: str
    accents: str
    punctuation: str


@cache
def character_classes() -> CharacterClasses:
    """Return the classes of the installed `tokenizers`. The first call takes about a second."""
    from tokenizers import normalizers, pre_tokenizers

    disabled = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
    clean = normalizers.BertNormalizer(**{**disabled, "clean_text": True})
    chinese = normalizers.BertNormalizer(**{**disabled, "handle_chinese_chars": True})
    accents = normalizers.BertNormalizer(**{**disabled, "strip_accents": True})
    words = pre_tokenizers.BertPreTokenizer()

    cleaned = list(_normalize_each(clean, "x"))
    return CharacterClasses(
        dropped=_ranges(character for character, result in cleaned if not result),
        space=_ranges(character for character, result in cleaned if result == " "),
        ideographs=_ranges(
            character for character, result in _normalize_each(chinese, "x") if result == f" {character} "
        ),
        # No character decomposes into a line break, but some do into an x with an accent.
        accents=_ranges(character for character, result in _normalize_each(accents, "\n") if not result),
        punctuation=_ranges(_find_isolated(words)),
    )


def _normalize_each(normalizer: "Normalizer", separator: str) -> Iterator[tuple[str, str]]:
    """Yield each character with its normalized form. `separator` is a character that the normalizer keeps."""
    for characters in _chunks():
        text = separator.join(character for character in characters if character != separator)
        results = normalizer.normalize_str(f"{separator}{text}{separator}").split(separator)[1:-1]
        yield from zip(text.split(separator), results, strict=True)


def _find_isolated(pre_tokenizer: "PreTokenizer") -> Iterator[str]:
    """Yield the characters that the pre-tokenizer splits from adjacent letters."""
    for characters in _chunks():
        for piece, _ in pre_tokenizer.pre_tokenize_str("a" + "a".join(characters) + "a"):
            if len(piece) == 1 and piece != "a":
                yield piece


def _chunks() -> Iterator[list[str]]:
    for start in (plane * _PLANE for plane in _PLANES):
        yield [chr(code) for code in range(start, start + _PLANE) if code not in _SURROGATES]


def _ranges(characters: Iterable[str]) -> str:
    runs: list[list[int]] = []
    for code in sorted(map(ord, characters)):
        if runs and runs[-1][1] == code - 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return "".join(rf"\x{{{first:x}}}-\x{{{last:x}}}" for first, last in runs)
