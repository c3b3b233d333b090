"""Random strings of several kinds that tokenizers tend to disagree on."""

import random
from collections.abc import Callable, Iterator

_SURROGATES = range(0xD800, 0xE000)
_CODE_POINTS_PER_STRING = 16
_SPECIAL = ("[MASK]", "[CLS]", "[SEP]", "[PAD]", "[UNK]")
_LATIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _span(*bounds: tuple[int, int]) -> str:
    return "".join(chr(code) for first, last in bounds for code in range(first, last + 1))


def _letters_of(characters: str, longest: int = 6) -> Callable[[random.Random], str]:
    return lambda draw: "".join(draw.choice(characters) for _ in range(draw.randint(1, longest)))


def _inside_latin(characters: str) -> Callable[[random.Random], str]:
    """Build a generator of Latin words with one of `characters` inside or at the end."""
    return lambda draw: (
        _letters_of(_LATIN, 3)(draw) + draw.choice(characters) + draw.choice(("", _letters_of(_LATIN, 3)(draw)))
    )


def _marked(draw: random.Random) -> str:
    letters = draw.choices(_LATIN + "αωияаדשا한가", k=draw.randint(1, 5))
    return "".join(letter + _letters_of(_MARKS, 3)(draw) for letter in letters)


def _emoji(draw: random.Random) -> str:
    joined = draw.choice(("", "\u200d", "\ufe0f", "\U0001f3fd"))
    return joined.join(draw.choices(_EMOJI, k=draw.randint(1, 4)))


def _long_word(draw: random.Random) -> str:
    """A word of about 100 characters or bytes: limits of words in WordPiece implementations."""
    letters = draw.choice((_LATIN, _CYRILLIC, _THAI, "é", "e\u0301"))
    return "".join(draw.choices(letters, k=draw.choice((24, 25, 33, 34, 50, 51, 99, 100, 101, 102, 300))))


def _lookalike(draw: random.Random) -> str:
    token = draw.choice(_SPECIAL)
    place = draw.randint(0, len(token))
    inserted = token[:place] + draw.choice(("\u200b", " ", "\u0301", "\ue000", "x", "[")) + token[place:]
    forms = (
        token,
        token,
        token.lower(),
        token.title(),
        token[1:],
        token[:-1],
        f"[{token}]",
        inserted,
        "##a",
        "[unused1]",
    )
    return (
        _letters_of(_LATIN, 2)(draw) * draw.randint(0, 1)
        + draw.choice(forms)
        + _letters_of(_LATIN, 2)(draw) * draw.randint(0, 1)
    )


def _any_code_point(draw: random.Random) -> str:
    top = draw.choice((0x3000, 0x3000, 0x10000, 0x20000, 0x110000))
    codes = (draw.randrange(top) for _ in range(draw.randint(1, 4)))
    return "".join(chr(code) for code in codes if code not in _SURROGATES) + _letters_of(_LATIN, 2)(
        draw
    ) * draw.randint(0, 1)


