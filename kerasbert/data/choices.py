"""Questions with choices from CSV, TSV or JSON lines files."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from kerasbert.data.bad_rows import BadRows
from kerasbert.data.lines import read_lines
from kerasbert.data.records import data_suffix, json_lines, read_records
from kerasbert.data.table import Table
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json

# Column names understood without being asked for, in the order of preference; case does not matter.
_PROMPTS = ("prompt", "question", "premise", "sent1", "context")
_LABELS = ("label", "answer")
_NUMBER = re.compile("[0-9]{1,9}")
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
    delimiter: str | None = None,
    skip_bad_rows: bool = False,
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
      delimiter, skip_bad_rows: as `read_table` takes them.

    Raises:
      KerasBertError: a file that cannot be read, a column that is not there, a row without prompt, choices or label, or no rows.
    """
    path = Path(path)
    if max_rows is not None and max_rows < 1:
        raise KerasBertError(f"expected max_rows of at least 1, received {max_rows}")
    bad = BadRows(path, skip_bad_rows)
    # Objects may leave out a choice: what columns there are is known from all of them.
    records = list(islice(_objects(path, delimiter, bad), None if skip_bad_rows else max_rows))
    if not records:
        raise KerasBertError(f"{path}: expected rows, received none")
    columns = tuple(dict.fromkeys(name for _, record in records for name in record))
    prompt = _column(path, columns, prompt, _PROMPTS, "prompt")
    names = _choice_columns(path, columns, choices)
    label = _column(path, columns, label, _LABELS, None)
    rows = list(islice(_rows(records, prompt, names, label, bad), max_rows))
    if not rows:
        raise KerasBertError(f"{path}: expected rows, received none that can be read; {bad.describe()}")
    lines, x, y = (list(column) for column in zip(*rows, strict=True))
    return ChoiceTable(path, x, None if label is None else _labels(y), lines=lines, bad=bad)


def _rows(records, prompt: str, names: Sequence[str], label: str | None, bad: BadRows) -> Iterator[tuple]:
    """(Line, (prompt, choices), label) of each row that can be read."""
    for line, record in records:
        try:
            found = _text(record, prompt), _choices(record, names)
            yield line, found, None if label is None else _label(record, label)
        except _Fault as fault:
            bad.refuse(line, str(fault))


class _Fault(Exception):
    """What is wrong with a row."""


def _objects(path: Path, delimiter: str | None, bad: BadRows) -> Iterator[tuple[int, dict]]:
    """(Line number, cells by column)."""
    if data_suffix(path) == ".json":
        yield from json_lines(path, read_lines(path), bad)
        return
    header = None
    for line, row in read_records(path, delimiter, bad).rows:
        if isinstance(row, dict):
            yield line, row
        elif header is None:
            header = [cell.strip() for cell in row]
        elif len(row) != len(header):
            bad.refuse(line, f"expected {len(header)} columns, received {len(row)}")
        else:
            yield line, dict(zip(header, row, strict=True))


def _column(path: Path, columns: Sequence[str], asked: str | None, names: Sequence[str], role: str | None):
    """The column asked for, or the first of `names`; without one None, or where it must be there (`role`) an error."""
    there = f"received the columns {', '.join(columns)}"
    if asked is not None:
        if asked not in columns:
            advice = f"; name one with `{role or 'label'}=`"
            raise KerasBertError(f"{path}: expected a column {asked!r}, {there}{advice}")
        return asked
    plain = {column.strip().casefold(): column for column in reversed(columns)}
    found = next((plain[name] for name in names if name in plain), None)
    if found is None and role is not None:
        raise KerasBertError(
            f"{path}: expected a column of prompts, one of {', '.join(names)}, {there}; name one with `{role}=`"
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
            f"{path}: expected columns of choices, choices or choice0, choice1, ..., received the columns {', '.join(columns)}"
        )
    return sorted(found, key=lambda column: int(re.search(r"\d+", column)[0]))


def _text(record: dict, name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str) or not value.strip():
        raise _Fault(f"expected {name!r} as a text, received {value!r}")
    return value


def _choices(record: dict, names: Sequence[str]) -> tuple[str, ...]:
    values = [record.get(name) for name in names]
    if len(names) == 1:
        values = _listed(values[0])
    while values and values[-1] in (None, ""):  # an empty one elsewhere would renumber those behind it
        values.pop()
    for value in values:
        if not isinstance(value, str) or not value.strip():
            raise _Fault(f"expected choices that are texts, received {value!r}")
    if not values:
        raise _Fault("expected choices, received none")
    return tuple(values)


def _listed(value) -> list:
    """The choices of a single cell: a list, in JSON where the file has only strings."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = parse_json(value, "choices")
        except KerasBertError:  # a text that begins with a bracket
            return [value]
    return list(value) if isinstance(value, list) else [value]


def _label(record: dict, name: str) -> int | str:
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        raise _Fault(f"expected {name!r} as a choice's number, text or letter, received {value!r}")
    return value


def _labels(values: list) -> list:
    """Numbers where all of them are; a choice whose text is a number is then not mistaken for one's number."""
    if all(isinstance(value, int) or _NUMBER.fullmatch(value) for value in values):
        return [int(value) for value in values]
    return values
