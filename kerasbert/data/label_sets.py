"""The labels of multi-label rows in every form that files and Python have: names, label numbers, or 0 and 1 for each label."""

import ast
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kerasbert.arguments import argument
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json

SEPARATORS = ("|", ";", ",")  # in the order of preference
_ANY_SEPARATOR = re.compile("[|;,]")
_INTEGER = re.compile(r"[+-]?[0-9]{1,9}")
# How NumPy prints an array of 0 and 1: `[0 1 1]` or `[0. 1. 1.]`.
_NUMPY_LIST = re.compile(
    r"\[\s*(?:[0-9]{1,9}\.?(?=[\s\]])\s*)*\]"
)  # the look-ahead keeps one way to match: time is linear
_MAX_LIST = 1_000_000  # characters of a cell that is parsed as a Python literal


@dataclass(frozen=True)
class LabelRows:
    """The labels of some rows.

    Attributes:
        rows: Names or numbers of each row; a text that is not a list is a string.
        numeric: True if rows hold numbers: label numbers, or 0 and 1 for each label.
    """

    rows: list[list[Any] | str]
    numeric: bool

    @classmethod
    def read(cls, y: Iterable[Any]) -> "LabelRows":
        """Parse rows, and check that all hold names or all hold numbers.

        Args:
            y: For each row a list of names, of label numbers, or of 0 and 1; or such a list as text (JSON, Python or NumPy), or names in a
                text.

        Raises:
            KerasBertError: When a row has another form.
        """
        rows = [_parse_row(value, row) for row, value in enumerate(y)]
        names = {row: cells for row, cells in enumerate(rows) if len(cells) and isinstance(cells[0], str)}
        first_number = next((row for row, cells in enumerate(rows) if len(cells) and row not in names), None)
        numbers = {row: _as_numbers(cells) for row, cells in names.items()}
        if all(cells is not None for cells in numbers.values()) and (
            first_number is not None or any(map(_is_hot, numbers.values()))
        ):
            # A cell such as `0,1,1` is no set of names, and `3` is a number beside `[1, 2]`.
            return cls([numbers.get(row) or cells or [] for row, cells in enumerate(rows)], True)
        if names and first_number is not None:
            first_name = next(iter(names))
            raise KerasBertError(
                f"row {max(first_name, first_number)}: expected labels of one kind, received {_short(names[first_name])} in row "
                f"{first_name} and {_short(rows[first_number])} in row {first_number}; write all as names, or all as numbers"
            )
        return cls(rows, first_number is not None)

    def width(self) -> int | None:
        """Return the number of labels if every row holds 0 and 1 for each label, as far as the rows tell; None for sets of labels.

        Raises:
            KerasBertError: When some rows cannot be sets of numbers, and rows differ in length.
        """
        lengths = {len(cells) for cells in self.rows}
        if not self.numeric:
            return None
        if len(lengths) == 1 and min(lengths) > 1 and all(map(_are_fractions, self.rows)):
            return lengths.pop()
        self._check_sets(Counter(map(len, self.rows)).most_common(1)[0][0])
        return None

    def hot(self, classes: int) -> np.ndarray | None:
        """Return a number from 0 to 1 for each label, float32 of shape (rows, classes), if that is what rows hold; None for sets.

        Args:
            classes: The number of labels.

        Raises:
            KerasBertError: When a row is neither a set of numbers, nor a list of `classes` numbers from 0 to 1.
        """
        if not self.numeric:
            return None
        if all(len(cells) == classes and _are_fractions(cells) for cells in self.rows):
            return np.array(self.rows, np.float32).reshape(len(self.rows), classes)
        self._check_sets(classes)
        return None

    def _check_sets(self, width: int) -> None:
        """Check that each row is a set of whole numbers.

        Raises:
            KerasBertError: For the first row that has another length than `width` or other numbers than 0 and 1, as some row is no set.
        """
        if all(map(_is_set, self.rows)):
            return
        wrong = (row for row, cells in enumerate(self.rows) if len(cells) != width or not _are_fractions(cells))
        row = next(wrong, next(row for row, cells in enumerate(self.rows) if not _is_set(cells)))
        raise KerasBertError(
            f"row {row}: expected 0 or 1 for each of {width} labels, or a set of label numbers, received {_short(self.rows[row])}; "
            "correct the row, or check the number of labels"
        )


def split_labels(cell: str, row: int = 0, separator: str | None = None) -> list[str]:
    """Split a multi-label cell: a list such as `["a", "b"]`, or labels separated by `|`, or else by `;`, or else by `,`.

    Args:
        cell: The cell. An empty cell has no labels.
        row: Its row, for the error.
        separator: The separator in place of these.

    Raises:
        KerasBertError: When a cell starts with `[` and is not a list of strings or numbers.
    """
    parsed = _parse_row(cell, row)
    if not isinstance(parsed, str):
        return [str(label) for label in parsed]
    separator = separator or next((mark for mark in SEPARATORS if mark in cell), SEPARATORS[-1])
    return [part for part in (part.strip() for part in cell.split(separator)) if part]


