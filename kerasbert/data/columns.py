"""The columns of a table, and their lookup by name or number."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from kerasbert.arguments import argument
from kerasbert.data.bad_rows import BadRows, peek
from kerasbert.data.delimiters import format_delimiter
from kerasbert.data.headers import SAMPLE, is_header, normalize_name
from kerasbert.data.records import CellRecords, ObjectRecords, read_records
from kerasbert.errors import KerasBertError
from kerasbert.suggestions import nearest

_MAX_COLUMNS = 12  # in a message
_MAX_CELL = 20  # characters of a cell in a message


@dataclass(frozen=True)
class Columns:
    """The columns of a file, taken from its first row.

    Attributes:
        path: The file.
        names: The columns' names; numbers from "0" on for a file without a header.
        header: The line of the header, or None.
        first: The first row's cells, or an object's keys.
        delimiter: The character between cells; None for a file of objects.
    """

    path: Path
    names: tuple[str, ...]
    header: int | None
    first: tuple[str, ...]
    delimiter: str | None

    def find_default(self, names: Sequence[str]) -> int | None:
        """Return the index of the first of `names` that is a column, ignoring case, or None.

        Raises:
            KerasBertError: When several columns have the name.
        """
        known = [normalize_name(name) for name in self.names]
        found = next((name for name in names if name in known), None)
        if found is not None and known.count(found) > 1:
            raise self._repeated(found)
        return None if found is None else known.index(found)

    def find(self, column: str, role: str) -> int:
        """Return the index of a requested column.

        Args:
            column: The column's name, or its number from "0" on.
            role: The option that names the column, such as "label".

        Raises:
            KerasBertError: When there is no such column, or several. The message lists the columns.
        """
        if column in self.names:
            if self.names.count(column) > 1:
                raise self._repeated(column)
            return self.names.index(column)
        if column.isdecimal() and len(column) < 10 and int(column) < len(self.names):
            return int(column)
        raise self.error(f"a column {column!r}", role, self._suggestion(column))

    def error(self, expected: str, role: str, advice: str = "") -> KerasBertError:
        """Build the error "path: expected ..., received (the columns); ...".

        Args:
            expected: The missing column or columns.
            role: The option that names a column, such as "label".
            advice: The advice. Default: to name the column with that option.
        """
        advice = (
            advice or f"name {'one' if self.header or self.delimiter is None else 'its number'} with {argument(role)}"
        )
        return KerasBertError(f"{self.path}: expected {expected}, received {self}; {advice}")

    def _repeated(self, column: str) -> KerasBertError:
        return KerasBertError(
            f"{self.path}: expected one column {column!r}, received several in {self}; rename one, or name the column by its number from 0"
        )

    def _suggestion(self, column: str) -> str:
        similar = nearest(column, self.names)
        return f"did you mean {similar!r}?" if similar else ""

    def __str__(self) -> str:
        if self.delimiter is None:
            return f"the keys {_format_names(self.names)}"
        split = f"split at {format_delimiter(self.delimiter)}"
        if self.header is not None:
            return f"the columns {_format_names(self.names)} (header on line {self.header}, {split})"
        cells = _format_names([repr(cell[:_MAX_CELL]) for cell in self.first])
        count = f"{len(self.names)} column{'s' if len(self.names) > 1 else ''}"
        return f"{count} without a header, numbered from 0 ({split}; first row {cells})"


def open_table(
    path: Path,
    requested: Sequence[str | None],
    delimiter: str | None,
    bad: BadRows,
    encoding: str | None = None,
    peeked: int = SAMPLE,
) -> tuple[Columns, CellRecords | ObjectRecords]:
    """Read the columns of a file.

    Args:
        path: The file.
        requested: The columns that the user asked for.
        delimiter: The character between cells, or None to detect it.
        bad: Handles rows that are not valid CSV or JSON.
        encoding: The encoding, or None to detect it.
        peeked: Number of objects whose keys are the columns.

    Returns:
        The columns, and the rows without the header.

    Raises:
        KerasBertError: When the file is empty, or `read_records` cannot read it.
    """
    records = read_records(path, delimiter, bad, encoding)
    if isinstance(records, ObjectRecords):
        objects, rows = peek(records.rows, peeked)
        if not objects:
            next(rows, None)  # raises the error of the first row
            raise _empty_file_error(path, bad)
        keys = tuple(dict.fromkeys(key for _, record in objects for key in record))
        return Columns(path, keys, None, keys, None), ObjectRecords(rows)
    first_row, rows = next(records.rows, None), records.rows
    if first_row is None:
        raise _empty_file_error(path, bad)
    line, cells = first_row
    # A requested number is no evidence for a header: "1" may well be a label in the first row.
    names = {column for column in requested if column is not None and not column.isdecimal()}
    header = is_header(cells, (), names)
    if not header:
        sample, rows = peek(rows, SAMPLE)
        header = is_header(cells, [row for _, row in sample], names)
    first = tuple(cells)
    if header:
        return Columns(path, first, line, first, records.delimiter), CellRecords(rows, records.delimiter)
    numbers = tuple(map(str, range(len(first))))
    return Columns(path, numbers, None, first, records.delimiter), CellRecords(
        chain([first_row], rows), records.delimiter
    )


def no_rows_error(columns: Columns, bad: BadRows) -> KerasBertError:
    """Build the error for a file without a readable row."""
    received = "none" if columns.header is None else "a header and no rows"
    return KerasBertError(f"{columns.path}: expected rows, received {received}{_skipped(bad)}")


def _empty_file_error(path: Path, bad: BadRows) -> KerasBertError:
    return KerasBertError(f"{path}: expected rows, received an empty file{_skipped(bad)}")


def _skipped(bad: BadRows) -> str:
    return f"; {bad.describe()}" if bad.count else ""


def _format_names(names: Sequence[str]) -> str:
    more = f", ... ({len(names)} in all)" if len(names) > _MAX_COLUMNS else ""
    return ", ".join(str(name) for name in names[:_MAX_COLUMNS]) + more
