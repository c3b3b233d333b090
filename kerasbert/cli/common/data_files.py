"""The data files of a command: read, described and checked. Without TensorFlow, so that a wrong column is told at once."""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path

from kerasbert.cli.common.progress import note
from kerasbert.data.labels import LabelSet
from kerasbert.data.rare_labels import rare_labels
from kerasbert.data.reading import FileOptions
from kerasbert.data.splitting import parse_fraction, split
from kerasbert.data.table import Table
from kerasbert.errors import KerasBertError
from kerasbert.processors import Processor
from kerasbert.processors.classification import Regression, SingleLabel
from kerasbert.training.config import TrainConfig

_ROW = re.compile(r"row (\d+)(?=[:,])")


def file_options(values: Mapping[str, object]) -> FileOptions:
    """How a command reads files. values: all of its arguments by name."""
    return FileOptions(**{field.name: values[field.name] for field in fields(FileOptions) if field.name in values})


def read_described(kind: type[Processor], path, options) -> Table:
    """One file, described in a line. options: a `FileOptions`, or a `TrainConfig`."""
    table = without_bad_labels(kind, kind.read(path, options))
    note_bad_rows(table)
    note(table.describe())
    return table


def without_bad_labels(kind: type[Processor], table: Table) -> Table:
    """The table without rows whose label is empty, or where scores are asked for no number; as it is unless bad rows are left out."""
    if table.bad is None or not table.bad.skip or table.y is None or kind not in (SingleLabel, Regression):
        return table
    kept = []
    for row, label in enumerate(table.y):
        try:
            LabelSet.to_scores([label]) if kind is Regression else LabelSet.check_label(label, 0)
            kept.append(row)
        except KerasBertError as error:
            table.bad.refuse(table.lines[row], _ROW.sub("", str(error)).lstrip(": "))
    if not kept:
        raise KerasBertError(f"{table.path}: expected rows with labels, received none; {table.bad.describe()}")
    return table.select(kept) if len(kept) < len(table) else table


def note_bad_rows(table: Table) -> None:
    """Says what was left out, if anything was."""
    if table.bad is not None and table.bad.count:
        note(table.bad.describe())


def read_train_and_dev(
    kind: type[Processor], training: TrainConfig, read: Callable = read_described
) -> tuple[Table, Table, Table | None]:
    """Reads the data of a training.

    Args:
        kind: The class of the task's processor.
        training: Of its settings, `train`, `dev` (a file, or a share of the training rows such as "0.1"), `seed` (which decides the rows
            of a share) and those for reading files.
        read: Reads one file.

    Returns:
        Tables of all training rows, of those that are trained on, and of those that are scored on (None without dev).
    """
    table, dev = read(kind, training.train, training), training.dev
    share = None if dev is None or Path(dev).exists() else parse_fraction(dev)
    if share is None:
        return table, table, read(kind, dev, training) if dev else None
    parts = split(table, share, training.seed, stratify=kind is SingleLabel)
    note(f"dev: {len(parts[1]):,} of the {len(table):,} rows of {table.path.name}; {len(parts[0]):,} are trained on")
    return table, *parts


def note_rare_labels(processor: Processor, table: Table) -> None:
    """Notes labels that one or two rows have."""
    if table.y is not None and isinstance(processor, SingleLabel):
        for line in rare_labels(table.y):
            note(line)


def required_labels(kind: type[Processor], table: Table) -> Table:
    """The table itself. Raises KerasBertError when it has no labels and the processor wants some."""
    if table.y is None and kind.needs_labels:
        columns = (
            f"the columns {', '.join(table.columns)}; name one with `label=`" if hasattr(table, "columns") else "none"
        )
        raise KerasBertError(f"{table.path}: expected a column of labels, received {columns}")
    return table


def check_labels(processor: Processor, table: Table) -> None:
    """Raises KerasBertError naming the file and the line for labels that cannot be used."""
    required_labels(type(processor), table)
    with naming(table):
        processor.check_labels(table.y, processor.examples(table.x))


def check_known(processor: Processor, table: Table) -> None:
    """`check_labels` where the model's labels are known."""
    if processor.labels is not None or not processor.learns_labels:
        check_labels(processor, table)
    else:
        required_labels(type(processor), table)


class naming:
    """Puts the file's name before an error about its rows, and the line of the file in the place of a row's number."""

    def __init__(self, table: Table):
        self._path, self._lines = table.path, table.lines

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if not isinstance(error, KerasBertError) or str(self._path) in str(error):
            return
        row = _ROW.match(str(error))
        if row and int(row[1]) < len(self._lines):
            raise KerasBertError(f"{self._path}, line {self._lines[int(row[1])]}{str(error)[row.end() :]}") from error
        raise KerasBertError(f"{self._path}: {error}") from error


def labelled_table(model: Path, path: Path, given: dict) -> Table:
    """The table that the file's processor asks for, described in a line to the user."""
    from kerasbert.cli.common.saved_model import processor_of
    from kerasbert.processors import make_processor

    processor = processor_of(model)
    table = read_described(type(processor or make_processor("single_label")), path, file_options(given))
    if processor is not None and table.y is not None and processor.needs_labels:
        check_known(processor, table)
    return table
