"""The rows of a file that are read as they are needed: all at once, or in parts where they do not fit in memory."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError


class RowStream:
    """The rows of an open file.

    Args:
        rows: The rows, which are read as they are iterated over.
        build: Makes a dataset of some rows, given the number of rows before them.
        none: Makes the error for a file without rows.
    """

    def __init__(
        self,
        rows: Iterator[Any],
        build: Callable[[list, int], Dataset],
        none: Callable[[], KerasBertError],
    ) -> None:
        self._rows, self._build, self._none = rows, build, none

    def of_texts(self) -> "RowStream":
        """Return the same rows with their texts alone."""
        build = self._build

        def build_texts(rows: list, done: int) -> Dataset:
            table = build(rows, done)
            return replace(table, x=table.texts, y=None)

        return RowStream(self._rows, build_texts, self._none)

    def whole(self) -> Dataset:
        """Return all rows.

        Raises:
            KerasBertError: When there is no row, or one cannot be read.
        """
        return next(self.parts(None))

    def parts(self, rows: int | None) -> Iterator[Dataset]:
        """Yield the rows in parts.

        Args:
            rows: Rows in a part; None for all in one.

        Raises:
            KerasBertError: When there is no row, or one cannot be read.
        """
        done = 0
        while part := list(islice(self._rows, rows)):
            yield self._build(part, done)
            done += len(part)
        if not done:
            raise self._none()
