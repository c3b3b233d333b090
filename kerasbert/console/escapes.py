"""Control characters as visible text, so that nobody's data steers the terminal it is shown on."""

import re

# C0 and C1 controls, line separators, Unicode's Bidi_Control, lone surrogates, which no encoding holds.
_CONTROLS = "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
_ANY = re.compile(f"[{_CONTROLS}]")
_BUT_NEWLINE_AND_TAB = re.compile(f"(?![\\n\\t])[{_CONTROLS}]")


def escape_controls(text: str, keep_lines: bool = False) -> str:
    """`text` with control characters as Python writes them: `\\x1b[31m`, `\\u202e`.

    Args:
        keep_lines: leave newlines and tabs as they are.
    """
    return (_BUT_NEWLINE_AND_TAB if keep_lines else _ANY).sub(_python_escape, text)


def escape_json(text: str) -> str:
    """JSON text whose strings hold no raw control character: the same values, `\\u009b` for what JSON leaves raw."""
    return _BUT_NEWLINE_AND_TAB.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _python_escape(match: re.Match) -> str:
    code = ord(match[0])
    short = {9: "\\t", 10: "\\n", 13: "\\r"}.get(code)
    return short or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
