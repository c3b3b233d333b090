"""Random strings with marks, scripts, controls, ligatures, long words and special tokens."""

import random
import unicodedata

_RANGES = {
    "ascii": [(0x20, 0x7E)],
    "latin": [(0xA0, 0x24F), (0x1E00, 0x1EFF)],
    "greek_cyrillic": [(0x370, 0x3FF), (0x400, 0x52F)],
    "turkish": [(0x130, 0x131), (0x15E, 0x15F), (0x11E, 0x11F)],
    "combining": [(0x300, 0x36F), (0x1AB0, 0x1ABE), (0x20D0, 0x20F0), (0x3099, 0x309A)],
    "arabic_hebrew": [(0x5D0, 0x5EA), (0x600, 0x6FF), (0xFE70, 0xFEFC)],
    "indic": [(0x900, 0x97F), (0x980, 0x9FE), (0xB80, 0xBFA), (0xE01, 0xE5B)],
    "kana": [(0x3040, 0x30FF), (0xFF61, 0xFF9F), (0x31F0, 0x31FF)],
    "ideographs": [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0xF900, 0xFAD9), (0x20000, 0x2A6DF), (0x2F00, 0x2FD5)],
    "hangul": [(0xAC00, 0xD7A3), (0x1100, 0x1112), (0x1161, 0x1175), (0x11A8, 0x11C2), (0x3131, 0x318E)],
    "wide_and_ligatures": [(0xFF01, 0xFF5E), (0xFB00, 0xFB06), (0x2460, 0x24FF), (0x3200, 0x33FF), (0x1D400, 0x1D7FF)],
    "emoji": [(0x1F300, 0x1F64F), (0x1F680, 0x1F6FF), (0x1F900, 0x1F9FF), (0x2600, 0x27BF), (0x1F1E6, 0x1F1FF)],
    "punctuation": [(0x2010, 0x205E), (0x3000, 0x303F), (0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)],
    "controls": [(0x0, 0x1F), (0x7F, 0x9F), (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0xFFF9, 0xFFFD)],
    "spaces": [(0x9, 0xD), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x3000, 0x3000)],
    "joiners": [(0x200D, 0x200D), (0xFE00, 0xFE0F), (0x1F3FB, 0x1F3FF), (0xE0020, 0xE007F), (0xFEFF, 0xFEFF)],
    "anything": [(0x0, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x1FFFF), (0xE0000, 0x10FFFF)],
}
_WORDS = [
    "hello", "World", "don't", "9,9", "1,234.56", "``quoted''", "straße", "ﬁne ﬂow", "İstanbul", "ISPARTA", "ΣΊΣΥΦΟΣ",
    "naïve", "cafe\u0301", "東京都", "日本語を話す", "ｶﾞｷﾞ", "㍿", "㌔", "नमस्ते", "مرحبا", "สวัสดี", "한국어", "\u1112\u1161\u11ab",
    "👩\u200d👩\u200d👧", "🇯🇵", "👍🏽", "e-mail@example.com", "...", "—", "C++", "##ing", "▁a", "Ġb", "$5", "[", "]", "<", ">",
]  # fmt: skip


def make(count: int, special_tokens: list[str], seed: int) -> list[str]:
    """Make strings that are the same for the same seed.

    Args:
        count: The number of strings.
        special_tokens: Tokens that occur whole and damaged ("[mask]", "[MASK", "[MASK ]").
        seed: Of the random choices.
    """
    chance = random.Random(seed)
    lookalikes = [shape for token in special_tokens for shape in _lookalikes(token)]
    return [_string(chance, lookalikes) for _ in range(count)]


def _string(chance: random.Random, lookalikes: list[str]) -> str:
    parts = []
    for _ in range(chance.randint(1, 12)):
        kind = chance.random()
        if kind < 0.3:
            parts.append(chance.choice(_WORDS))
        elif kind < 0.4:
            parts.append(chance.choice(lookalikes))
        elif kind < 0.43:
            parts.append(_run(chance, chance.choice(["ascii", "latin", "kana", "combining"]), chance.randint(95, 130)))
        else:
            parts.append(_run(chance, chance.choice(list(_RANGES)), chance.randint(1, 8)))
        parts.append(chance.choice(["", "", " ", " ", " ", "  ", "\n", "\t"]))
    return "".join(parts)


def _run(chance: random.Random, name: str, length: int) -> str:
    run = (chr(chance.randint(*chance.choice(_RANGES[name]))) for _ in range(length))
    return "".join(character for character in run if unicodedata.category(character) != "Cs")


def _lookalikes(token: str) -> list[str]:
    inside = token[1:-1]
    return [
        token, token, token, token.lower(), token[:-1], f"{token[0]} {inside}{token[-1]}", f"x{token}y", f"{token}{token}",
        "".join(chr(ord(character) + 0xFEE0) if character.isascii() else character for character in token),
        f" {token} ", f"{token}##s", f"\u200b{token}\u0301",
    ]  # fmt: skip
