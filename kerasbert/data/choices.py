"""Questions with choices from CSV, TSV or JSON lines files."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from kerasbert.data.records import json_lines, read_lines, read_records
from kerasbert.data.table import Table
from kerasbert.errors import KerasBertError
from kerasbert.json_text import parse_json

# Column names understood without being asked for, in the order of preference; case does not matter.
_PROMPTS = ("prompt", "question", "premise", "sent1", "context")
_LABELS = ("label", "answer")
_CHOICE = re.compile(r"(choice|option|ending)[ _]?\d+", re.IGNORECASE)


@dataclass(frozen=True)
class ChoiceTable(Table):
    """x: `(prompt, choices)`; y: the number, text or letter of each right choice, or None."""

    def kind(self):
        return "questions"

    def told_labels(self):
        counts = Counter(len(choices) for _, choices in self.x)
        told = ", ".join(f"{count} choices: {rows:,}" for count, rows in sorted(counts.items()))
        return told if self.y is not None else f"{told}; no labels"

    def texts(self):
        return [" ".join([prompt, *choices]) for prompt, choices in self.x]


def read_choices(
    path: str | os.PathLike,
    *,
    prompt: str | None = None,
    choices: Sequence[str] | None = None,
    label: str | None = None,
    max_rows: int | None = None,
) -> ChoiceTable:
    """Reads a prompt, its choices and which of them is right from every row.

    The format goes by the name: `.jsonl` or `.json` (one object a line), `.csv` or `.tsv` with a header, each also with `.gz`.

    Args:
      path: the file.
      prompt: the prompt's column; by default the first there is of prompt, question, premise, sent1, context.
      choices: the columns of the choices in their order; by default `choices` (a list, in a `.csv` as JSON), or all that are called
        choice, option or ending with a number. Empty or missing cells behind the last one are no choices.
      label: the column that tells the right one; by default label or answer, if there is one. Where all are whole numbers, as numbers or
        as strings, they count choices from 0 on.
      max_rows: read no more rows than this.

    Raises:
      KerasBertError: a file that cannot be read, a column that is not there, a row without prompt, choices or label, or no rows.
    """
    path = Path(path)
    if max_rows is not None and max_rows < 1:
        raise KerasBertError(f"Expected max_rows of at least 1. Received: {max_rows}.")
    records = list(islice(_objects(path), max_rows))
    if not records:
        raise KerasBertError(f"Expected rows in {path}. Received: none.")
    # Objects may leave out a choice: what columns there are is known from all of them.
    columns = tuple(dict.fromkeys(name for _, record in records for name in record))
    prompt = _column(path, columns, prompt, _PROMPTS, "the prompt")
    names = _choice_columns(path, columns, choices)
    label = _column(path, columns, label, _LABELS, None)
    x = [(_text(path, line, record, prompt), _choices(path, line, record, names)) for line, record in records]
    y = None if label is None else _labels([_label(path, line, record, label) for line, record in records])
    return ChoiceTable(path, x, y)


def _objects(path: Path) -> Iterator[tuple[int, dict]]:
    """(Line number, cells by column)."""
    if Path(path.name.removesuffix(".gz")).suffix.lower() == ".json":
        yield from json_lines(path, read_lines(path))
        return
    header = None
    for line, row in read_records(path):
        if isinstance(row, dict):
            yield line, row
        elif header is None:
            header = [cell.strip() for cell in row]
        elif len(row) != len(header):
            raise KerasBertError(f"Expected {len(header)} columns in {path}. Received: {len(row)} on line {line}.")
        else:
            yield line, dict(zip(header, row, strict=True))


def _column(path: Path, columns: Sequence[str], asked: str | None, names: Sequence[str], what: str | None):
    """The column asked for, or the first of `names`; without one None, or where it must be there (`what`) an error."""
    if asked is not None:
        if asked not in columns:
            raise KerasBertError(f"Expected a column {asked!r} in {path}. Received columns: {', '.join(columns)}.")
        return asked
    plain = {column.strip().casefold(): column for column in reversed(columns)}
    found = next((plain[name] for name in names if name in plain), None)
    if found is None and what is not None:
        raise KerasBertError(
            f"Expected a column of {what} in {path}, one of {', '.join(names)}. Received columns: {', '.join(columns)}. Say which one."
        )
    return found


def _choice_columns(path: Path, columns: Sequence[str], asked: Sequence[str] | None) -> list[str]:
    if asked is not None:
        asked = [asked] if isinstance(asked, str) else list(asked)
        return [_column(path, columns, name, (), "choices") for name in asked]
    if listed := _column(path, columns, None, ("choices",), None):
        return [listed]
    found = [column for column in columns if _CHOICE.fullmatch(column.strip())]
    if not found:
        raise KerasBertError(
            f"Expected columns of choices in {path}, choices or choice0, choice1, ... Received columns: {', '.join(columns)}."
        )
    return sorted(found, key=lambda column: int(re.search(r"\d+", column)[0]))


def _text(path: Path, line: int, record: dict, name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str) or not value.strip():
        raise KerasBertError(f"Expected {name!r} as a text in {path}. Received: {value!r} on line {line}.")
    return value


def _choices(path: Path, line: int, record: dict, names: Sequence[str]) -> tuple[str, ...]:
    values = [record.get(name) for name in names]
    if len(names) == 1:
        values = _listed(values[0])
    while values and values[-1] in (None, ""):  # an empty one elsewhere would renumber those behind it
        values.pop()
    for value in values:
        if not isinstance(value, str) or not value.strip():
            raise KerasBertError(f"Expected choices that are texts in {path}. Received: {value!r} on line {line}.")
    if not values:
        raise KerasBertError(f"Expected choices in every row of {path}. Received: none on line {line}.")
    return tuple(values)


def _listed(value) -> list:
    """The choices of a single cell: a list, in JSON where the file has only strings."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = parse_json(value, "choices")
        except KerasBertError:  # a text that begins with a bracket
            return [value]
    return list(value) if isinstance(value, list) else [value]


def _label(path: Path, line: int, record: dict, name: str) -> int | str:
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        raise KerasBertError(
            f"Expected {name!r} as a choice's number, text or letter in {path}. Received: {value!r} on line {line}."
        )
    return value


def _labels(values: list) -> list:
    """Numbers where all of them are; a choice whose text is a number is then not mistaken for one's number."""
    if all(isinstance(value, int) or (value.isascii() and value.isdigit()) for value in values):
        return [int(value) for value in values]
    return values
