"""Column delimiters of CSV files: parsing, formatting and detection."""

import csv
from collections import Counter
from collections.abc import Sequence

from kerasbert.data.headers import KNOWN, normalize_name
from kerasbert.errors import KerasBertError

CANDIDATES = (",", ";", "\t", "|")
SAMPLE = 100  # lines
_NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "space": " "}
_INVISIBLE = {"\t": "tab", " ": "space"}


def parse_delimiter(text: str, name: str = "delimiter") -> str:
    """Return the delimiter that a user names: a character, or comma, semicolon, tab, pipe or space.

    Args:
        text: What the user wrote.
        name: What it separates, for the error.

    Raises:
        KerasBertError: When the text is anything else.
    """
    character = _NAMES.get(text.lower(), text) if isinstance(text, str) else ""
    if len(character) != 1 or character in '"\r\n\0' or character.isalnum():
        raise KerasBertError(
            f"expected a {name} of one character, or {', '.join(name for name in _NAMES if name.isalpha())}, received {text!r}"
        )
    return character


def format_delimiter(delimiter: str) -> str:
    """Return the quoted delimiter, or the name of an invisible one."""
    return _INVISIBLE.get(delimiter, repr(delimiter))


def detect_delimiter(lines: Sequence[str]) -> str:
    """Detect the delimiter of a CSV file.

    A delimiter that splits the first row into known column names wins. Otherwise the delimiter wins by which most rows have the
    same number of columns.

    Args:
        lines: The first lines of the file.

    Returns:
        One of `CANDIDATES`; a comma if nothing else fits.
    """
    rows = {candidate: _split_rows(lines, candidate) for candidate in CANDIDATES}
    known_names = {
        candidate: _count_known_names(split[0]) for candidate, split in rows.items() if split and len(split[0]) > 1
    }
    if any(known_names.values()):
        return max(known_names, key=lambda candidate: known_names[candidate])
    uniformity = {candidate: _uniformity(split) for candidate, split in rows.items()}
    return max(CANDIDATES, key=lambda candidate: uniformity[candidate])  # the first of equal ones


def _split_rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        rows.extend(row for row in csv.reader(lines, delimiter=delimiter) if row)
    except csv.Error:  # reported when the file is read
        pass
    return rows


def _count_known_names(row: Sequence[str]) -> int:
    return sum(normalize_name(cell) in KNOWN for cell in row)


def _uniformity(rows: Sequence[Sequence[str]]) -> float:
    """Return the fraction of rows with the most common number of columns; 0 for a single column."""
    widths = Counter(map(len, rows))
    width, count = widths.most_common(1)[0] if widths else (1, 0)
    return count / len(rows) if width > 1 else 0.0