_MARKS = _span((0x300, 0x36F), (0x591, 0x5BD), (0x610, 0x61A), (0x64B, 0x65F), (0x20D0, 0x20F0), (0x302A, 0x302F))
_EMOJI = _span((0x1F300, 0x1F64F), (0x1F680, 0x1F6FF), (0x1F900, 0x1F9FF), (0x1F1E6, 0x1F1FF), (0x2600, 0x27BF))
_CYRILLIC = _span((0x400, 0x45F))
_THAI = _span((0xE01, 0xE3A), (0xE40, 0xE4E))
_IDEOGRAPHS = _span((0x3400, 0x3420), (0x4E00, 0x9FFF), (0xF900, 0xFAD9), (0x20000, 0x20100), (0x2B740, 0x2B940))
_JAPANESE = (
    _span((0x3041, 0x3096), (0x3099, 0x309F), (0x30A0, 0x30FF), (0xFF61, 0xFF9F), (0x3001, 0x301F)) + "日本語中国"
)
_KOREAN = _span((0xAC00, 0xD7A3), (0x1100, 0x11FF), (0x3131, 0x318E))
_CONTROLS = _span((0, 0x1F), (0x7F, 0x9F)) + "\xad\u0600\u06dd\u070f\u180e\ufff9\ufffd\ufeff\U000e0041\ue000\U0010ffff"
_LIGATURES = _span((0xFB00, 0xFB06), (0xFB13, 0xFB17), (0x1C4, 0x1CC), (0xFF01, 0xFF5E)) + "ªº²³½ßẞŉǰΐﬗ℀№℡™ÆæŒœĲĳ"
_SPACES = _span((0x2000, 0x200A)) + "\t\n\v\f\r\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
_ZERO_WIDTH = "\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2063\u2066\u2069\ufeff\u034f\u180b\ufe0e\ufe0f"
_PUNCTUATION = _span(
    (0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0xA1, 0xBF), (0x2010, 0x2027), (0x2030, 0x205E)
) + _span(
    (0x3001, 0x3003),
    (0x3008, 0x3011),
    (0x2E00, 0x2E5D),
    (0x166D, 0x166E),
    (0x964, 0x965),
    (0x20A0, 0x20BF),
    (0x2190, 0x21FF),
)
_ARABIC = _span((0x600, 0x6FF), (0x750, 0x77F), (0xFE70, 0xFEFC))
_HINDI = _span((0x900, 0x97F))
_INDIC = _span((0x980, 0xDFF), (0xE80, 0xEFF), (0x1000, 0x109F), (0x1780, 0x17FF))
_GREEK = _span((0x370, 0x377), (0x386, 0x3FF), (0x1F00, 0x1FFE))
_NEWER_CAPITALS = "\u1c89\u2c2f\ua7c0\ua7d0\ua7d6\ua7d8\ua7dc" + _span((0x10570, 0x10595), (0x10D50, 0x10D65))
_NEWER_MARKS = _span(
    (0x1ABF, 0x1ACE), (0x898, 0x89F), (0x8CA, 0x8D3), (0x11F00, 0x11F10), (0x11380, 0x113E2), (0x16D40, 0x16D79)
)

KINDS: dict[str, Callable[[random.Random], str]] = {
    "emoji": _emoji,
    "combining marks": _marked,
    "ideographs": _letters_of(_IDEOGRAPHS),
    "Japanese letters": _letters_of(_JAPANESE),
    "Korean letters": _letters_of(_KOREAN),
    "control characters": _inside_latin(_CONTROLS),
    "Turkish and Lithuanian i": _letters_of("IİıiiJĮÌÍĨ\u0307\u0301\u0328abcTRL"),
    "Greek and sigma": _letters_of(_GREEK + "ΣΣΣσςσ" + "ΑΟΣ", 8),
    "ligatures": _inside_latin(_LIGATURES),
    "spaces": _inside_latin(_SPACES),
    "zero width": _inside_latin(_ZERO_WIDTH),
    "punctuation": _inside_latin(_PUNCTUATION),
    "Arabic": _letters_of(_ARABIC),
    "Hebrew": _letters_of(_span((0x591, 0x5C7), (0x5D0, 0x5F4))),
    "Hindi": _letters_of(_HINDI),
    "Indic and South-East Asian": _letters_of(_INDIC),
    "Thai": _letters_of(_THAI, 20),
    "Cyrillic": _letters_of(_CYRILLIC),
    "Vietnamese": _letters_of(_span((0x1EA0, 0x1EF9)) + "ăâđêôơư"),
    "long words": _long_word,
    "special tokens": _lookalike,
    "capitals of new alphabets": _inside_latin(_NEWER_CAPITALS),
    "marks of new alphabets": _inside_latin(_NEWER_MARKS),
    "any code point": _any_code_point,
}


def random_string(kind: str, draw: random.Random) -> str:
    """Draw up to twelve words, two thirds of them of one kind and the others of Latin letters.

    Args:
        kind: A key of `KINDS`.
        draw: The source of randomness.
    """
    words = (draw.choice((KINDS[kind], KINDS[kind], _letters_of(_LATIN)))(draw) for _ in range(draw.randint(1, 12)))
    return draw.choice((" ", " ", "")).join(words)


def every_code_point() -> Iterator[str]:
    """Yield strings with all code points but the surrogates, each after a letter."""
    codes = [code for code in range(0x110000) if code not in _SURROGATES]
    for start in range(0, len(codes), _CODE_POINTS_PER_STRING):
        yield " ".join(f"a{chr(code)}" for code in codes[start : start + _CODE_POINTS_PER_STRING])
