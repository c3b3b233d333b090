"""Text measured in terminal cells, padded and wrapped."""

import re

_BLANKS = " \t"


def cell_width(text: str) -> int:
    """How many cells of a terminal `text` takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def pad(text: str, width: int) -> str:
    """`text` with blanks behind it up to `width` cells."""
    return text + " " * (width - cell_width(text))


def wrap(text: str, width: int | None) -> list[str]:
    """Lines of at most `width` cells, broken at blanks that are no no-break ones.

    A longer word stays whole on a line of its own, such as a path; one with wide characters, as Chinese and Japanese are written, is cut
    between two of them. None: one line.
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
    """Words with the blanks behind them; words of wide characters in parts of at most `width` cells."""
    pieces = []
    for word in re.findall(r"[ \t]*[^ \t]+[ \t]*|[ \t]+", text):
        if cell_width(word.rstrip(_BLANKS)) > width and cell_width(word) != len(word):
            pieces += _chopped(word, width)
        else:
            pieces.append(word)
    return pieces


def _chopped(word: str, width: int) -> list[str]:
    parts, part = [], ""
    for character in word:
        if part and cell_width(part + character) > width:
            parts.append(part)
            part = ""
        part += character
    return [*parts, part]
