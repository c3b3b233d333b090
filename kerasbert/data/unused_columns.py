"""Columns of a table that are not read although they look as if they should be."""

from collections.abc import Collection, Sequence
from typing import Any

from kerasbert.console.strictness import unknown
from kerasbert.data.columns import Columns
from kerasbert.data.headers import LABELS, normalize_name

_MIN_WORDS = 4  # words in the mean cell of a column of texts
_MIN_DISTINCT = 0.5  # of its cells
_MIN_ROWS = 5
_MAX_NAMES = 3  # in a note


def report_unused_columns(
    columns: Columns, rows: Sequence[Sequence[Any]], used: Collection[int], *, texts: bool, labels: bool
) -> None:
    """Report columns of texts, and columns with the name of a label, that are not read.

    Args:
        columns: The columns of the file.
        rows: The cells of the first rows.
        used: The columns that are read.
        texts: Report columns of texts. The user did not name the text column.
        labels: Report columns of labels. The user did not name the label column.

    Raises:
        KerasBertError: Under `strict`.
    """
    unused = [index for index in range(len(columns.names)) if index not in used]
    for kind, found in (
        (
            "texts",
            [index for index in unused if texts and _holds_texts([row[index] for row in rows if index < len(row)])],
        ),
        ("labels", [index for index in unused if labels and normalize_name(columns.names[index]) in LABELS]),
    ):
        if found:
            names = ", ".join(repr(columns.names[index]) for index in found[:_MAX_NAMES])
            more = f" and {len(found) - _MAX_NAMES} more" if len(found) > _MAX_NAMES else ""
            option = "--text-column or --pair-column" if kind == "texts" else "--label-column"
            received = f"the column{'s' if len(found) > 1 else ''} of {kind} {names}{more} (read with {option})"
            unknown(columns.path, f"columns of {kind} that are read", received, "left out")


def _holds_texts(cells: Sequence[Any]) -> bool:
    if len(cells) < _MIN_ROWS or not all(isinstance(cell, str) for cell in cells):
        return False
    words = sum(len(cell.split()) for cell in cells)
    return words >= _MIN_WORDS * len(cells) and len(set(cells)) >= _MIN_DISTINCT * len(cells)
