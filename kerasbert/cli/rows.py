"""Rows of a data file as a model takes them: packed once, with labels checked before anything long starts."""

from dataclasses import dataclass
from os import PathLike

import numpy as np

from kerasbert.cli.progress import note
from kerasbert.data.labels import LabelSet
from kerasbert.data.tables import TextTable, read_table
from kerasbert.errors import KerasBertError
from kerasbert.text import Tokenizer, pack

LENGTH_STEP, LONGEST_BY_DEFAULT = 16, 128


@dataclass(frozen=True)
class Columns:
    """Column names, or numbers from 0 on, as the user gave them; None: the usual ones."""

    text: str | None = None
    pair: str | None = None
    label: str | None = None


@dataclass(frozen=True)
class PackedRows:
    """inputs: int32 arrays (rows, length) by name. targets: labels as the loss wants them, or None. cut: rows that were too long."""

    table: TextTable
    inputs: dict[str, np.ndarray]
    targets: np.ndarray | None
    cut: int

    def __len__(self) -> int:
        return len(self.table)

    def some(self, wanted: int) -> dict[str, np.ndarray]:
        """Inputs of `wanted` rows spread evenly over all."""
        index = np.unique(np.linspace(0, len(self) - 1, min(wanted, len(self))).round().astype(int))
        return {name: values[index] for name, values in self.inputs.items()}


def read_rows(path: str | PathLike, columns: Columns, max_rows: int | None = None) -> TextTable:
    """The file's rows, described in a line to the user."""
    table = read_table(path, text=columns.text, pair=columns.pair, label=columns.label, max_rows=max_rows)
    note(table.describe())
    return table


def labelled(table: TextTable) -> TextTable:
    """The table itself. Raises KerasBertError when it has no labels."""
    if table.labels is None:
        raise KerasBertError(
            f"{table.path}: expected a column of labels, received columns {', '.join(table.columns)}; name it with --label-column"
        )
    return table


def label_names(table: TextTable, problem: str, given: str | None) -> list[str]:
    """Labels in the order of the model's outputs: those given, comma-separated, or those of the training data; none for regression."""
    if problem == "regression":
        if given is not None:
            raise KerasBertError(f"expected no --labels for a regression, received {given!r}")
        return []
    if given is not None:
        names = [label.strip() for label in given.split(",")]
        if len(set(names)) < max(len(names), 2) or "" in names:
            raise KerasBertError(f"expected --labels as two or more different names with commas, received {given!r}")
        return names
    make = LabelSet.from_cells if problem == "multi_label" else LabelSet.from_values
    with naming(table):
        return list(make(table.labels).names)


def targets(table: TextTable, problem: str, names) -> np.ndarray:
    """Labels as numbers: class indices (rows,) int32, 0/1 (rows, classes) float32, or scores (rows,) float32.

    Raises KerasBertError naming the file, the row and the labels there are.
    """
    labels = labelled(table).labels
    with naming(table):
        if problem == "regression":
            return LabelSet.to_scores(labels)
        known = LabelSet(tuple(names))
        return known.multi_hot(labels) if problem == "multi_label" else known.index(labels)


def choose_length(tokenizer: Tokenizer, table: TextTable, asked: int | None, longest_possible: int) -> int:
    """The asked length, or the longest text's in tokens, rounded up to a multiple of 16 and at most 128; says what was chosen."""
    if asked is not None:
        return asked
    limit = min(LONGEST_BY_DEFAULT, longest_possible)
    encoded = tokenizer.encode(table.texts, table.pairs, max_length=limit)
    longest = max(map(len, encoded.input_ids))
    length = min(-(-longest // LENGTH_STEP) * LENGTH_STEP, limit)
    if encoded.truncated:
        note(
            f"sequence length {length}: the most taken by default, {encoded.truncated:,} of {len(table):,} training texts are longer"
        )
    else:
        note(f"sequence length {length}: the longest training text has {longest} tokens")
    return length


def pack_rows(tokenizer: Tokenizer, length: int, table: TextTable, numbers: np.ndarray | None) -> PackedRows:
    """Tokenizes the whole table to one length, and says how many texts were cut."""
    encoded = tokenizer.encode(table.texts, table.pairs, max_length=length)
    if encoded.truncated:
        note(
            f"{table.path.name}: {encoded.truncated:,} of {len(table):,} texts are longer than {length} tokens and were cut"
        )
    return PackedRows(table, pack(encoded, length=length, pad_id=tokenizer.pad_id), numbers, encoded.truncated)


class naming:
    """Puts the file's name before an error about its rows."""

    def __init__(self, table: TextTable):
        self._path = table.path

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, KerasBertError):
            raise KerasBertError(f"{self._path}: {error}") from error
