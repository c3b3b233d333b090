"""Width, padding and wrapping of text in terminal cells."""

import re

_BLANKS = " \t"


def cell_width(text: str) -> int:
    """Return the number of terminal cells that a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def pad(text: str, width: int) -> str:
    """Pad a text with blanks to `width` cells."""
    return text + " " * (width - cell_width(text))


def wrap(text: str, width: int | None) -> list[str]:
    """Break a text into lines at spaces and tabs.

    A longer word, such as a path, stays whole on a line of its own. A longer word with wide characters, as in Chinese and Japanese,
    is broken between two characters.

    Args:
        text: the text; no-break spaces do not break.
        width: cells of a line; None for a single line.
    """
    if width is None or cell_width(text) <= width:
        return [text]
    lines, line = [], ""
    for piece in _pieces(text, max(width, 2)):
        if line.strip(_BLANKS) and cell_width(line) + cell_width(piece.rstrip(_BLANKS)) > width:
            lines.append(line.rstrip(_BLANKS))
            line = ""
            piece = piece.lstrip(_BLANKS)
        line += piece
    return [*lines, line.rstrip(_BLANKS)]


def _pieces(text: str, width: int) -> list[str]:
    """Words with the blanks after them; long words of wide characters in parts of at most `width` cells."""
    pieces = []
    for word in re.findall(r"[ \t]*[^ \t]+[ \t]*|[ \t]+", text):
        if cell_width(word.rstrip(_BLANKS)) > width and cell_width(word) != len(word):
            pieces += _split_word(word, width)
        else:
            pieces.append(word)
    return pieces


def _split_word(word: str, width: int) -> list[str]:
    parts, part = [], ""
    for character in word:
        if part and cell_width(part + character) > width:
            parts.append(part)
            part = ""
        part += character
    return [*parts, part]
