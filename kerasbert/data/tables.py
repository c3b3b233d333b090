"""Labelled texts from TSV, CSV and JSON Lines files."""

import json
import math
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from kerasbert.console.output import note
from kerasbert.data.bad_rows import BadRows, peek
from kerasbert.data.cola import COLA_LABEL, COLA_TEXT, is_cola
from kerasbert.data.columns import Columns, no_rows_error, open_table
from kerasbert.data.dataset import Dataset
from kerasbert.data.delimiters import parse_delimiter
from kerasbert.data.encodings import check_encoding
from kerasbert.data.file_options import FileOptions
from kerasbert.data.headers import LABELS, PAIRS, SAMPLE, TEXTS, normalize_name
from kerasbert.data.label_columns import LabelColumns, named_columns
from kerasbert.data.label_sets import split_labels
from kerasbert.data.limits import check_max_rows
from kerasbert.data.records import CellRecords, CellRow, ObjectRecords, ObjectRow
from kerasbert.data.row_stream import RowStream
from kerasbert.data.unused_columns import report_unused_columns


def read_table(
    path: str | os.PathLike,
    *,
    text: str | None = None,
    pair: str | None = None,
    label: str | Sequence[str] | None = None,
    max_rows: int | None = None,
    delimiter: str | None = None,
    skip_bad_rows: bool = False,
    encoding: str | None = None,
    label_separator: str | None = None,
    multi_label: bool = False,
) -> Dataset:
    """Read texts, with second texts and labels if the file has them.

    The file name's suffix determines the format. Each may also be compressed as `.gz`:

    - `.tsv`: split at tabs, without quoting.
    - `.csv`: quoted; the delimiter (comma, semicolon, tab or bar) is detected.
    - `.jsonl`: one object on each line.

    The first line of a `.tsv` or `.csv` is a header in two cases: it contains a requested or
    well-known column name, or it differs from the lines below as names differ from values. Without a header, rows may have different
    numbers of columns, as long as they have the columns that are read.

    Args:
        path: The file.
        text: The column of the text, by name or by number from "0" on. Default: the first of text, sentence, sentence1, question,
            utterance, review.
        pair: The column of the second text. Default: the partner of the text column, if it exists: sentence2 for sentence1,
            question2 for question1, hypothesis for premise, sentence for question.
        label: The column of the label. Default: the first of label, labels, class, intent, score, gold_label. Several columns, as a list or
            separated by commas, hold 0 or 1 for each label.
        max_rows: The maximum number of rows to read.
        delimiter: The character between columns, for any file but a `.jsonl`.
        skip_bad_rows: Skip rows that cannot be read, and count them in `Dataset.bad`. Otherwise the first one raises.
        encoding: The encoding, such as `cp1252`. Default: UTF-8, or UTF-16 if the file begins with its byte order mark.
        label_separator: The character between the labels of a cell. The labels are then JSON lists. Default: the cells as they are.
        multi_label: Use columns of 0 and 1 as the labels if there is no column of labels.

    Returns:
        The table.

    Raises:
        KerasBertError: When the file is missing, empty, without rows, or of another format or encoding; when a column is missing; when a
            row has another number of columns than the header.

    Example:
        ```python
        data = kb.data.read_table("reviews.csv", text="review", label="rating")
        task.score(data)["accuracy"]
        ```
    """
    check_max_rows(max_rows)
    check_encoding(encoding)
    options = FileOptions(text, pair, label, delimiter, encoding, label_separator, skip_bad_rows, max_rows)
    return open_rows(path, options, multi_label).whole()


