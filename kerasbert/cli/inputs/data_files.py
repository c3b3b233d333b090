"""The data files of a command: read, described and checked. Needs no TensorFlow, so that a wrong column is reported at once."""

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from kerasbert.arguments import argument
from kerasbert.cli.process.progress import note
from kerasbert.data.dataset import Dataset
from kerasbert.data.duplicates import find_duplicates
from kerasbert.data.file_options import FileOptions
from kerasbert.data.rare_labels import rare_labels
from kerasbert.data.splitting import parse_fraction, split
from kerasbert.errors import KerasBertError
from kerasbert.processors import Processor
from kerasbert.processors.classification import SingleLabel
from kerasbert.training.config import TrainConfig

_ROW = re.compile(r"row (\d+)(?=[:,])")


def read_described(kind: type[Processor], path: str | Path, options: FileOptions | TrainConfig) -> Dataset:
    """Read one file, and print a line that describes it.

    Args:
        kind: The class of the task's processor.
        path: The file.
        options: The options for reading it.

    Raises:
        KerasBertError: When the file cannot be read.
    """
    table = drop_bad_labels(kind, kind.read(path, options))
    note_bad_rows(table)
    note(table.describe())
    return table


def drop_bad_labels(kind: type[Processor], table: Dataset) -> Dataset:
    """Return the table without rows that have an invalid label, if bad rows are to be skipped.

    `Processor.label_check` decides which labels are invalid: empty ones, and for a regression those that are no numbers.

    Args:
        kind: The class of the task's processor.
        table: The table.

    Raises:
        KerasBertError: When no row is left.
    """
    if table.bad is None or not table.bad.skip or table.y is None or kind.label_check is None:
        return table
    valid = []
    for row, label in enumerate(table.y):
        try:
            kind.label_check(label)
            valid.append(row)
        except KerasBertError as error:
            table.bad.refuse(table.lines[row], _ROW.sub("", str(error)).lstrip(": "))
    if not valid:
        raise KerasBertError(f"{table.path}: expected rows with labels, received none; {table.bad.describe()}")
    return table.select(valid) if len(valid) < len(table) else table


def note_bad_rows(table: Dataset) -> None:
    """Print a line about the skipped rows, if there are any.

    Args:
        table: The table.
    """
    if table.bad is not None and table.bad.count:
        note(table.bad.describe())


def read_train_and_dev(
    kind: type[Processor],
    training: TrainConfig,
    read: Callable[[type[Processor], str, TrainConfig], Dataset] = read_described,
) -> tuple[Dataset, Dataset, Dataset | None]:
    """Read the data of a training run.

    Args:
        kind: The class of the task's processor.
        training: The settings. `train`, `dev` (a file, or a fraction of the training rows), `seed` (which selects the rows of a fraction)
            and the options for reading files are used.
        read: Reads one file.

    Returns:
        A table with all training rows, one with the rows to train on, and one with the rows for evaluation (None without dev).

    Raises:
        KerasBertError: When a file cannot be read or split.
    """
    dev = training.dev
    table = read(kind, training.require("train"), training)
    fraction = None if dev is None or Path(dev).exists() else parse_fraction(dev)
    if fraction is None:
        dev_table = read(kind, _check_dev(dev), training) if dev else None
        note_duplicates(kind, table, dev_table)
        return table, _sampled(kind, table, training), dev_table
    note_duplicates(kind, table)
    parts = split(table, fraction, training.seed, stratify=kind is SingleLabel)
    note(
        f"dev: {len(parts[1]):,} of the {len(table):,} rows of {table.path.name}; {len(parts[0]):,} rows are for training"
    )
    return table, _sampled(kind, parts[0], training), parts[1]


def _sampled(kind: type[Processor], table: Dataset, training: TrainConfig) -> Dataset:
    """Return `train_rows` of the rows, with the shares of the labels; the table itself without that setting, or where it has no more."""
    rows = training.train_rows
    if rows is None or rows >= len(table):
        return table
    sampled = split(table, rows / len(table), training.seed, stratify=kind is SingleLabel)[1]
    note(f"training on {len(sampled):,} of the {len(table):,} rows of {table.path.name}")
    return sampled


