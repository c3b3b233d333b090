"""Escapes for control characters, so that no data can control the terminal that shows it."""

import re

# C0 and C1 controls, line separators, Unicode's Bidi_Control, and lone surrogates, which cannot be encoded.
_CONTROLS = "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
_ALL = re.compile(f"[{_CONTROLS}]")
_ALL_BUT_NEWLINE_AND_TAB = re.compile(f"(?![\\n\\t])[{_CONTROLS}]")


def escape_controls(text: str, keep_lines: bool = False) -> str:
    """Replace control characters by Python's escapes: `\\x1b[31m`, `\\u202e`.

    Args:
        text: any text.
        keep_lines: leave newlines and tabs unchanged.
    """
    return (_ALL_BUT_NEWLINE_AND_TAB if keep_lines else _ALL).sub(_python_escape, text)


def escape_json(text: str) -> str:
    """Replace control characters that JSON allows in strings by JSON's escapes, such as `\\u009b`; the values stay the same."""
    return _ALL_BUT_NEWLINE_AND_TAB.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _python_escape(match: re.Match) -> str:
    code = ord(match[0])
    short = {9: "\\t", 10: "\\n", 13: "\\r"}.get(code)
    return short or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