def open_rows(path: str | os.PathLike, options: FileOptions, multi_label: bool = False) -> RowStream:
    """Open a table for reading its rows; see `read_table`.

    Args:
        path: The file.
        options: Columns, limits and the like.
        multi_label: Use columns of 0 and 1 as the labels if there is no column of labels.

    Raises:
        KerasBertError: When the file or a column is missing, or the first rows cannot be read.
    """
    path, label, max_rows = Path(path), options.label_column, options.max_rows
    label = str(label) if isinstance(label, int) else label
    mark = options.label_separator
    separator = None if mark is None else parse_delimiter(mark, "label separator")
    requested = [None if column is None else str(column) for column in (options.text_column, options.pair_column)]
    bad = BadRows(path, options.skip_bad_rows)
    names = [*requested, *((label,) if isinstance(label, str) else ()), *named_columns(label, ())]
    sample = SAMPLE if max_rows is None else min(max_rows, SAMPLE)
    columns, records = open_table(path, names, options.separator, bad, options.encoding, sample)
    selection, records = _select_columns(columns, records, requested, label, multi_label, sample)
    label_columns = selection.label.names if isinstance(selection.label, LabelColumns) else ()

    def build(rows: list[_LabelledRow], done: int) -> Dataset:
        texts, lines = [row.text for row in rows], [row.line for row in rows]
        x = texts if selection.pair is None else (texts, [row.pair for row in rows])
        labels = None if selection.label is None else [row.label for row in rows]
        if labels is not None and separator is not None and not label_columns:
            split = (split_labels(cell, row, separator) for row, cell in enumerate(labels, done))
            labels = [json.dumps(names, ensure_ascii=False) for names in split]
        return Dataset(path, x, labels, columns=columns.names, lines=lines, bad=bad, label_columns=label_columns)

    rows = islice(_labelled_rows(columns, records, selection, bad), max_rows)
    return RowStream(rows, build, lambda: no_rows_error(columns, bad))


class _Selection(NamedTuple):
    """The indices of the columns of the text, the second text and the label, or several columns of labels."""

    text: int
    pair: int | None
    label: int | LabelColumns | None


class _LabelledRow(NamedTuple):
    """One row of a table; `pair` and `label` are "" if the table has no such column."""

    line: int
    text: str
    pair: str
    label: str


def _select_columns(
    columns: Columns,
    records: CellRecords | ObjectRecords,
    requested: Sequence[str | None],
    label: str | Sequence[str] | None,
    multi_label: bool,
    sample: int,
) -> tuple[_Selection, CellRecords | ObjectRecords]:
    known = [normalize_name(name) for name in columns.names]
    rows, records = _peek_cells(columns, records, sample)
    unnamed = columns.header is None and isinstance(records, CellRecords)
    if unnamed and requested[0] is None and len(known) == 4 and is_cola(rows):
        note(
            f"{columns.path}: the columns are those of CoLA; the texts are column {COLA_TEXT}, the labels column {COLA_LABEL}"
        )
        requested, label = [str(COLA_TEXT), requested[1]], label or str(COLA_LABEL)

    def find(column: str | None, role: str, defaults: Sequence[str]) -> int | None:
        return columns.find_default(defaults) if column is None else columns.find(column, role)

    texts_of_pairs = [first for first, second in PAIRS.items() if first in known and second in known]
    text = find(requested[0], "text", [*TEXTS[:1], *texts_of_pairs, *TEXTS[1:]])
    if text is None:
        raise columns.error("a column of texts", "text")
    partner = PAIRS.get(known[text])
    pair = find(requested[1], "pair", [partner] if partner else [])
    names = named_columns(label, columns.names)
    several = LabelColumns.find(columns, names) if len(names) > 1 else None
    label_column = several or find(names[0] if names else None, "label", LABELS)
    named = columns.header is not None or isinstance(records, ObjectRecords)
    if label_column is None and multi_label and named:
        label_column = LabelColumns.detect(columns, rows, (text, pair))
    selection = _Selection(text, pair, label_column)
    if named:
        used = {column for column in (text, pair, label_column) if isinstance(column, int)}
        used |= set(label_column.indices if isinstance(label_column, LabelColumns) else ())
        report_unused_columns(columns, rows, used, texts=requested[0] is None and pair is None, labels=not names)
    return selection, records


