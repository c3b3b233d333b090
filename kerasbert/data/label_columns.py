"""A column of 0 and 1 for each label, as in Jigsaw's comments: id, comment_text, toxic, severe_toxic, ..."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kerasbert.console.output import note
from kerasbert.data.columns import Columns

_VALUES = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}


@dataclass(frozen=True)
class LabelColumns:
    """The columns of the labels.

    Attributes:
        indices: The columns.
        names: Their names, which are the labels.
    """

    indices: tuple[int, ...]
    names: tuple[str, ...]

    @classmethod
    def find(cls, columns: Columns, names: Sequence[str]) -> "LabelColumns":
        """Return the columns of given names or numbers.

        Args:
            columns: The columns of the file.
            names: The names.

        Raises:
            KerasBertError: When there is no such column, or one is given twice.
        """
        indices = tuple(columns.find(name, "label") for name in names)
        if repeated := [index for place, index in enumerate(indices) if index in indices[:place]]:
            raise columns.error(
                "each column of a label once", "label", f"{columns.names[repeated[0]]!r} is given twice"
            )
        return cls(indices, tuple(columns.names[index] for index in indices))

    @classmethod
    def detect(
        cls, columns: Columns, rows: Sequence[Sequence[Any]], others: Sequence[int | None]
    ) -> "LabelColumns | None":
        """Return all columns that hold only 0 and 1 if there are two or more, with a note; else None.

        Args:
            columns: The columns of the file.
            rows: The cells of the first rows.
            others: Columns that are read as something else.
        """
        if not rows:
            return None
        width = min(map(len, rows))
        indices = tuple(
            index
            for index in range(min(width, len(columns.names)))
            if index not in others and all(parse_flag(row[index]) is not None for row in rows)
        )
        if len(indices) < 2:
            return None
        names = tuple(columns.names[index] for index in indices)
        note(
            f"note: {columns.path}: the labels are the columns of 0 and 1: {', '.join(names)}; name others with --label-column"
        )
        return cls(indices, names)

    def label(self, values: Sequence[Any]) -> tuple[str, str]:
        """Return the labels of a row as a JSON list, and the reason to refuse the row or "".

        Args:
            values: The cells of the columns.
        """
        labels = []
        for name, value in zip(self.names, values, strict=True):
            flag = parse_flag(value)
            if flag is None:
                return "", f"expected 0 or 1 in the label column {name!r}, received {str(value)[:40]!r}"
            if flag:
                labels.append(name)
        return json.dumps(labels, ensure_ascii=False), ""


def parse_flag(value: Any) -> bool | None:
    """Return whether a cell says 1 (or true), or None for anything but 0 and 1."""
    return _VALUES.get(str(value).strip().casefold())


def named_columns(label: str | Sequence[str] | None, names: Sequence[str]) -> tuple[str, ...]:
    """Return the label columns that a user named.

    Args:
        label: A name, several, or a text with several names separated by commas; None for none.
        names: The columns of the file. A name may itself contain a comma.
    """
    if label is None:
        return ()
    if isinstance(label, str):
        return (label,) if label in names or "," not in label else tuple(name.strip() for name in label.split(","))
    return tuple(map(str, label))
