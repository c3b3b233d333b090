"""Labelled texts from a TSV, CSV or JSON lines file."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from kerasbert.data.bad_rows import BadRows
from kerasbert.data.columns import Columns, no_rows, open_table
from kerasbert.data.headers import LABELS, PAIRS, TEXTS, plain
from kerasbert.data.records import Row
from kerasbert.data.table import told_lengths
from kerasbert.errors import KerasBertError

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
      lines: the line of the file on which each row begins.
      bad: what was left out.
    """

    path: Path
    texts: list[str]
    pairs: list[str] | None
    labels: list[str] | None
    columns: tuple[str, ...]
    lines: list[int] = field(default_factory=list, compare=False, repr=False)
    bad: BadRows | None = field(default=None, compare=False, repr=False)

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

    def describe(self, processor=None, tokenizer=None, length: int | None = None) -> str:
        """One line: rows, how many of each label, and how long rows (both texts) are: median, 95th percentile, most.

        In characters; with a `Processor`, a tokenizer and a length in tokens, and how many are cut there or need more
        than one row.
        """
        both = self.texts if self.pairs is None else list(map("".join, zip(self.texts, self.pairs, strict=True)))
        kind = "texts" if self.pairs is None else "pairs"
        told = told_lengths(self.x, both, processor, tokenizer, length)
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
    delimiter: str | None = None,
    skip_bad_rows: bool = False,
) -> TextTable:
    """Reads texts, and second texts and labels if the file has them.

    The format goes by the name: `.tsv` (split at tabs, no quoting), `.csv` (quoted, split at commas, semicolons, tabs or bars, as its
    first lines show), `.jsonl` (one object a line), each also with `.gz`. UTF-8, with or without BOM. The first line of a `.tsv` or `.csv`
    is its header if it holds a column name that was asked for or is commonly used, or differs from the lines below as names do from values.

    Args:
      path: the file.
      text: column of the text, by its name or its number from "0" on. By default the first there is of text, sentence,
        sentence1, question, utterance, review.
      pair: column of the second text. By default the partner of the text column if the file has it: sentence2 for
        sentence1, question2 for question1, hypothesis for premise, sentence for question.
      label: column of the label. By default the first there is of label, labels, class, intent, score, gold_label.
      max_rows: read no more rows than this.
      delimiter: what separates columns, for a file with any ending but `.jsonl`.
      skip_bad_rows: leave out rows that cannot be read, and count them in `TextTable.bad`; else the first one raises.

    Raises:
      KerasBertError: no such file, another format, not UTF-8, a column that is not there, a row with another number of
        columns than the header, an empty file or one without rows. Without a header a row may differ from the first one
        as long as it has the columns that are read.
    """
    path = Path(path)
    if max_rows is not None and max_rows < 1:
        raise KerasBertError(f"expected max_rows of at least 1, received {max_rows}")
    asked = [None if column is None else str(column) for column in (text, pair, label)]
    bad = BadRows(path, skip_bad_rows)
    columns, records = open_table(path, asked, delimiter, bad)
    picked = _select(columns, asked)
    if columns.delimiter is None:
        rows = _from_objects(records, [None if place is None else columns.names[place] for place in picked], bad)
    else:
        rows = _from_cells(records, picked, None if columns.header is None else len(columns.names), bad)
    kept = list(islice(rows, max_rows))
    if not kept:
        raise no_rows(columns, bad)
    lines, *cells = (list(column) for column in zip(*kept, strict=True))
    texts, pairs, labels = (None if place is None else values for place, values in zip(picked, cells, strict=True))
    return TextTable(path, texts, pairs, labels, columns.names, lines, bad)


def _select(columns: Columns, asked: Sequence[str | None]) -> list[int | None]:
    """The places of text, pair and label among the columns."""
    known = [plain(name) for name in columns.names]

    def place(column: str | None, role: str, names: Sequence[str]) -> int | None:
        return columns.by_default(names) if column is None else columns.asked(column, role)

    pairs_first = [first for first, second in PAIRS.items() if first in known and second in known]
    text = place(asked[0], "text", [*TEXTS[:1], *pairs_first, *TEXTS[1:]])
    if text is None:
        raise columns.error("a column of texts", "text")
    partner = PAIRS.get(known[text])
    return [text, place(asked[1], "pair", [partner] if partner else []), place(asked[2], "label", LABELS)]


def _from_cells(
    rows: Iterator[Row], places: Sequence[int | None], width: int | None, bad: BadRows
) -> Iterator[tuple[int | str | None, ...]]:
    """(Line, text, pair, label) of each row."""
    least = 1 + max(place for place in places if place is not None)
    for number, cells in rows:
        if len(cells) < least or (width is not None and len(cells) != width):
            expected = f"at least {least}" if width is None else width
            bad.refuse(number, f"expected {expected} columns, received {len(cells)}")
            continue
        yield number, *(None if place is None else cells[place] for place in places)


def _from_objects(
    rows: Iterator[Row], keys: Sequence[str | None], bad: BadRows
) -> Iterator[tuple[int | str | None, ...]]:
    first: tuple[int, object] | None = None
    for number, row in rows:
        fault = _fault(row, keys) or _other_kind(row, keys[2], first)
        if fault:
            bad.refuse(number, fault)
            continue
        if keys[2] is not None:
            first = first or (number, row[keys[2]])
        yield number, *(None if key is None else _label(row[key]) for key in keys)


def _fault(row: dict, keys: Sequence[str | None]) -> str:
    """What is wrong with an object; "" for nothing."""
    for key in keys:
        if key is not None and row.get(key) is None:
            return f"expected {key!r} in every object, received none"
    for key in keys[:2]:
        if key is not None and not isinstance(row[key], str):
            return f"expected {key!r} as a string, received {type(row[key]).__name__}"
    return ""


def _other_kind(row: dict, key: str | None, first: tuple[int, object] | None) -> str:
    """Labels are all names (or lists of them), or all numbers: a mixture is two columns in one, or a slip."""
    if key is None or first is None or isinstance(first[1], str | list) == isinstance(row[key], str | list):
        return ""
    return f"expected labels of one type, received {row[key]!r} after {first[1]!r} on line {first[0]}"


def _label(value) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
