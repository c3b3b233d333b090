"""Detection of header rows, and the column names that readers recognize."""

import re
from collections.abc import Sequence

# Column names that are recognized by default, in the order of preference; case is ignored.
PAIRS = {
    "sentence1": "sentence2",
    "question1": "question2",
    "#1 string": "#2 string",
    "premise": "hypothesis",
    "question": "sentence",
    "text": "pair",
}
TEXTS = (
    "text", "sentence", "sentence1", "question", "utterance", "review", "question1", "#1 string", "premise", "comment_text", "tweet",
)  # fmt: skip
LABELS = ("label", "labels", "class", "intent", "score", "gold_label", "quality")
KNOWN = {*TEXTS, *PAIRS.values(), *LABELS}
SAMPLE = 200  # rows below the first one that are compared with it

_NAME = re.compile(r"[^\W\d][\w .#/()\-]{0,39}")
_MAX_WORDS = 4  # in a column name
_MIN_ROWS = 5  # with fewer rows, lengths and repetitions are no evidence


def normalize_name(name: str) -> str:
    """Return a column's name without case and surrounding white space."""
    return name.strip().casefold()


def is_header(first: Sequence[str], body: Sequence[Sequence[str]], requested: set[str]) -> bool:
    """Return True if the first row names the columns.

    A requested or known name decides. Otherwise three conditions must hold: all cells look like names, no name recurs in its
    column, and at least one column differs in kind. Such a column holds numbers, much longer texts, or few distinct values.

    Args:
        first: The first row.
        body: Rows below it.
        requested: Column names that the user asked for.
    """
    if {normalize_name(cell) for cell in first} & (KNOWN | {normalize_name(name) for name in requested}):
        return True
    distinct = {normalize_name(cell) for cell in first}
    if len(first) < 2 or len(distinct) < len(first) or not all(map(_looks_like_name, first)):
        return False
    columns = [[row[place] for row in body if place < len(row)] for place in range(len(first))]
    if any(name in column for name, column in zip(first, columns, strict=True)):
        return False
    return any(_differs_in_kind(name, column) for name, column in zip(first, columns, strict=True))


def _looks_like_name(cell: str) -> bool:
    return _NAME.fullmatch(cell.strip()) is not None and len(cell.split()) <= _MAX_WORDS


def _differs_in_kind(name: str, column: Sequence[str]) -> bool:
    if not column:
        return False
    if all(map(_is_number, column)):
        return True
    if len(column) < _MIN_ROWS:
        return False
    return all(len(cell) >= 2 * len(name) for cell in column) or len(set(column)) <= len(column) / 3


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
