"""The rows of TSV, CSV and JSON Lines files, gzip-compressed or not, with their line numbers."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kerasbert.arguments import argument
from kerasbert.data.bad_rows import BadRows, peek
from kerasbert.data.delimiters import SAMPLE, detect_delimiter
from kerasbert.data.foreign_formats import foreign_suffix
from kerasbert.data.lines import read_lines
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import JSON_NAMES, parse_json

FORMATS = (".tsv", ".csv", ".jsonl")
LONGEST_CELL = 10_000_000  # characters of a CSV cell

CellRow = tuple[int, list[str]]
ObjectRow = tuple[int, dict]


@dataclass(frozen=True)
class CellRecords:
    """The rows of a TSV or CSV file.

    Attributes:
        rows: (line number from 1 on, cells) of each row.
        delimiter: The character between cells.
    """

    rows: Iterator[CellRow]
    delimiter: str


@dataclass(frozen=True)
class ObjectRecords:
    """The objects of a JSON Lines file.

    Attributes:
        rows: (line number from 1 on, object) of each row.
    """

    rows: Iterator[ObjectRow]


def is_tabular(path: Path, delimiter: str | None = None) -> bool:
    """Return True if `read_records` reads such a file: one with a known suffix, or any with a given delimiter."""
    return delimiter is not None or data_suffix(path) in FORMATS


def data_suffix(path: Path) -> str:
    """Return the suffix of a data file in lower case, without `.gz`."""
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def read_records(
    path: Path, delimiter: str | None = None, bad: BadRows | None = None, encoding: str | None = None
) -> CellRecords | ObjectRecords:
    """Read the rows of a table: cells from `.tsv` and `.csv`, objects from `.jsonl`.

    A `.tsv` is split at tabs, without quoting. A `.csv` is quoted, and a cell may contain line breaks; the row's number is then
    that of its first line. The delimiter of a `.csv` (comma, semicolon, tab or bar) is detected. Files have any of the usual line ends.
    Blank lines are skipped.

    Args:
        path: The file.
        delimiter: The character between cells, for any file but a `.jsonl`. Cells are then quoted, except in a `.tsv` with tabs.
        bad: Handles rows that are not valid CSV or JSON. By default the first one raises.
        encoding: As for `read_lines`.

    Returns:
        The rows, which are read as they are iterated over.

    Raises:
        KerasBertError: When the format is unknown, the file cannot be read or has another encoding, or its gzip, CSV or JSON is broken.
    """
    bad = bad or BadRows(path)
    suffix = data_suffix(path)
    if not is_tabular(path, delimiter):
        what, advice = foreign_suffix(path) or (
            "",
            f"rename it, or name what separates its columns with {argument('delimiter')}",
        )
        raise KerasBertError(
            f"expected a .tsv, .csv or .jsonl file, or one of them with .gz, received {path}{what and f', {what}'}; {advice}"
        )
    if suffix == ".jsonl":
        return ObjectRecords(read_objects(path, bad, encoding))
    lines = read_lines(path, encoding)
    if suffix == ".tsv" and delimiter in (None, "\t"):
        return CellRecords(((number, line.split("\t")) for number, line in _strip_lines(lines)), "\t")
    if delimiter is None:
        sample, lines = peek(lines, SAMPLE)
        delimiter = detect_delimiter([line for _, line in sample])
    return CellRecords(_parse_csv(lines, delimiter, bad), delimiter)


def read_objects(path: Path, bad: BadRows | None = None, encoding: str | None = None) -> Iterator[ObjectRow]:
    """Yield (line number, object) of a JSON Lines file. Blank lines are skipped.

    Args:
        path: The file.
        bad: Handles lines that are not JSON objects. By default the first one raises.
        encoding: As for `read_lines`.

    Raises:
        KerasBertError: When the file cannot be read, or a line is not a JSON object.
    """
    for number, line in _strip_lines(read_lines(path, encoding)):
        try:
            record = _parse_object(path, number, line)
        except KerasBertError as error:
            (bad or BadRows(path)).refuse_with(error)
            continue
        yield number, record


def _strip_lines(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    for number, line in lines:
        line = line.removesuffix("\n").removesuffix("\r")
        if line:
            yield number, line


def _parse_csv(lines: Iterator[tuple[int, str]], delimiter: str, bad: BadRows) -> Iterator[CellRow]:
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    reader = csv.reader((line for _, line in lines), strict=True, delimiter=delimiter)
    while True:
        first_line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            bad.refuse(first_line, *_explain_csv_error(str(error)))
            continue
        if cells:
            yield first_line, cells


def _explain_csv_error(error: str) -> tuple[str, str]:
    """Return the reason ("expected ..., received ...") and the advice for an error of the `csv` module."""
    if "field larger" in error:
        return (
            f"expected cells of at most {LONGEST_CELL:,} characters, received a longer one",
            'look for a quote (") that is never closed',
        )
    if "unexpected end of data" in error:
        return 'expected CSV, received a quote (") that is never closed', 'close it, or write "" for a quote in a cell'
    if "new-line character" in error:
        return "expected CSV, received a carriage return within a cell", "put the cell in quotes"
    return f"expected CSV, received {error}", 'write "" for a quote in a quoted cell'


def _parse_object(path: Path, number: int, line: str) -> dict:
    where, expected = f"{path}, line {number}", "JSON lines, one object a line"
    value = parse_json(line, where, expected=expected, unique_names=True)
    if not isinstance(value, dict):
        raise KerasBertError(f"{where}: expected {expected}, received {JSON_NAMES[type(value)]}")
    return value
