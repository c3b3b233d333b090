"""The rows of TSV, CSV and JSON lines files, gzip-compressed or not, with the line each stands on."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kerasbert.data.bad_rows import BadRows, peek
from kerasbert.data.delimiters import SAMPLE, sniffed
from kerasbert.data.lines import read_lines
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import JSON_NAMES, parse_json

FORMATS = (".tsv", ".csv", ".jsonl")
LONGEST_CELL = 10_000_000  # characters of a CSV cell

Row = tuple[int, list[str] | dict]


@dataclass(frozen=True)
class Records:
    """rows: (line number from 1 on, row), a list of cells or an object. delimiter: between cells; None of objects."""

    rows: Iterator[Row]
    delimiter: str | None


def is_tabular(path: Path, delimiter: str | None = None) -> bool:
    """Whether `read_records` reads a file of that name: a known ending, or any where the delimiter is given."""
    return delimiter is not None or data_suffix(path) in FORMATS


def data_suffix(path: Path) -> str:
    """The ending of a data file in lower case, without `.gz`."""
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def read_records(path: Path, delimiter: str | None = None, bad: BadRows | None = None) -> Records:
    """The rows of a table: a list of cells from `.tsv` and `.csv`, an object from `.jsonl`.

    `.tsv` is split at tabs and knows no quoting. `.csv` is quoted and may have line breaks in a cell, the number is that of its first line
    then; columns are separated by commas, semicolons, tabs or bars, as its first lines show. UTF-8 with or without BOM, any of the usual
    line ends. Blank lines are passed over.

    Args:
      path: the file.
      delimiter: what separates columns, for a file of any ending but `.jsonl`; quoted, but for tabs in a `.tsv`.
      bad: counts rows that are no CSV or JSON, where it is to; by default the first one raises.

    Raises:
      KerasBertError: another format, a file that cannot be read, not UTF-8, broken gzip, CSV or JSON.
    """
    bad = bad or BadRows(path)
    suffix = data_suffix(path)
    if not is_tabular(path, delimiter):
        raise KerasBertError(f"expected a .tsv, .csv or .jsonl file, or one of them with .gz, received {path}")
    lines = read_lines(path)
    if suffix == ".jsonl":
        return Records(json_lines(path, lines, bad), None)
    if suffix == ".tsv" and delimiter in (None, "\t"):
        return Records(((number, line.split("\t")) for number, line in _stripped(lines)), "\t")
    if delimiter is None:
        sample, lines = peek(lines, SAMPLE)
        delimiter = sniffed([line for _, line in sample])
    return Records(_csv(lines, delimiter, bad), delimiter)


def json_lines(path: Path, lines: Iterator[tuple[int, str]], bad: BadRows | None = None) -> Iterator[tuple[int, dict]]:
    """(Line number, object) of numbered lines, blank ones passed over. Raises KerasBertError for a line that is no JSON object, unless
    `bad` is to count them."""
    for number, line in _stripped(lines):
        try:
            value = _object(path, number, line)
        except KerasBertError as error:
            (bad or BadRows(path)).refuse_as(error)
            continue
        yield number, value


def _stripped(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    for number, line in lines:
        line = line.removesuffix("\n").removesuffix("\r")
        if line:
            yield number, line


def _csv(lines: Iterator[tuple[int, str]], delimiter: str, bad: BadRows) -> Iterator[Row]:
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    reader = csv.reader((line for _, line in lines), strict=True, delimiter=delimiter)
    while True:
        first = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            bad.refuse(first, *_csv_fault(str(error)))
            continue
        if cells:
            yield first, cells


def _csv_fault(error: str) -> tuple[str, str]:
    """What was expected and received, and what to do."""
    if "field larger" in error:
        return (
            f"expected cells of at most {LONGEST_CELL:,} characters, received a longer one",
            'look for a quote (") that is never closed',
        )
    if "unexpected end of data" in error:
        return 'expected CSV, received a quote (") that is never closed', 'close it, or write "" for a quote in a cell'
    return f"expected CSV, received {error}", 'write "" for a quote in a quoted cell'


def _object(path: Path, number: int, line: str) -> dict:
    where, expected = f"{path}, line {number}", "JSON lines, one object a line"
    value = parse_json(line, where, expected=expected)
    if not isinstance(value, dict):
        raise KerasBertError(f"{where}: expected {expected}, received {JSON_NAMES[type(value)]}")
    return value
