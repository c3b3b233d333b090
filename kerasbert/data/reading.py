"""Reading a file in the form that a task's processor needs."""

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from kerasbert.data.delimiters import parse_delimiter
from kerasbert.data.records import data_suffix, is_tabular
from kerasbert.data.table import Dataset
from kerasbert.data.tables import TextTable, read_table
from kerasbert.errors import KerasBertError


class ReadOptions(Protocol):
    """The attributes of `FileOptions`, which training configurations have as well."""

    @property
    def text_column(self) -> str | None: ...

    @property
    def pair_column(self) -> str | None: ...

    @property
    def label_column(self) -> str | None: ...

    @property
    def max_rows(self) -> int | None: ...

    @property
    def delimiter(self) -> str | None: ...

    @property
    def skip_bad_rows(self) -> bool: ...


@dataclass(frozen=True)
class FileOptions:
    """The options of a command for reading files.

    Attributes:
        text_column: `text` of `read_for`.
        pair_column: `pair` of `read_for`.
        label_column: `label` of `read_for`.
        max_rows: As for `read_for`.
        delimiter: As for `read_for`.
        skip_bad_rows: As for `read_for`.
    """

    text_column: str | None = None
    pair_column: str | None = None
    label_column: str | None = None
    max_rows: int | None = None
    delimiter: str | None = None
    skip_bad_rows: bool = False


def read_with(processor: str, path: str | os.PathLike, options: ReadOptions) -> Dataset:
    """Read a file as `read_for` does, with the options of a command.

    Args:
        processor: Name of the task's processor.
        path: The file.
        options: The options.
    """
    return read_for(
        processor, path, text=options.text_column, pair=options.pair_column, label=options.label_column, max_rows=options.max_rows,
        delimiter=options.delimiter, skip_bad_rows=options.skip_bad_rows,
    )  # fmt: skip


def read_for(
    processor: str,
    path: str | os.PathLike,
    *,
    text: str | None = None,
    pair: str | None = None,
    label: str | None = None,
    max_rows: int | None = None,
    delimiter: str | None = None,
    skip_bad_rows: bool = False,
) -> Dataset:
    """Read a file in the form that a task's processor needs.

    | processor | reader |
    |---|---|
    | `tagging` | `read_conll`, or for a `.csv` `read_tagged_table` |
    | `question_answering` | `read_squad` |
    | `multiple_choice` | `read_choices` |
    | `masked_lm` | `read_text`, or the texts of `read_table` for a table |
    | any other | `read_table` |

    Args:
        processor: Name of a processor in `kerasbert.processors`.
        path: The file.
        text: The column of the text, by name or number; for multiple choice of the prompt, for tagging of the words. The columns of a
            CoNLL file have numbers only.
        pair: The column of the second text.
        label: The column of the label.
        max_rows: The maximum number of examples to read.
        delimiter: The character between the columns of a table, or comma, semicolon, tab, pipe or space. Default: detected.
        skip_bad_rows: Skip rows that cannot be read, and count them in the table's `bad`. Otherwise the first one raises.

    Returns:
        The examples and labels.

    Raises:
        KerasBertError: When the file has no such column, or the reader raises.
    """
    columns = {"text": text, "pair": pair, "label": label}
    request = _Request(
        Path(path),
        {name: column for name, column in columns.items() if column is not None},
        max_rows,
        None if delimiter is None else parse_delimiter(delimiter),
        skip_bad_rows,
    )
    return _READERS.get(processor, _read_texts)(request)


@dataclass(frozen=True)
class _Request:
    """The arguments of `read_for`; `columns` holds only the given ones."""

    path: Path
    columns: dict[str, str]
    max_rows: int | None
    delimiter: str | None
    skip_bad_rows: bool

    def refuse_columns(self, content: str, names: Collection[str] = ("text", "pair", "label")) -> None:
        """Raise if one of the named columns is given for a file without such columns."""
        for name, column in self.columns.items():
            if name in names:
                raise KerasBertError(
                    f"{self.path}: expected no {name} column for a file of {content}, received {column!r}; leave out `{name}=`"
                )

    def refuse_delimiter(self, content: str) -> None:
        """Raise if a delimiter is given for a file without columns."""
        if self.delimiter is not None:
            raise KerasBertError(
                f"{self.path}: expected no delimiter for a file of {content}, received {self.delimiter!r}; leave out `delimiter=`"
            )

    def column_number(self, name: str, default: int) -> int:
        """Return the number of a CoNLL column, or raise if the user gave a name."""
        column = self.columns.get(name)
        if column is None:
            return default
        try:
            return int(column)
        except ValueError:
            raise KerasBertError(
                f"{self.path}: expected a column number from 0 on, as CoNLL's columns have no names, received {column!r}; give one with "
                f"`{name}=`"
            ) from None


def _read_texts(request: _Request) -> TextTable:
    return read_table(
        request.path,
        **request.columns,
        max_rows=request.max_rows,
        delimiter=request.delimiter,
        skip_bad_rows=request.skip_bad_rows,
    )


def _read_tagged(request: _Request) -> Dataset:
    from kerasbert.data.conll import read_conll
    from kerasbert.data.tagged_tables import read_tagged_table

    request.refuse_columns("words with tags", ("pair",))
    if data_suffix(request.path) == ".csv":
        return read_tagged_table(
            request.path,
            **request.columns,
            max_rows=request.max_rows,
            delimiter=request.delimiter,
            skip_bad_rows=request.skip_bad_rows,
        )
    return read_conll(
        request.path,
        word_column=request.column_number("text", 0),
        tag_column=request.column_number("label", -1),
        separator=request.delimiter,
        max_rows=request.max_rows,
        skip_bad_rows=request.skip_bad_rows,
    )


def _read_questions(request: _Request) -> Dataset:
    from kerasbert.data.squad import read_squad

    request.refuse_columns("questions with answers")
    request.refuse_delimiter("questions with answers in JSON")
    return read_squad(request.path, max_rows=request.max_rows, skip_bad_rows=request.skip_bad_rows)


def _read_choices(request: _Request) -> Dataset:
    from kerasbert.data.choices import read_choices

    request.refuse_columns("prompts with choices", ("pair",))
    return read_choices(
        request.path,
        prompt=request.columns.get("text"),
        label=request.columns.get("label"),
        max_rows=request.max_rows,
        delimiter=request.delimiter,
        skip_bad_rows=request.skip_bad_rows,
    )


def _read_plain_texts(request: _Request) -> Dataset:
    from kerasbert.data.plain_text import read_text

    request.refuse_columns("texts alone", ("pair", "label"))
    if is_tabular(request.path, request.delimiter):
        return replace(_read_texts(request), pairs=None, labels=None)
    request.refuse_columns("lines of text")
    return read_text(request.path, max_rows=request.max_rows)


_READERS: dict[str, Callable[[_Request], Dataset]] = {
    "tagging": _read_tagged,
    "question_answering": _read_questions,
    "multiple_choice": _read_choices,
    "masked_lm": _read_plain_texts,
}
