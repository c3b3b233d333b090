"""Which characters BERT's normalizer drops, takes for space, for CJK, for accents and for punctuation, as regex classes.

They are read off `tokenizers` itself, one answer for each code point. Its tables, ICU's and RE2's come from
different versions of Unicode, and some of its rules are in no table: unassigned code points stay, and ASCII symbols such as
"$" are punctuation. A graph whose regexes use these classes splits as the host engine does.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

_PLANE = 0x10000
_PLANES = (0, 1, 2, 3, 14, 15, 16)  # Unicode assigns nothing in the others
_SURROGATES = range(0xD800, 0xE000)


@dataclass(frozen=True)
class CharacterClasses:
    """Ranges for the inside of an RE2 class, such as `\\x{300}-\\x{36f}\\x{483}-\\x{487}`.

    Attributes:
      dropped: control, format and private-use characters and U+FFFD, which vanish.
      space: what separates words and becomes a space.
      ideographs: the CJK characters that are words of their own.
      accents: what is dropped from decomposed text (nonspacing marks).
      punctuation: characters that are words of their own.
    """

    dropped: str
    space: str
    ideographs: str
    accents: str
    punctuation: str


@cache
def character_classes() -> CharacterClasses:
    """The classes of the `tokenizers` installed; the first call takes about a second."""
    from tokenizers import normalizers, pre_tokenizers

    off = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
    clean = normalizers.BertNormalizer(**{**off, "clean_text": True})
    chinese = normalizers.BertNormalizer(**{**off, "handle_chinese_chars": True})
    accents = normalizers.BertNormalizer(**{**off, "strip_accents": True})
    words = pre_tokenizers.BertPreTokenizer()

    cleaned = list(_normalized(clean, "x"))
    return CharacterClasses(
        dropped=_ranges(character for character, result in cleaned if not result),
        space=_ranges(character for character, result in cleaned if result == " "),
        ideographs=_ranges(character for character, result in _normalized(chinese, "x") if result == f" {character} "),
        # No character decomposes into a line break, but some do into an x with an accent.
        accents=_ranges(character for character, result in _normalized(accents, "\n") if not result),
        punctuation=_ranges(_isolated(words)),
    )


def _normalized(normalizer, separator: str) -> Iterator[tuple[str, str]]:
    for characters in _chunks():
        text = separator.join(character for character in characters if character != separator)
        results = normalizer.normalize_str(f"{separator}{text}{separator}").split(separator)[1:-1]
        yield from zip(text.split(separator), results, strict=True)


def _isolated(pre_tokenizer) -> Iterator[str]:
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