def without_fallback(table: Dataset, fallback: str | None) -> Dataset:
    """Return the table without the rows of texts that belong to no class, which are not trained on.

    Args:
        table: The training data.
        fallback: Their label; None without.

    Raises:
        KerasBertError: When no row is left.
    """
    if fallback is None or table.y is None:
        return table
    rows = [row for row, label in enumerate(table.y) if str(label) != fallback]
    if len(rows) == len(table):
        return table
    if not rows:
        raise KerasBertError(
            f"{table.path}: expected rows of other labels than {fallback!r} to train on, received none"
        )
    note(
        f"{len(table) - len(rows):,} rows of the label {fallback} are not trained on; those of --dev set the threshold"
    )
    return table.select(rows)


def note_duplicates(kind: type[Processor], train: Dataset, dev: Dataset | None = None) -> None:
    """Print a line about equal examples of labelled data, and about those with different labels, if there are any.

    Args:
        kind: The class of the task's processor.
        train: The training data.
        dev: The dev data.
    """
    if train.y is not None and not kind.self_supervised:
        for line in find_duplicates(train, dev).describe(train, dev):
            note(f"note: {line}")


def _check_dev(dev: str) -> str:
    """Return a dev file's name after a check that it is not an invalid fraction."""
    try:
        float(dev)
    except ValueError:
        return dev
    if not Path(dev).exists():
        raise KerasBertError(f"expected --dev as a file, or a fraction above 0 and below 1, received {dev!r}")
    return dev


def note_rare_labels(processor: Processor, table: Dataset) -> None:
    """Print a line about each label that only one or two rows have.

    Args:
        processor: The task's processor.
        table: The training data.
    """
    if table.y is not None and isinstance(processor, SingleLabel):
        for line in rare_labels(table.y):
            note(line)


def require_labels(kind: type[Processor], table: Dataset) -> Dataset:
    """Return the table after a check that it has labels, if the processor needs them.

    Args:
        kind: The class of the task's processor.
        table: The table.

    Raises:
        KerasBertError: When the table has none.
    """
    if table.y is None and kind.needs_labels:
        named = f"the columns {', '.join(table.columns)}; name one with {argument('label')}"
        received = named if table.columns else "none"
        raise KerasBertError(f"{table.path}: expected a column of labels, received {received}")
    return table


def check_labels(processor: Processor, table: Dataset) -> None:
    """Check that a processor can encode the labels of a table.

    Args:
        processor: The task's processor.
        table: The table.

    Raises:
        KerasBertError: When it cannot; the message names the file and the line.
    """
    require_labels(type(processor), table)
    with locate_errors(table):
        processor.check_labels(table.y, processor.examples(table.x))


def check_known_labels(processor: Processor, table: Dataset) -> None:
    """Check the labels of a table, as far as the labels of the model are known.

    Args:
        processor: The processor of the model.
        table: The table.

    Raises:
        KerasBertError: When a label cannot be used; the message names the file and the line.
    """
    if processor.labels is not None or not processor.learns_labels:
        check_labels(processor, table)
    else:
        require_labels(type(processor), table)


@contextlib.contextmanager
def locate_errors(table: Dataset) -> Iterator[None]:
    """Add the file to errors of the block about a table's rows, and replace the row's number by the line of the file.

    Args:
        table: The table.

    Raises:
        KerasBertError: For an error of the block.
    """
    try:
        yield
    except KerasBertError as error:
        message = str(error)
        if str(table.path) in message:
            raise
        row = _ROW.match(message)
        if row and int(row[1]) < len(table.lines):
            message = f"{table.path}, line {table.lines[int(row[1])]}{message[row.end() :]}"
        else:
            message = f"{table.path}: {message}"
        raise KerasBertError(message) from error


def read_model_data(model: str | Path, path: Path, reading: FileOptions) -> Dataset:
    """Read a data file for a model, check its labels, and print a line that describes it.

    Args:
        model: A `.tflite` file, a saved folder or a hub name.
        path: The data file.
        reading: How it is read.

    Raises:
        KerasBertError: When the file cannot be read, or the model does not have one of its labels.
    """
    from kerasbert.cli.inputs.saved_model import read_processor
    from kerasbert.processors import make_processor

    processor = read_processor(model)
    table = read_described(type(processor or make_processor("single_label")), path, reading)
    if processor is not None and table.y is not None and processor.needs_labels:
        check_known_labels(processor, table)
    return table