def is_label_list(cell: str) -> bool:
    """Return True if a cell is a list of labels, in JSON, as a Python literal, or as NumPy prints it.

    Args:
        cell: The cell.
    """
    try:
        return cell.lstrip().startswith("[") and not isinstance(_parse_row(cell, 0), str)
    except KerasBertError:
        return False


def detect_separator(cells: Iterable[str]) -> str:
    """Return the separator of a column of labels in texts: the first of `SEPARATORS` that occurs in it.

    Args:
        cells: The cells that are no lists.

    Raises:
        KerasBertError: When a label would keep another separator although its parts are labels of other rows.
    """
    cells = list(cells)
    separator = next((mark for mark in SEPARATORS if any(mark in cell for cell in cells)), SEPARATORS[-1])
    labels = {label for cell in cells for label in split_labels(cell, separator=separator)}
    for other in SEPARATORS:
        for label in sorted(labels):
            parts = {part.strip() for part in label.split(other)}
            if len(parts) > 1 and parts <= labels:
                raise KerasBertError(
                    f"expected one separator between labels, received {separator!r} and, in {label!r}, {other!r}; use one, or name it with "
                    f"{argument('label_separator')}"
                )
    return separator


def known_labels_of(cell: list[Any] | str, row: int, known: Collection[str]) -> list[Any]:
    """Return the labels of one row, given the names of all labels.

    Args:
        cell: A list of labels, or labels in a text. Its separator is the one that gives known names; a name may contain a separator.
        row: The row, for errors.
        known: The names.
    """
    if not isinstance(cell, str):
        return cell
    if cell in known:
        return [cell]
    for separator in SEPARATORS:
        parts = split_labels(cell, row, separator)
        if parts and all(part in known for part in parts):
            return parts
    return split_labels(cell, row)


def _parse_row(value: Any, row: int) -> list[Any] | str:
    """Return a list of strings or of numbers, or a text that is no list."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return _check_items(_parse_list(value, row), row) if value.lstrip().startswith("[") else value
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, list | tuple | set | frozenset):
        raise KerasBertError(
            f"row {row}: expected a list of labels for each text, received {_short(value)}; put a single label into a list"
        )
    return _check_items(list(value), row)


def _parse_list(cell: str, row: int) -> list[Any]:
    """Return the items of a list in JSON, as a Python literal, or as NumPy prints it."""
    try:
        value = parse_json(cell, f"row {row}", expected="a JSON list of labels")
    except KerasBertError:
        if _NUMPY_LIST.fullmatch(cell.strip()):
            return [int(number.rstrip(".")) for number in cell.strip()[1:-1].split()]
        try:
            value = ast.literal_eval(cell.strip()) if len(cell) <= _MAX_LIST else None
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            value = None
        if not isinstance(value, list):
            raise
    return value


def _check_items(items: list[Any], row: int) -> list[Any]:
    """Check that items are names or numbers; names beside numbers make all of them names. A list of True and False is one of 1 and 0."""
    items = [item.item() if isinstance(item, np.generic) else item for item in items]
    if len(items) > 1 and all(isinstance(item, bool) for item in items):
        return [int(item) for item in items]
    for item in items:
        if isinstance(item, bool) or not isinstance(item, str | int | float):
            raise KerasBertError(f"row {row}: expected a JSON list of labels, received {_short(item)} among them")
    return [str(item) for item in items] if any(isinstance(item, str) for item in items) else items


def _as_numbers(cells: list[Any] | str) -> list[int] | None:
    """Return the numbers of texts that are all numbers, such as `0,1,1` or `["0", "1"]`; else None."""
    parts = [part.strip() for part in _ANY_SEPARATOR.split(cells)] if isinstance(cells, str) else cells
    return [int(part) for part in parts] if all(_INTEGER.fullmatch(part) for part in parts) else None


def _is_hot(cells: Sequence[float] | None) -> bool:
    """Tell whether numbers are 0 and 1 for each label: they repeat, and a set does not."""
    return cells is not None and set(cells) <= {0, 1} and len(cells) > len(set(cells))


def _are_fractions(cells: Sequence[Any]) -> bool:
    return all(0 <= value <= 1 for value in cells)


def _is_set(cells: Sequence[Any]) -> bool:
    whole = all(isinstance(value, int) or (math.isfinite(value) and value == int(value)) for value in cells)
    return whole and len(set(cells)) == len(cells)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
