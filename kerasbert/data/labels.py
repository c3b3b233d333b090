"""Labels as they are written in a file, to the numbers a model is trained on."""

import difflib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")  # longer ones are names: of accounts, of products
_LISTED = 20
_LARGEST_SCORE = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class LabelSet:
    """The labels of a classification, in the order of their indices.

    Attributes:
      names: the distinct labels.
    """

    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def from_values(cls, values: Iterable[str]) -> "LabelSet":
        """The distinct labels of some rows, one label a row: by number if all are integers, else sorted.

        Raises:
          KerasBertError: no rows, a row without a label, or only one label in all of them.
        """
        values = [str(value) for value in values]
        for row, value in enumerate(values):
            cls.check_label(value, row)
        names = _ordered(values)
        if len(names) < 2:
            received = f"only {names[0]!r} in all {len(values)} rows" if names else "no rows"
            raise KerasBertError(f"expected at least two different labels, received {received}")
        return cls(names)

    @staticmethod
    def check_label(value: str, row: int) -> None:
        """Raises KerasBertError for what is no label: nothing, or white space."""
        if not value.strip():
            raise KerasBertError(f"row {row}: expected a label, received {value!r}")

    @classmethod
    def from_cells(cls, cells: Iterable[str]) -> "LabelSet":
        """The distinct labels of multi-label rows; how a cell is written, see `split_labels`.

        Raises:
          KerasBertError: no label in any row, or a cell that is not a JSON list although it looks like one.
        """
        cells = [str(cell) for cell in cells]
        names = _ordered(label for row, cell in enumerate(cells) for label in split_labels(cell, row))
        if not names:
            raise KerasBertError(f"expected labels, received none in {len(cells)} rows")
        return cls(names)

    def index(self, values: Iterable[str]) -> np.ndarray:
        """The index of each row's label, int32 of shape (rows,). A class number will do where the labels are names.

        Raises:
          KerasBertError: a label that is not in the set; it names the first one, its row and the labels there are.
        """
        places = self._places()
        return np.fromiter((self._place(places, str(value), row) for row, value in enumerate(values)), np.int32)

    def multi_hot(self, cells: Iterable[str]) -> np.ndarray:
        """1 for every label a row has, float32 of shape (rows, labels); a row may have none.

        Args:
          cells: the labels of each row; how a cell is written, see `split_labels`.

        Raises:
          KerasBertError: as `index`, or a cell that is not a JSON list although it looks like one.
        """
        places = self._places()
        cells = [str(cell) for cell in cells]
        hot = np.zeros((len(cells), len(self.names)), np.float32)
        for row, cell in enumerate(cells):
            # A label that itself has a comma in it is known by its name.
            for label in [cell] if cell in places else split_labels(cell, row):
                hot[row, self._place(places, label, row)] = 1
        return hot

    @staticmethod
    def to_scores(values: Iterable[str]) -> np.ndarray:
        """The numbers of a regression, float32 of shape (rows,).

        Raises:
          KerasBertError: a value that is not a finite number; it names the value and its row.
        """
        return np.fromiter((_score(value, row) for row, value in enumerate(values)), np.float32)

    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def _place(self, places: dict[str, int], value: str, row: int) -> int:
        if value in places:
            return places[value]
        if _INTEGER.fullmatch(value) and 0 <= int(value) < len(places) and not any(map(_INTEGER.fullmatch, places)):
            return int(value)  # files often hold class numbers where the model has names
        known = ", ".join(self.names[:_LISTED]) + (", ..." if len(self.names) > _LISTED else "")
        raise KerasBertError(f"row {row}: expected one of the labels {known}, received {value!r}{self._near(value)}")

    def _near(self, value: str) -> str:
        near = difflib.get_close_matches(value, self.names, 1)
        return f"; did you mean {near[0]!r}?" if near else ""


def split_labels(cell: str, row: int = 0) -> list[str]:
    """The labels of one multi-label cell: a JSON list (`["a", "b"]`), or separated by `|`, or else by `,`.

    Args:
      cell: the cell; an empty one has no labels.
      row: its number, for the error.

    Raises:
      KerasBertError: a cell that starts with `[` and is not a JSON list of strings or numbers.
    """
    if cell.lstrip().startswith("["):
        labels = parse_json(cell, f"row {row}", expected="a JSON list of labels")
        for label in labels:
            if isinstance(label, bool) or not isinstance(label, (str, int, float)):
                raise KerasBertError(f"row {row}: expected a JSON list of labels, received {label!r} among them")
        return [str(label) for label in labels]
    parts = (part.strip() for part in cell.split("|" if "|" in cell else ","))
    return [part for part in parts if part]


def _ordered(values: Iterable[str]) -> tuple[str, ...]:
    names: Sequence[str] = sorted(set(values))
    if all(_INTEGER.fullmatch(name) for name in names):
        names = sorted(names, key=int)
    return tuple(names)


def _score(value, row: int) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not abs(number) <= _LARGEST_SCORE:
        raise KerasBertError(f"row {row}: expected a finite number as the score, received {value!r}")
    return number