def _peek_cells(
    columns: Columns, records: CellRecords | ObjectRecords, sample: int
) -> tuple[list[Sequence[Any]], CellRecords | ObjectRecords]:
    """Return the cells of the first rows, and all rows."""
    if isinstance(records, ObjectRecords):
        objects, rows = peek(records.rows, sample)
        return [[record.get(name) for name in columns.names] for _, record in objects], ObjectRecords(rows)
    cells, rows = peek(records.rows, sample)
    return [row for _, row in cells if len(row) == len(columns.names)], CellRecords(rows, records.delimiter)


def _labelled_rows(
    columns: Columns, records: CellRecords | ObjectRecords, selection: _Selection, bad: BadRows
) -> Iterator[_LabelledRow]:
    if isinstance(records, ObjectRecords):
        return _rows_from_objects(records.rows, columns.names, selection, bad)
    width = None if columns.header is None else len(columns.names)
    return _rows_from_cells(records.rows, selection, width, bad)


def _rows_from_cells(
    rows: Iterator[CellRow], selection: _Selection, width: int | None, bad: BadRows
) -> Iterator[_LabelledRow]:
    several = selection.label if isinstance(selection.label, LabelColumns) else None
    single = [column for column in selection if isinstance(column, int)]
    least = 1 + max(single + list(several.indices if several else ()))
    for line, cells in rows:
        if len(cells) < least or (width is not None and len(cells) != width):
            expected = f"at least {least}" if width is None else width
            bad.refuse(line, f"expected {expected} columns, received {len(cells)}")
            continue
        text, pair, label = (cells[column] if isinstance(column, int) else "" for column in selection)
        if several is not None:
            label, reason = several.label([cells[column] for column in several.indices])
            if reason:
                bad.refuse(line, reason)
                continue
        yield _LabelledRow(line, text, pair, label)


def _rows_from_objects(
    rows: Iterator[ObjectRow], names: Sequence[str], selection: _Selection, bad: BadRows
) -> Iterator[_LabelledRow]:
    text, pair, label = (names[column] if isinstance(column, int) else None for column in selection)
    several = selection.label if isinstance(selection.label, LabelColumns) else None
    first: tuple[int, object] | None = None  # line and label of the first row
    for line, record in rows:
        reason = _find_fault(record, str(text), pair, label) or _label_type_fault(record, label, first)
        flags = ""
        if not reason and several is not None:
            flags, reason = several.label([record.get(name) for name in several.names])
        if reason:
            bad.refuse(line, reason)
            continue
        if label is not None:
            first = first or (line, record[label])
        texts = (record[text], "" if pair is None else record[pair])
        yield _LabelledRow(line, *texts, flags if label is None else _label_text(record[label]))


def _find_fault(record: dict, text: str, pair: str | None, label: str | None) -> str:
    """Return the reason to refuse an object, or ""."""
    for key in (text, pair, label):
        if key is not None and record.get(key) is None:
            return f"expected {key!r} in every object, received none"
    for key in (text, pair):
        if key is not None and not isinstance(record[key], str):
            return f"expected {key!r} as a string, received {type(record[key]).__name__}"
    return ""


def _label_type_fault(record: dict, key: str | None, first: tuple[int, object] | None) -> str:
    """Return the reason to refuse a label of another type than the first one, or "".

    Labels are all names (or lists of them), or all numbers. A mixture comes from a mistake in the file.
    """
    if key is not None and isinstance(record[key], dict):
        return f"expected {key!r} as a name, a number or a list of them, received an object with {', '.join(list(record[key])[:3])}"
    if key is not None and isinstance(record[key], float) and not math.isfinite(record[key]):
        return f"expected {key!r} as a name or a finite number, received {record[key]}"
    if key is None or first is None or isinstance(first[1], str | list) == isinstance(record[key], str | list):
        return ""
    return f"expected labels of one type, received {record[key]!r} after {first[1]!r} on line {first[0]}"


def _label_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
