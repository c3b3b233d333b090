"""Whether the first row of a table names its columns."""

import re
from collections.abc import Sequence

# Column names understood without being asked for, in the order of preference; case does not matter.
PAIRS = {
    "sentence1": "sentence2",
    "question1": "question2",
    "#1 string": "#2 string",
    "premise": "hypothesis",
    "question": "sentence",
}
TEXTS = ("text", "sentence", "sentence1", "question", "utterance", "review", "question1", "#1 string", "premise")
LABELS = ("label", "labels", "class", "intent", "score", "gold_label", "quality")
KNOWN = {*TEXTS, *PAIRS.values(), *LABELS}
SAMPLE = 200  # rows below the first one that are compared with it

_NAME = re.compile(r"[^\W\d][\w .#/()\-]{0,39}")
_MOST_WORDS = 4
_FEW = 5  # rows: of fewer, lengths and repetitions say nothing


def plain(name: str) -> str:
    """A column's name without case and surrounding white space."""
    return name.strip().casefold()


def is_header(first: Sequence[str], body: Sequence[Sequence[str]], asked: set[str]) -> bool:
    """Whether `first` names the columns of the rows in `body`.

    A name that was asked for, or that is known, decides. Else all cells must look like names, none may return in its column below, and
    one column below must be of another kind: numbers, much longer texts, or few values that return.
    """
    if {plain(cell) for cell in first} & (KNOWN | {plain(name) for name in asked}):
        return True
    if len(first) < 2 or len({plain(cell) for cell in first}) < len(first) or not all(map(_like_a_name, first)):
        return False
    columns = [[row[place] for row in body if place < len(row)] for place in range(len(first))]
    if any(name in column for name, column in zip(first, columns, strict=True)):
        return False
    return any(_of_another_kind(name, column) for name, column in zip(first, columns, strict=True))


def _like_a_name(cell: str) -> bool:
    return _NAME.fullmatch(cell.strip()) is not None and len(cell.split()) <= _MOST_WORDS


def _of_another_kind(name: str, column: Sequence[str]) -> bool:
    if not column:
        return False
    if all(map(_is_number, column)):
        return True
    if len(column) < _FEW:
        return False
    return all(len(cell) >= 2 * len(name) for cell in column) or len(set(column)) <= len(column) / 3


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
