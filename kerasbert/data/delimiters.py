"""What separates the columns of a CSV file."""

import csv
from collections import Counter
from collections.abc import Sequence

from kerasbert.data.headers import KNOWN, plain
from kerasbert.errors import KerasBertError

CANDIDATES = (",", ";", "\t", "|")
SAMPLE = 100  # lines
_NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "space": " "}
_WORDS = {"\t": "tab", " ": "space"}


def delimiter_named(text: str) -> str:
    """The character that a user means: itself, or comma, semicolon, tab, pipe or space. Raises KerasBertError for anything else."""
    character = _NAMES.get(text.lower(), text)
    if len(character) != 1 or character in '"\r\n\0' or character.isalnum():
        raise KerasBertError(
            f"expected a delimiter of one character, or {', '.join(name for name in _NAMES if name.isalpha())}, received {text!r}"
        )
    return character


def shown(delimiter: str) -> str:
    """`','`, or the name of one that cannot be seen."""
    return _WORDS.get(delimiter, repr(delimiter))


def sniffed(lines: Sequence[str]) -> str:
    """The delimiter of a CSV file by its first lines: the one by which the first row has known column names, else the one by which most
    rows have the same number of columns; a comma where none does.
    """
    rows = {candidate: _rows(lines, candidate) for candidate in CANDIDATES}
    named = {candidate: _known(found[0]) for candidate, found in rows.items() if found and len(found[0]) > 1}
    if any(named.values()):
        return max(named, key=named.get)
    shares = {candidate: _share_of_one_width(found) for candidate, found in rows.items()}
    return max(shares, key=shares.get)  # the first of equal ones


def _rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    found = []
    try:
        found.extend(row for row in csv.reader(lines, delimiter=delimiter) if row)
    except csv.Error:  # told when the file is read
        pass
    return found


def _known(row: Sequence[str]) -> int:
    return sum(plain(cell) in KNOWN for cell in row)


def _share_of_one_width(rows: Sequence[Sequence[str]]) -> float:
    """The share of the rows with the commonest number of columns; 0 where that is one column."""
    widths = Counter(map(len, rows))
    width, count = widths.most_common(1)[0] if widths else (1, 0)
    return count / len(rows) if width > 1 else 0.0
