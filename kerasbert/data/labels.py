"""Label encoding: from the labels of a file to the numbers on which a model is trained."""

import difflib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from kerasbert.data.class_numbers import NUMBER, classes_of_numbers
from kerasbert.data.label_sets import LabelRows, detect_separator, is_label_list, known_labels_of, split_labels
from kerasbert.errors import KerasBertError

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")  # longer ones are names, for example of accounts or products
_MAX_NAMES = 20  # in a message
_LARGEST_SCORE = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class LabelSet:
    """The labels of a classification, in the order of their indices.

    Attributes:
        names: The distinct labels.

    Example:
        ```python
        from kerasbert.data import LabelSet
        names = LabelSet.from_values(["positive", "negative", "positive"])
        names.names, names.index(["positive"])  # ("negative", "positive"), array([1])
        ```
    """

    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def from_values(cls, values: Iterable[str]) -> "LabelSet":
        """Collect the distinct labels of single-label rows, in numeric order if all are integers, else sorted.

        Args:
            values: The label of each row.

        Returns:
            The labels.

        Raises:
            KerasBertError: When there are no rows, a row has no label, or all rows have the same one.
        """
        labels = [str(value) for value in values]
        for row, label in enumerate(labels):
            cls.check_label(label, row)
        names = _ordered(labels)
        if len(names) < 2:
            received = f"only {names[0]!r} in all {len(labels)} rows" if names else "no rows"
            raise KerasBertError(f"expected at least two different labels, received {received}")
        return cls(names)

    @staticmethod
    def check_label(value: str, row: int) -> None:
        """Check that a label is not blank, and no list of labels.

        Args:
            value: The label.
            row: Its row, for the error.

        Raises:
            KerasBertError: When the label is empty, white space or a list.
        """
        if not value.strip():
            raise KerasBertError(f"row {row}: expected a label, received {value!r}")
        if is_label_list(value):
            raise KerasBertError(
                f"row {row}: expected one label, received the list {value[:40]}; choose the multi-label task, or correct the row"
            )

    @classmethod
    def from_cells(cls, cells: Iterable[Any]) -> "LabelSet":
        """Collect the distinct labels of multi-label rows.

        Rows of 0 and 1 for each label have no names; the labels are then named by their numbers.

        Args:
            cells: The labels of each row: a list of names or numbers, or a text that `split_labels` accepts. All texts have one separator.

        Returns:
            The labels.

        Raises:
            KerasBertError: When no row has a label, rows have different kinds of labels, or two separators occur.
        """
        labels = LabelRows.read(cells)
        if (width := labels.width()) is not None:
            return cls(tuple(map(str, range(width))))
        separator = detect_separator(cell for cell in labels.rows if isinstance(cell, str))
        names = _ordered(
            str(label)
            for row, cell in enumerate(labels.rows)
            for label in (split_labels(cell, row, separator) if isinstance(cell, str) else cell)
        )
        if not names:
            raise KerasBertError(f"expected labels, received none in {len(labels.rows)} rows")
        return cls(names)

    def index(self, values: Iterable[str]) -> np.ndarray:
        """Return the index of each row's label, int32 of shape (rows,).

        A row may hold a class index in place of a name, if that cannot be mistaken for a number in a name.

        Args:
            values: The label of each row.

        Raises:
            KerasBertError: When a label is not in the set. The message names the first one, its row and the known labels.
        """
        texts = [str(value) for value in values]
        return np.array(self._classes(texts, range(len(texts))), np.int32).reshape(-1)

    def multi_hot(self, cells: Iterable[Any]) -> np.ndarray:
        """Return 1 for each label of a row and 0 for all others, float32 of shape (rows, labels).

        Numbers are 0 and 1 for each label if every row has as many of them as there are labels. Otherwise they are label numbers.

        Args:
            cells: The labels of each row: a list of names or numbers, or a text that `split_labels` accepts. A row may have no label.

        Raises:
            KerasBertError: When a label is not in the set, or a row has another form.
        """
        labels = LabelRows.read(cells)
        if (hot := labels.hot(len(self.names))) is not None:
            return hot
        indices = self._indices()
        pairs = [
            (row, str(label if isinstance(label, str) else int(label)))
            for row, cell in enumerate(labels.rows)
            for label in known_labels_of(cell, row, indices)
        ]
        rows = [row for row, _ in pairs]
        encoded = np.zeros((len(labels.rows), len(self.names)), np.float32)
        encoded[rows, self._classes([label for _, label in pairs], rows)] = 1
        return encoded

    @staticmethod
    def to_scores(values: Iterable[str]) -> np.ndarray:
        """Return regression targets, float32 of shape (rows,).

        Args:
            values: The score of each row.

        Raises:
            KerasBertError: When a value is not a finite number. The message names the value and its row.
        """
        return np.fromiter((_parse_score(value, row) for row, value in enumerate(values)), np.float32)

    def _indices(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.names)}

    def _classes(self, values: Sequence[str], rows: Sequence[int]) -> list[int]:
        indices = self._indices()
        unknown = [place for place, value in enumerate(values) if value not in indices]
        for place in unknown:
            if not NUMBER.fullmatch(values[place]):
                self._refuse(values[place], rows[place])
        numbers = [float(values[place]) for place in unknown]
        numbered = classes_of_numbers(self.names, numbers, [rows[place] for place in unknown], written=True)
        classes = dict(zip(unknown, numbered, strict=True))
        return [classes[place] if place in classes else indices[value] for place, value in enumerate(values)]

    def _refuse(self, value: str, row: int) -> NoReturn:
        known = ", ".join(self.names[:_MAX_NAMES]) + (", ..." if len(self.names) > _MAX_NAMES else "")
        raise KerasBertError(
            f"row {row}: expected one of the labels {known}, received {value!r}{self._suggestion(value)}"
        )

    def _suggestion(self, value: str) -> str:
        similar = difflib.get_close_matches(value, self.names, 1)
        return f"; did you mean {similar[0]!r}?" if similar else ""


def _ordered(values: Iterable[str]) -> tuple[str, ...]:
    names: Sequence[str] = sorted(set(values))
    if all(_INTEGER.fullmatch(name) for name in names):
        names = sorted(names, key=int)
    return tuple(names)


def _parse_score(value: str, row: int) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not abs(number) <= _LARGEST_SCORE:
        raise KerasBertError(f"row {row}: expected a finite number as the score, received {value!r}")
    return number
