"""The columns of a table as they were understood, and the choice of some by name or number."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from kerasbert.data.bad_rows import BadRows, peek
from kerasbert.data.delimiters import shown
from kerasbert.data.headers import SAMPLE, is_header, plain
from kerasbert.data.records import read_records
from kerasbert.errors import KerasBertError
from kerasbert.suggestions import nearest

_LISTED = 12  # columns in a message
_CELL = 20  # characters of one


@dataclass(frozen=True)
class Columns:
    """What a file's first row says of its columns.

    Attributes:
      path: the file.
      names: the columns' names; numbers from "0" on where the file has no header.
      header: the line of the header; None without one.
      first: the first row's cells, or an object's keys.
      delimiter: what separates them; None in a file of objects.
    """

    path: Path
    names: tuple[str, ...]
    header: int | None
    first: tuple[str, ...]
    delimiter: str | None

    def by_default(self, names: Sequence[str]) -> int | None:
        """The place of the first of `names` that there is; case does not matter."""
        known = [plain(name) for name in self.names]
        return next((known.index(name) for name in names if name in known), None)

    def asked(self, column: str, role: str) -> int:
        """The place of a column by name, or by number from "0" on. role: what it is asked for as, such as "label".

        Raises KerasBertError, with the columns there are, where it is not among them.
        """
        if column in self.names:
            return self.names.index(column)
        if column.isdecimal() and len(column) < 10 and int(column) < len(self.names):
            return int(column)
        raise self.error(f"a column {column!r}", role, self._near(column))

    def error(self, expected: str, role: str, advice: str = "") -> KerasBertError:
        """The error "path: expected ..., received <the columns>; ...", to be raised."""
        advice = advice or f"name {'one' if self.header or self.delimiter is None else 'its number'} with `{role}=`"
        return KerasBertError(f"{self.path}: expected {expected}, received {self}; {advice}")

    def _near(self, column: str) -> str:
        meant = nearest(column, self.names)
        return f"did you mean {meant!r}?" if meant else ""

    def __str__(self) -> str:
        if self.delimiter is None:
            return f"the keys {_listed(self.names)}"
        split = f"split at {shown(self.delimiter)}"
        if self.header is not None:
            return f"the columns {_listed(self.names)} (header on line {self.header}, {split})"
        cells = _listed([repr(cell[:_CELL]) for cell in self.first])
        count = f"{len(self.names)} column{'s' if len(self.names) > 1 else ''}"
        return f"{count} without a header, numbered from 0 ({split}; first row {cells})"


def open_table(path: Path, asked: Sequence[str | None], delimiter: str | None, bad: BadRows):
    """The columns of a file, and an iterator over (line, row) of its rows without the header.

    asked: columns that were asked for. Raises KerasBertError for an empty file, and what `read_records` raises.
    """
    records = read_records(path, delimiter, bad)
    number, first = next(records.rows, (0, None))
    if first is None:
        raise KerasBertError(f"{path}: expected rows, received an empty file{_left_out(bad)}")
    if isinstance(first, dict):
        names = tuple(first)
        return Columns(path, names, None, names, None), chain([(number, first)], records.rows)
    # A column asked for by number says nothing about a header: "1" may well be a label in the first row.
    wanted = {column for column in asked if column is not None and not column.isdecimal()}
    rows = records.rows
    header = is_header(first, (), wanted)
    if not header:
        sample, rows = peek(rows, SAMPLE)
        header = is_header(first, [cells for _, cells in sample], wanted)
    first = tuple(first)
    if header:
        return Columns(path, first, number, first, records.delimiter), rows
    numbers = tuple(map(str, range(len(first))))
    return Columns(path, numbers, None, first, records.delimiter), chain([(number, list(first))], rows)


def no_rows(columns: Columns, bad: BadRows) -> KerasBertError:
    """The error for a file without a row that can be read."""
    received = "none" if columns.header is None else "a header and no rows"
    return KerasBertError(f"{columns.path}: expected rows, received {received}{_left_out(bad)}")


def _left_out(bad: BadRows) -> str:
    return f"; {bad.describe()}" if bad.count else ""


def _listed(names: Sequence[str]) -> str:
    more = f", ... ({len(names)} in all)" if len(names) > _LISTED else ""
    return ", ".join(str(name) for name in names[:_LISTED]) + more
