"""Labelled texts from a TSV, CSV or JSON lines file."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from kerasbert.data.records import Row, read_records
from kerasbert.data.table import told_lengths
from kerasbert.errors import KerasBertError

# Column names understood without being asked for, in the order of preference; case does not matter.
_PAIRS = {
    "sentence1": "sentence2",
    "question1": "question2",
    "#1 string": "#2 string",
    "premise": "hypothesis",
    "question": "sentence",
}
_TEXTS = ("text", "sentence", "sentence1", "question", "utterance", "review", "question1", "#1 string", "premise")
_LABELS = ("label", "labels", "class", "intent", "score", "gold_label", "quality")
_KNOWN = {*_TEXTS, *_PAIRS.values(), *_LABELS}
_LISTED_LABELS = 12


@dataclass(frozen=True)
class TextTable:
    """The rows of a file: texts, and where the file has them, second texts and labels, as they are written there.

    Attributes:
      path: the file.
      texts: one text a row.
      pairs: the second text of each row, or None.
      labels: the label of each row, or None; what is no string in a JSON lines file is kept as JSON.
      columns: all columns of the file; numbers from "0" on where it has no header.
    """

    path: Path
    texts: list[str]
    pairs: list[str] | None
    labels: list[str] | None
    columns: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def x(self) -> list[str] | tuple[list[str], list[str]]:
        """The texts as a task takes them: of pairs, both columns."""
        return self.texts if self.pairs is None else (self.texts, self.pairs)

    @property
    def y(self) -> list[str] | None:
        """The labels."""
        return self.labels

    def describe(self, problem=None, tokenizer=None, length: int | None = None) -> str:
        """One line: rows, how many of each label, and how long rows (both texts) are: median, 95th percentile, most.

        In characters; with a problem of `kerasbert.problems`, a tokenizer and a length in tokens, and how many are cut there or need more
        than one row.
        """
        both = self.texts if self.pairs is None else list(map("".join, zip(self.texts, self.pairs, strict=True)))
        kind = "texts" if self.pairs is None else "pairs"
        told = told_lengths(self.x, both, problem, tokenizer, length)
        return "; ".join([f"{self.path.name}: {len(self):,} {kind}", self._label_counts(), *told])

    def _label_counts(self) -> str:
        if self.labels is None:
            return "no labels"
        counts = Counter(self.labels)
        if len(counts) > _LISTED_LABELS:
            return f"{len(counts)} distinct labels"
        return "labels " + ", ".join(f"{label}: {count:,}" for label, count in sorted(counts.items()))


def read_table(
    path: str | os.PathLike,
    *,
    text: str | None = None,
    pair: str | None = None,
    label: str | None = None,
    max_rows: int | None = None,
) -> TextTable:
    """Reads texts, and second texts and labels if the file has them.

    The format goes by the name: `.tsv` (split at tabs, no quoting), `.csv` (quoted), `.jsonl` (one object a line), each
    also with `.gz`. UTF-8, with or without BOM. The first line of a `.tsv` or `.csv` is its header if it holds a column
    name that was asked for or is commonly used.

    Args:
      path: the file.
      text: column of the text, by its name or its number from "0" on. By default the first there is of text, sentence,
        sentence1, question, utterance, review.
      pair: column of the second text. By default the partner of the text column if the file has it: sentence2 for
        sentence1, question2 for question1, hypothesis for premise, sentence for question.
      label: column of the label. By default the first there is of label, labels, class, intent, score, gold_label.
      max_rows: read no more rows than this.

    Raises:
      KerasBertError: no such file, another format, not UTF-8, a column that is not there, a row with another number of
        columns than the header, an empty file or one without rows. Without a header a row may differ from the first one
        as long as it has the columns that are read.
    """
    path = Path(path)
    if max_rows is not None and max_rows < 1:
        raise KerasBertError(f"Expected max_rows of at least 1. Received: {max_rows}.")
    asked = [None if column is None else str(column) for column in (text, pair, label)]
    records = read_records(path)
    number, first = next(records, (0, None))
    if first is None:
        raise KerasBertError(f"Expected rows in {path}. Received: an empty file.")

    # A column asked for by number says nothing about a header: "1" may well be a label in the first row.
    names = {column for column in asked if column is not None and not column.isdecimal()}
    named = isinstance(first, dict) or any(cell in names or _plain(cell) in _KNOWN for cell in first)
    columns = tuple(first) if named else tuple(map(str, range(len(first))))
    found = ", ".join(columns) if named else ", ".join(f"{i}: {cell[:20]!r}" for i, cell in enumerate(first))
    picked = _select(path, columns, asked, found if named else f"{found} (no header)")

    if isinstance(first, dict):
        keys = [None if place is None else columns[place] for place in picked]
        rows = _from_objects(path, chain([(number, first)], records), keys)
    elif named:
        rows = _from_cells(path, records, picked, len(columns))
    else:
        rows = _from_cells(path, chain([(number, first)], records), picked, None)
    kept = list(islice(rows, max_rows))
    if not kept:
        raise KerasBertError(f"Expected rows in {path}. Received: a header and no rows.")
    texts, pairs, labels = (
        None if place is None else list(cells) for place, cells in zip(picked, zip(*kept, strict=True), strict=True)
    )
    return TextTable(path, texts, pairs, labels, columns)


def _select(path: Path, columns: Sequence[str], asked: Sequence[str | None], found: str) -> list[int | None]:
    """The places of text, pair and label among the columns."""
    plain = [_plain(column) for column in columns]

    def by_default(names: Sequence[str]) -> int | None:
        return next((plain.index(name) for name in names if name in plain), None)

    def place(column: str | None, names: Sequence[str]) -> int | None:
        if column is None:
            return by_default(names)
        if column in columns:
            return columns.index(column)
        if column.isdecimal() and int(column) < len(columns):
            return int(column)
        raise KerasBertError(f"Expected a column {column!r} in {path}. Received columns: {found}.")

    pairs_first = [first for first, second in _PAIRS.items() if first in plain and second in plain]
    text = place(asked[0], [*_TEXTS[:1], *pairs_first, *_TEXTS[1:]])
    if text is None:
        raise KerasBertError(
            f"Expected a column of texts in {path}, one of {', '.join(_TEXTS[:6])}. Received columns: {found}. "
            "Say which one, by name or number."
        )
    partner = _PAIRS.get(plain[text])
    pair = place(asked[1], [partner] if partner else [])
    return [text, pair, place(asked[2], _LABELS)]


def _from_cells(
    path: Path, rows: Iterator[Row], places: Sequence[int | None], width: int | None
) -> Iterator[tuple[str | None, ...]]:
    least = 1 + max(place for place in places if place is not None)
    for number, cells in rows:
        if len(cells) < least or (width is not None and len(cells) != width):
            expected = f"at least {least}" if width is None else width
            raise KerasBertError(f"Expected {expected} columns in {path}. Received: {len(cells)} on line {number}.")
        yield tuple(None if place is None else cells[place] for place in places)


def _from_objects(path: Path, rows: Iterator[Row], keys: Sequence[str | None]) -> Iterator[tuple[str | None, ...]]:
    first: tuple[int, object] | None = None
    for number, row in rows:
        for key in keys:
            if key is not None and row.get(key) is None:
                raise KerasBertError(f"Expected {key!r} in every object of {path}. Received: none on line {number}.")
        for key in keys[:2]:
            if key is not None and not isinstance(row[key], str):
                kind = type(row[key]).__name__
                raise KerasBertError(f"Expected {key!r} as a string in {path}. Received: {kind} on line {number}.")
        if keys[2] is not None:
            first = first or (number, row[keys[2]])
            _check_kind(path, first, number, row[keys[2]])
        yield tuple(None if key is None else _label(row[key]) for key in keys)


def _check_kind(path: Path, first: tuple[int, object], number: int, label) -> None:
    """Labels are all names (or lists of them), or all numbers: a mixture is two columns in one, or a slip."""
    if isinstance(first[1], str | list) != isinstance(label, str | list):
        raise KerasBertError(
            f"Expected labels of one type in {path}. Received: {label!r} on line {number}, after {first[1]!r} on line {first[0]}."
        )


def _label(value) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _plain(name: str) -> str:
    return name.strip().casefold()
