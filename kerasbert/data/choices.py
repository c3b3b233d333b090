"""Multiple-choice questions from CSV, TSV and JSON Lines files."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from kerasbert.console.output import note
from kerasbert.data.bad_rows import BadRows
from kerasbert.data.choice_columns import QuestionColumns
from kerasbert.data.dataset import Dataset
from kerasbert.data.limits import check_max_rows
from kerasbert.data.records import ObjectRecords, ObjectRow, data_suffix, read_objects, read_records
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json
from kerasbert.values import is_whole_number

_NUMBER = re.compile("[0-9]{1,9}")
_BLANK = "_"  # in a question, where its answer belongs


@dataclass(frozen=True)
class ChoiceTable(Dataset):
    """Questions with choices.

    `x` holds `(prompt, choices)` of each question. `y` holds the number, text or letter of each correct choice, or is None.
    """

    def kind(self) -> str:
        return "questions"

    def label_summary(self) -> str:
        counts = Counter(len(choices) for _, choices in self.x)
        summary = ", ".join(f"{count} choices: {questions:,}" for count, questions in sorted(counts.items()))
        return summary if self.y is not None else f"{summary}; no labels"

    def full_texts(self) -> list[str]:
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

    The forms of ARC, CommonsenseQA, COPA, HellaSwag, RACE and SWAG are recognized. A question about a passage is put before each choice, or
    the choice in its blank (RACE). In SWAG, each choice begins with `sent2`.

    Args:
        path: The file.
        prompt: The column of the prompt. Default: article, passage, premise or context beside a question, else the first of prompt,
            question, question_stem, premise, sent1, ctx, context.
        choices: The columns of the choices in their order. Default: `choices`, `options` or `endings` (a list, in a `.csv` as JSON, or
            texts with keys), or all columns that are named choice, option, ending or answer with a number. Trailing empty or missing
            cells are not choices.
        label: The column of the correct choice. Default: label, answer or answerKey, if one exists. If all labels are whole numbers, or
            strings of digits, they are indices of choices from 0 on. They count from 1 if the columns do, and a label is the number of
            the last one.
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
    columns = QuestionColumns.find(path, records, prompt, choices, label)
    questions = list(islice(_parse_rows(records, columns, bad), max_rows))
    if not questions:
        raise KerasBertError(f"{path}: expected rows, received none that can be read; {bad.describe()}")
    labels = None if columns.label is None else _unify_labels(path, questions, columns)
    x = [(question.prompt, question.choices) for question in questions]
    return ChoiceTable(path, x, labels, lines=[question.line for question in questions], bad=bad)


class _Fault(Exception):
    """The reason to refuse a row, as "expected ..., received ..."."""


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


def _parse_rows(records: Iterable[ObjectRow], columns: QuestionColumns, bad: BadRows) -> Iterator[_Question]:
    for line, record in records:
        try:
            yield _parse_row(line, record, columns)
        except _Fault as fault:
            bad.refuse(line, str(fault))


def _parse_row(line: int, record: dict, columns: QuestionColumns) -> _Question:
    prompt_column, choice_columns = columns.prompt, columns.choices
    nested = record.get(prompt_column)
    if isinstance(nested, dict):  # {"stem": ..., "choices": [...]}
        record = {**record, prompt_column: nested.get("stem"), "choices": nested.get("choices")}
        choice_columns = ("choices",) if choice_columns == (prompt_column,) else choice_columns
    prompt = _parse_text(record, prompt_column)
    choices, keys = _parse_choices(record, choice_columns)
    label = None if columns.label is None else _parse_label(record, columns.label)
    if isinstance(label, str) and keys:
        if label not in keys:
            raise _Fault(f"expected {columns.label!r} as one of {', '.join(keys)}, received {label!r}")
        label = keys.index(label)
    if columns.stem is None:
        return _Question(line, prompt, choices, label)
    if isinstance(label, str) and label in choices:
        label = choices.index(label)
    stem = record.get(columns.stem)
    return _Question(line, prompt, tuple(_with_stem(stem, choice) for choice in choices), label)


def _with_stem(stem: object, choice: str) -> str:
    """Return the choice after the stem, or in the place of its blank. `cause` and `effect` are the questions of COPA."""
    if stem is None or not str(stem).strip():
        return choice
    text = _COPA.get(str(stem), str(stem))
    return text.replace(_BLANK, choice) if _BLANK in text else f"{text} {choice}"


# What COPA asks (Roemmele et al. 2011), where its files say cause or effect only.
_COPA = {"cause": "What was the cause of this?", "effect": "What happened as a result?"}


def _parse_text(record: dict, column: str) -> str:
    value = record.get(column)
    if not isinstance(value, str) or not value.strip():
        raise _Fault(f"expected {column!r} as a text, received {value!r}")
    return value


def _parse_choices(record: dict, columns: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the choices, and the keys by which a label names them (such as A, B or 1, 2), if they have any."""
    values, keys = [record.get(column) for column in columns], ()
    if len(columns) == 1:
        values, keys = _parse_list(values[0])
    while values and values[-1] in (None, ""):  # an empty choice elsewhere would renumber the ones after it
        values.pop()
    choices = []
    for value in values:
        if not isinstance(value, str) or not value.strip():
            raise _Fault(f"expected choices that are texts, received {value!r}")
        choices.append(value)
    if not choices:
        raise _Fault("expected choices, received none")
    return tuple(choices), keys


def _parse_list(value: object) -> tuple[list, tuple[str, ...]]:
    """Return the choices of a single cell, and their keys: a list, a list in JSON, or texts with keys as in ARC."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        try:
            value = parse_json(value, "choices")
        except KerasBertError:  # a text that begins with a bracket
            return [value], ()
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        value = {name: [item.get(name) for item in value] for name in ("text", "label")}
    if isinstance(value, dict):
        texts, keys = value.get("text"), value.get("label")
        if not isinstance(texts, list) or not isinstance(keys, list) or len(texts) != len(keys):
            raise _Fault(
                f"expected choices with as many 'text' as 'label', received the keys {', '.join(map(str, value))}"
            )
        return list(texts), tuple(map(str, keys))
    return (list(value) if isinstance(value, list) else [value]), ()


def _parse_label(record: dict, column: str) -> int | str:
    value = record.get(column)
    if not (is_whole_number(value) or isinstance(value, str)) or value == "":
        raise _Fault(f"expected {column!r} as a choice's number, text or letter, received {value!r}")
    return value


def _unify_labels(path: Path, questions: Sequence[_Question], columns: QuestionColumns) -> list:
    """Return integers if all labels are numbers. Otherwise a choice whose text is a number would be read as an index.

    Columns such as option1 and option2 may have labels that count from 1 too.
    """
    labels = [question.label for question in questions]
    if not all(isinstance(label, int) or (label is not None and _NUMBER.fullmatch(label)) for label in labels):
        return labels
    numbers = [int(label) for label in labels if label is not None]
    counts = [len(question.choices) for question in questions]
    from_one = min(numbers) >= 1 and any(number == count for number, count in zip(numbers, counts, strict=True))
    if columns.numbered_from == 1 and from_one:
        note(f"note: {path}: the labels count from 1, as the columns of the choices do")
        return [number - 1 for number in numbers]
    return numbers
