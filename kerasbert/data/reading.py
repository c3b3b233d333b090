"""Readers of data files: one for each kind of example that processors take."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kerasbert.arguments import argument, check_whole_number
from kerasbert.data.dataset import Dataset
from kerasbert.data.file_options import FileOptions
from kerasbert.data.plain_text import open_text
from kerasbert.data.records import data_suffix, is_tabular
from kerasbert.data.row_stream import RowStream
from kerasbert.data.tables import open_rows
from kerasbert.errors import KerasBertError


class TextReader:
    """A reader of texts, which reads a file whole or in parts.

    Args:
        open_file: Opens a file with options.
    """

    def __init__(self, open_file: Callable[[Path, FileOptions], RowStream]):
        self._open, self.__doc__ = open_file, open_file.__doc__

    def __call__(self, path: str | os.PathLike, options: FileOptions) -> Dataset:
        return self._open(Path(path), options).whole()

    def parts(self, path: str | os.PathLike, options: FileOptions, rows: int) -> Iterator[Dataset]:
        """Yield datasets of some rows each.

        Args:
            path: The file.
            options: How it is read.
            rows: Rows in a dataset; the last one may have fewer.
        """
        return self._open(Path(path), options).parts(check_whole_number(rows, "a number of rows in a part"))


def _open_table(path: Path, options: FileOptions) -> RowStream:
    _refuse_label_separator(path, options, "one label a row")
    return open_rows(path, options)


@TextReader
def read_texts(path: Path, options: FileOptions) -> RowStream:
    """Texts or pairs with labels, scores or nothing: a table (`read_table`)."""
    return _open_table(path, options)


@TextReader
def read_label_sets(path: Path, options: FileOptions) -> RowStream:
    """Texts or pairs with any number of labels: a table (`read_table`), also one with a column of 0 and 1 for each label."""
    return open_rows(path, options, multi_label=True)


@TextReader
def read_sentences(path: Path, options: FileOptions) -> RowStream:
    """Texts or pairs with scores or nothing, of a table (`read_table`); or the lines of a `.txt` file (`read_text`)."""
    if data_suffix(path) != ".txt" or options.delimiter is not None:
        return _open_table(path, options)
    _refuse_columns(path, options.columns, "lines of text")
    return open_text(path, options)


@TextReader
def read_plain_texts(path: Path, options: FileOptions) -> RowStream:
    """Texts without labels: lines of text (`read_text`), or the texts of a table."""
    _refuse_columns(path, {name: column for name, column in options.columns.items() if name != "text"}, "texts alone")
    _refuse_label_separator(path, options, "texts alone")
    if is_tabular(path, options.separator):
        return open_rows(path, options).of_texts()
    _refuse_columns(path, options.columns, "lines of text")
    return open_text(path, options)


def read_batches(
    path: str | os.PathLike,
    rows: int = 4096,
    *,
    text: str | None = None,
    pair: str | None = None,
    label: str | None = None,
    max_rows: int | None = None,
    delimiter: str | None = None,
    skip_bad_rows: bool = False,
    encoding: str | None = None,
) -> Iterator[Dataset]:
    """Read a file that does not fit in memory, some rows at a time.

    The file is a table as for `read_table` (`.tsv`, `.csv`, `.jsonl`), or else lines of text as for `read_text`, plain or `.gz`.

    Args:
        path: The file.
        rows: Rows in a dataset; the last one may have fewer.
        text: As for `read_table`; lines of text have no columns.
        pair: As for `read_table`.
        label: As for `read_table`.
        max_rows: The maximum number of rows to read in all.
        delimiter: As for `read_table`.
        skip_bad_rows: As for `read_table`. `Dataset.bad` counts those of the whole file so far.
        encoding: As for `read_table`.

    Yields:
        Datasets, of the rows in their order.

    Raises:
        KerasBertError: When the file or a column is missing; and while it is read, when a row cannot be read.

    Example:
        ```python
        for part in kb.data.read_batches("train.tsv", rows=100):
            task.predict(part)
        ```
    """
    options = FileOptions(text, pair, label, delimiter, encoding, skip_bad_rows=skip_bad_rows, max_rows=max_rows)
    reader = read_texts if is_tabular(Path(path), options.separator) else read_plain_texts
    return reader.parts(path, options, rows)


def read_tags(path: str | os.PathLike, options: FileOptions) -> Dataset:
    """Words with tags: CoNLL columns or JSON lines (`read_conll`), or a CSV file (`read_tagged_table`)."""
    from kerasbert.data.conll import read_conll
    from kerasbert.data.tagged_tables import read_tagged_table

    path, columns, limits = Path(path), options.columns, options.limits
    _refuse_columns(path, {name: column for name, column in columns.items() if name == "pair"}, "words with tags")
    _refuse_label_separator(path, options, "words with tags")
    if data_suffix(path) == ".csv":
        return read_tagged_table(path, **columns, **limits)
    names = {"text": "word_column", "label": "tag_column"}
    keys = data_suffix(path) == ".jsonl"
    chosen: dict[str, Any] = {
        names[name]: column if keys else _number(path, name, column) for name, column in columns.items()
    }
    return read_conll(path, **chosen, separator=limits.pop("delimiter"), **limits)


def read_questions(path: str | os.PathLike, options: FileOptions) -> Dataset:
    """Questions on texts with answers: SQuAD's JSON (`read_squad`)."""
    from kerasbert.data.squad import read_squad

    path, limits = Path(path), options.limits
    _refuse_columns(path, options.columns, "questions with answers")
    _refuse_label_separator(path, options, "questions with answers")
    if (delimiter := limits.pop("delimiter")) is not None:
        raise KerasBertError(
            f"{path}: expected no delimiter for a file of questions with answers in JSON, received {delimiter!r}; "
            f"leave out {argument('delimiter')}"
        )
    return read_squad(path, **limits)


def read_prompts(path: str | os.PathLike, options: FileOptions) -> Dataset:
    """Prompts with choices (`read_choices`)."""
    from kerasbert.data.choices import read_choices

    path, columns = Path(path), options.columns
    _refuse_columns(path, {name: column for name, column in columns.items() if name == "pair"}, "prompts with choices")
    _refuse_label_separator(path, options, "prompts with choices")
    return read_choices(path, prompt=columns.get("text"), label=columns.get("label"), **options.limits)


def _number(path: Path, name: str, column: str) -> int:
    try:
        return int(column)
    except ValueError:
        raise KerasBertError(
            f"{path}: expected a column number from 0 on, as CoNLL's columns have no names, received {column!r}; "
            f"give one with {argument(name)}"
        ) from None


def _refuse_label_separator(path: str | os.PathLike, options: FileOptions, what: str) -> None:
    if options.label_separator is not None:
        raise KerasBertError(
            f"{path}: expected no label separator for a file of {what}, received {options.label_separator!r}; leave out "
            f"{argument('label_separator')}, or choose the multi-label task"
        )


def _refuse_columns(path: Path, columns: dict[str, Any], what: str) -> None:
    if columns:
        name, column = next(iter(columns.items()))
        raise KerasBertError(
            f"{path}: expected no {name} column for a file of {what}, received {column!r}; leave out {argument(name)}"
        )
