"""Multiple-choice questions from CSV, TSV and JSON Lines files."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from kerasbert.data.bad_rows import BadRows
from kerasbert.data.limits import check_max_rows
from kerasbert.data.records import ObjectRecords, ObjectRow, data_suffix, read_objects, read_records
from kerasbert.data.table import Table
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json

# Column names that are recognized by default, in the order of preference; case is ignored.
_PROMPTS = ("prompt", "question", "premise", "sent1", "context")
_LABELS = ("label", "answer")
_NUMBER = re.compile("[0-9]{1,9}")
_CHOICE = re.compile(r"(?:choice|option|ending)[ _]?(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class ChoiceTable(Table):
    """Questions with choices.

    `x` holds `(prompt, choices)` of each question. `y` holds the number, text or letter of each correct choice, or is None.
    """

    def kind(self) -> str:
        return "questions"

    def label_summary(self) -> str:
        counts = Counter(len(choices) for _, choices in self.x)
        summary = ", ".join(f"{count} choices: {questions:,}" for count, questions in sorted(counts.items()))
        return summary if self.y is not None else f"{summary}; no labels"

    def texts(self) -> list[str]:
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
    encoding: str | None = None,
) -> ChoiceTable:
    """Read multiple-choice questions: a prompt, its choices and the correct one from each row.

    The file name's suffix determines the format: `.jsonl` or `.json` with one object on each line, `.csv` or `.tsv` with a header. Each
    may also be compressed as `.gz`.

    Args:
        path: The file.
        prompt: The column of the prompt. Default: the first of prompt, question, premise, sent1, context.
        choices: The columns of the choices in their order. Default: `choices` (a list, in a `.csv` as JSON), or all columns that are
            named choice, option or ending with a number. Trailing empty or missing cells are not choices.
        label: The column of the correct choice. Default: label or answer, if one exists. If all labels are whole numbers, or
            strings of digits, they are indices of choices from 0 on.
        max_rows: The maximum number of rows to read.
        delimiter: As for `read_table`.
        skip_bad_rows: As for `read_table`.
        encoding: As for `read_table`.

    Returns:
        The table.

    Raises:
        KerasBertError: When the file cannot be read or has no rows, a column is missing, or a row lacks its prompt, choices or label.

    Example:
        ```python
        data = kb.data.read_choices("choices.jsonl")
        data.x[0], data.y[0]  # (prompt, choices), and the number of the correct choice
        ```
    """
    path = Path(path)
    check_max_rows(max_rows)
    bad = BadRows(path, skip_bad_rows)
    # An object may leave out a choice, so the columns are known only after all objects are read.
    records = list(islice(_read_rows(path, delimiter, bad, encoding), None if skip_bad_rows else max_rows))
    if not records:
        raise KerasBertError(f"{path}: expected rows, received none")
    columns = _QuestionColumns.find(_Columns.of(path, records), prompt, choices, label)
    questions = list(islice(_parse_rows(records, columns, bad), max_rows))
    if not questions:
        raise KerasBertError(f"{path}: expected rows, received none that can be read; {bad.describe()}")
    labels = None if columns.label is None else _unify_labels([question.label for question in questions])
    x = [(question.prompt, question.choices) for question in questions]
    return ChoiceTable(path, x, labels, lines=[question.line for question in questions], bad=bad)


class _Fault(Exception):
    """The reason to refuse a row, as "expected ..., received ..."."""


@dataclass(frozen=True)
class _Columns:
    """The names of all columns of a file."""

    path: Path
    names: tuple[str, ...]

    @classmethod
    def of(cls, path: Path, records: Iterable[ObjectRow]) -> "_Columns":
        return cls(path, tuple(dict.fromkeys(name for _, record in records for name in record)))

    def require(self, column: str, role: str) -> str:
        """Return the column itself, or raise if it is missing."""
        if column not in self.names:
            raise KerasBertError(
                f"{self.path}: expected a column {column!r}, received the columns {', '.join(self.names)}; name one with `{role}=`"
            )
        return column

    def find(self, candidates: Sequence[str]) -> str | None:
        """Return the first column among the candidates, ignoring case, or None."""
        known = {name.strip().casefold(): name for name in reversed(self.names)}
        return next((known[name] for name in candidates if name in known), None)


@dataclass(frozen=True)
class _QuestionColumns:
    """The columns of the prompt, the choices and the label."""

    prompt: str
    choices: tuple[str, ...]
    label: str | None

    @classmethod
    def find(
        cls, columns: _Columns, prompt: str | None, choices: Sequence[str] | None, label: str | None
    ) -> "_QuestionColumns":
        prompt = columns.find(_PROMPTS) if prompt is None else columns.require(prompt, "prompt")
        if prompt is None:
            raise KerasBertError(
                f"{columns.path}: expected a column of prompts, one of {', '.join(_PROMPTS)}, received the columns "
                f"{', '.join(columns.names)}; name one with `prompt=`"
            )
        choice_columns = _find_choice_columns(columns, choices)
        return cls(prompt, choice_columns, columns.find(_LABELS) if label is None else columns.require(label, "label"))


def _find_choice_columns(columns: _Columns, requested: Sequence[str] | None) -> tuple[str, ...]:
    if requested is not None:
        requested = [requested] if isinstance(requested, str) else requested
        return tuple(columns.require(name, "choices") for name in requested)
    if list_column := columns.find(("choices",)):
        return (list_column,)
    matches = ((_CHOICE.fullmatch(name.strip()), name) for name in columns.names)
    numbered = [(int(match[1]), name) for match, name in matches if match]
    if not numbered:
        raise KerasBertError(
            f"{columns.path}: expected columns of choices, choices or choice0, choice1, ..., received the columns "
            f"{', '.join(columns.names)}"
        )
    return tuple(name for _, name in sorted(numbered, key=lambda item: item[0]))


def _read_rows(path: Path, delimiter: str | None, bad: BadRows, encoding: str | None) -> Iterator[ObjectRow]:
    """Yield (line number, cells by column)."""
    if data_suffix(path) == ".json":
        yield from read_objects(path, bad, encoding)
        return
    records = read_records(path, delimiter, bad, encoding)
    if isinstance(records, ObjectRecords):
        yield from records.rows
        return
    header = None
    for line, cells in records.rows:
        if header is None:
            header = [cell.strip() for cell in cells]
        elif len(cells) != len(header):
            bad.refuse(line, f"expected {len(header)} columns, received {len(cells)}")
        else:
            yield line, dict(zip(header, cells, strict=True))


class _Question(NamedTuple):
    line: int
    prompt: str
    choices: tuple[str, ...]
    label: int | str | None


def _parse_rows(records: Iterable[ObjectRow], columns: _QuestionColumns, bad: BadRows) -> Iterator[_Question]:
    for line, record in records:
        try:
            prompt, choices = _parse_prompt(record, columns.prompt), _parse_choices(record, columns.choices)
            label = None if columns.label is None else _parse_label(record, columns.label)
            yield _Question(line, prompt, choices, label)
        except _Fault as fault:
            bad.refuse(line, str(fault))


def _parse_prompt(record: dict, column: str) -> str:
    value = record.get(column)
    if not isinstance(value, str) or not value.strip():
        raise _Fault(f"expected {column!r} as a text, received {value!r}")
    return value


def _parse_choices(record: dict, columns: Sequence[str]) -> tuple[str, ...]:
    values = [record.get(column) for column in columns]
    if len(columns) == 1:
        values = _parse_list(values[0])
    while values and values[-1] in (None, ""):  # an empty choice elsewhere would renumber the ones after it
        values.pop()
    choices = []
    for value in values:
        if not isinstance(value, str) or not value.strip():
            raise _Fault(f"expected choices that are texts, received {value!r}")
        choices.append(value)
    if not choices:
        raise _Fault("expected choices, received none")
    return tuple(choices)


def _parse_list(value: object) -> list:
    """Return the choices of a single cell: a list, or a list in JSON."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = parse_json(value, "choices")
        except KerasBertError:  # a text that begins with a bracket
            return [value]
    return list(value) if isinstance(value, list) else [value]


def _parse_label(record: dict, column: str) -> int | str:
    value = record.get(column)
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        raise _Fault(f"expected {column!r} as a choice's number, text or letter, received {value!r}")
    return value


def _unify_labels(labels: Sequence[int | str | None]) -> list:
    """Return integers if all labels are numbers. Otherwise a choice whose text is a number would be read as an index."""
    if all(isinstance(label, int) or (label is not None and _NUMBER.fullmatch(label)) for label in labels):
        return [int(label) for label in labels if label is not None]
    return list(labels)
