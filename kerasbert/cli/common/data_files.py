"""The data files of a command: read, described and checked. Without TensorFlow, so that a wrong column is told at once."""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path

from kerasbert.cli.common.progress import note
from kerasbert.data.labels import LabelSet
from kerasbert.data.rare_labels import rare_labels
from kerasbert.data.reading import FileOptions, read_with
from kerasbert.data.splitting import parse_fraction, split
from kerasbert.data.table import Table
from kerasbert.errors import KerasBertError
from kerasbert.processors import Processor

_ROW = re.compile(r"row (\d+)(?=[:,])")


def file_options(values: Mapping[str, object]) -> FileOptions:
    """How a command reads files. values: all of its arguments by name."""
    return FileOptions(**{field.name: values[field.name] for field in fields(FileOptions) if field.name in values})


def read_described(kind: type[Processor], path, options) -> Table:
    """One file, described in a line. options: a `FileOptions`, or a `Recipe`."""
    table = without_bad_labels(kind, read_with(kind.name, path, options))
    note_bad_rows(table)
    note(table.describe())
    return table


def without_bad_labels(kind: type[Processor], table: Table) -> Table:
    """The table without rows whose label is empty, or where scores are asked for no number; as it is unless bad rows are left out."""
    if table.bad is None or not table.bad.skip or table.y is None or kind.name not in ("single_label", "regression"):
        return table
    kept = []
    for row, label in enumerate(table.y):
        try:
            LabelSet.to_scores([label]) if kind.name == "regression" else LabelSet.check_label(label, 0)
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


def read_train_and_dev(kind: type[Processor], train, dev, options, seed: int, read: Callable = read_described):
    """Tables of all training rows, of those that are trained on, and of those that are scored on (None: no dev).

    dev: a file, or a share of the training rows such as "0.1"; `seed` fixes which.
    """
    table = read(kind, train, options)
    share = None if dev is None or Path(dev).exists() else parse_fraction(str(dev))
    if share is None:
        return table, table, read(kind, dev, options) if dev else None
    parts = split(table, share, seed, stratify=kind.name == "single_label")
    note(f"dev: {len(parts[1]):,} of the {len(table):,} rows of {table.path.name}; {len(parts[0]):,} are trained on")
    return table, *parts


def note_rare_labels(problem: Processor, table: Table) -> None:
    """Notes labels that one or two rows have."""
    if table.y is not None and problem.name == "single_label":
        for line in rare_labels(table.y):
            note(line)


def required_labels(kind: type[Processor], table: Table) -> Table:
    """The table itself. Raises KerasBertError when it has no labels and the problem wants some."""
    if table.y is None and not kind.self_supervised and kind.name != "embedding":
        columns = (
            f"the columns {', '.join(table.columns)}; name one with `label=`" if hasattr(table, "columns") else "none"
        )
        raise KerasBertError(f"{table.path}: expected a column of labels, received {columns}")
    return table


def check_labels(problem: Processor, table: Table) -> None:
    """Raises KerasBertError naming the file and the line for labels that cannot be used."""
    required_labels(type(problem), table)
    with naming(table):
        problem.check(table.y, problem.examples(table.x))


def check_known(problem: Processor, table: Table) -> None:
    """`check_labels` where the model's labels are known."""
    if problem.labels is not None or problem.name not in ("single_label", "multi_label", "tagging"):
        check_labels(problem, table)
    else:
        required_labels(type(problem), table)


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
    """The table that the file's problem asks for, described in a line to the user."""
    from kerasbert.cli.common.saved_model import problem_of
    from kerasbert.processors import processor_named

    problem = problem_of(model)
    table = read_described(type(problem or processor_named("single_label")), path, file_options(given))
    if problem is not None and table.y is not None and problem.name != "embedding":
        check_known(problem, table)
    return table
