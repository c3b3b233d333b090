"""The rows of TSV, CSV and JSON lines files, gzip-compressed or not, with the line each stands on."""

import csv
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.json_text import JSON_NAMES, parse_json

FORMATS = (".tsv", ".csv", ".jsonl")

Row = tuple[int, list[str] | dict]


def read_records(path: Path) -> Iterator[Row]:
    """Yields (line number from 1 on, row): a list of cells from `.tsv` and `.csv`, an object from `.jsonl`.

    `.tsv` is split at tabs and knows no quoting; `.csv` is quoted and may have line breaks in a cell, the number is
    that of its last line then. UTF-8 with or without BOM, any of the usual line ends. Blank lines are passed over.

    Raises:
      KerasBertError: another format, a file that cannot be read, not UTF-8, broken gzip, CSV or JSON.
    """
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    if suffix not in FORMATS:
        raise KerasBertError(f"Expected a .tsv, .csv or .jsonl file, or one of them with .gz. Received: {path}.")
    lines = read_lines(path)
    if suffix == ".csv":
        yield from _csv(path, lines)
    elif suffix == ".tsv":
        yield from ((number, line.split("\t")) for number, line in _stripped(lines))
    else:
        yield from json_lines(path, lines)


def json_lines(path: Path, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, dict]]:
    """(Line number, object) of numbered lines, blank ones passed over. Raises KerasBertError for a line that is no JSON object."""
    return ((number, _object(path, number, line)) for number, line in _stripped(lines))


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yields (line number from 1 on, line with its end) of a UTF-8 text file with or without BOM, gzip-compressed if it ends in `.gz`.

    Raises:
      KerasBertError: a file that cannot be read, not UTF-8, broken gzip.
    """
    try:
        with (gzip.open if path.name.endswith(".gz") else open)(path, "rb") as file:
            yield from _lines(path, file)
    except FileNotFoundError:
        raise KerasBertError(f"Expected a data file {path}. Received: no such file.") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise KerasBertError(f"Expected a whole gzip file {path}. Received: {error}.") from None
    except OSError as error:
        raise KerasBertError(f"Expected a readable file {path}. Received: {error.strerror}.") from None


def _lines(path: Path, file) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(file, start=1):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise KerasBertError(
                f"Expected UTF-8 in {path}. Received: byte 0x{line[error.start]:02x} on line {number}, "
                f"at offset {error.start} of it."
            ) from None
        yield number, text.removeprefix("\ufeff") if number == 1 else text


def _stripped(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    for number, line in lines:
        line = line.removesuffix("\n").removesuffix("\r")
        if line:
            yield number, line


def _csv(path: Path, lines: Iterator[tuple[int, str]]) -> Iterator[Row]:
    reader = csv.reader((line for _, line in lines), strict=True)
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except csv.Error as error:
        raise KerasBertError(f"Expected CSV in {path}. Received: {error}, line {reader.line_num}.") from None


def _object(path: Path, number: int, line: str) -> dict:
    where, expected = f"{path}, line {number}", "JSON lines, one object a line"
    value = parse_json(line, where, expected=expected)
    if not isinstance(value, dict):
        raise KerasBertError(f"{where}: expected {expected}, received {JSON_NAMES[type(value)]}")
    return value
