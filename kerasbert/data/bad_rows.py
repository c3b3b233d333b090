"""Rows of a file that cannot be read: an error, or on request skipped and counted."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from kerasbert.arguments import argument
from kerasbert.errors import KerasBertError

_MAX_MESSAGES = 3

RowT = TypeVar("RowT")


@dataclass
class BadRows:
    """The rows of one file that could not be read.

    Attributes:
        path: The file.
        skip: Count bad rows instead of raising on the first one.
        count: Number of skipped rows.
        first: Messages about the first three of them, each with its line.
    """

    path: Path
    skip: bool = False
    count: int = 0
    first: list[str] = field(default_factory=list)

    def refuse(self, line: int, reason: str, advice: str = "") -> None:
        """Count a bad row, or raise.

        Args:
            line: The row's line in the file.
            reason: The fault, as "expected ..., received ...".
            advice: How to repair the row.

        Raises:
            KerasBertError: When rows are not skipped. The message names file and line.
        """
        if not self.skip:
            skip = f"leave bad rows out with {argument('skip_bad_rows')}"
            actions = f"{advice}, or {skip}" if advice else skip
            message = f"{self.path}, line {line}: {reason}; {actions}"
            raise KerasBertError(message)
        self._add(f"line {line}: {reason}")

    def refuse_with(self, error: KerasBertError) -> None:
        """Count a bad row, or raise an error that already names file and line.

        Args:
            error: The error about the row.

        Raises:
            KerasBertError: The given error, when rows are not skipped.
        """
        if not self.skip:
            raise error
        self._add(str(error).removeprefix(f"{self.path}, ").removeprefix(f"{self.path}: "))

    def _add(self, message: str) -> None:
        self.count += 1
        if len(self.first) < _MAX_MESSAGES:
            self.first.append(message)

    def describe(self) -> str:
        """Return one line about all skipped rows, or "" if there are none."""
        if not self.count:
            return ""
        more = f"; and {self.count - _MAX_MESSAGES:,} more" if self.count > _MAX_MESSAGES else ""
        rows = "1 bad row" if self.count == 1 else f"{self.count:,} bad rows"
        return f"{self.path.name}: {rows} left out: {'; '.join(self.first)}{more}"


def peek(rows: Iterator[RowT], count: int) -> tuple[list[RowT], Iterator[RowT]]:
    """Read the first rows without consuming them.

    Args:
        rows: An iterator; do not use it afterwards.
        count: Number of rows to read.

    Returns:
        The first `count` rows, and an iterator over all rows. An error raised while peeking is raised again when the iterator
        reaches that row.
    """
    head: list[RowT] = []
    errors: list[KerasBertError] = []
    try:
        for row in rows:
            head.append(row)
            if len(head) == count:
                break
    except KerasBertError as error:
        errors.append(error)

    def replay() -> Iterator[RowT]:
        yield from head
        if errors:
            raise errors[0]
        yield from rows

    return head, replay()
