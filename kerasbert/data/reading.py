"""A file to the table that a problem's examples come from."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from kerasbert.data.delimiters import delimiter_named
from kerasbert.data.records import data_suffix, is_tabular
from kerasbert.data.table import Table
from kerasbert.data.tables import TextTable, read_table
from kerasbert.errors import KerasBertError


@dataclass(frozen=True)
class FileOptions:
    """How files are read, as the options of a command have it; see `read_for`."""

    text_column: str | None = None
    pair_column: str | None = None
    label_column: str | None = None
    max_rows: int | None = None
    delimiter: str | None = None
    skip_bad_rows: bool = False


def read_with(problem: str, path: str | os.PathLike, options) -> Table | TextTable:
    """`read_for` with `FileOptions`, or anything else with attributes of their names."""
    return read_for(
        problem, path, text=options.text_column, pair=options.pair_column, label=options.label_column, max_rows=options.max_rows,
        delimiter=options.delimiter, skip_bad_rows=options.skip_bad_rows,
    )  # fmt: skip


def read_for(
    problem: str,
    path: str | os.PathLike,
    *,
    text: str | None = None,
    pair: str | None = None,
    label: str | None = None,
    max_rows: int | None = None,
    delimiter: str | None = None,
    skip_bad_rows: bool = False,
) -> Table | TextTable:
    """Reads a file as a problem of `kerasbert.processors` asks for.

    Texts with labels, scores or nothing: a table (`read_table`). `tagging`: CoNLL columns or JSON lines (`read_conll`), or a CSV file
    (`read_tagged_table`). `question_answering`: SQuAD's JSON (`read_squad`). `multiple_choice`: prompts and choices (`read_choices`).
    `masked_lm`: lines of text (`read_text`), or the texts of a table.

    Args:
      problem: the problem's name.
      path: the file.
      text, pair, label: columns by name or number, where the file has any; `text` is the prompt's of multiple choice, and the words' of
        CoNLL, whose columns are numbers.
      max_rows: read no more examples than this.
      delimiter: what separates the columns of a table: a character, or comma, semicolon, tab, pipe or space; by default as the file shows.
      skip_bad_rows: leave out rows that cannot be read, and count them in the table's `bad`; else the first one raises.

    Raises:
      KerasBertError: a column for a file that has none, and what the reader raises.
    """
    reader = _READERS.get(problem, _table)
    columns = {"text": text, "pair": pair, "label": label}
    given = {name: column for name, column in columns.items() if column is not None}
    how = {
        "max_rows": max_rows, "skip_bad_rows": skip_bad_rows, "delimiter": None if delimiter is None else delimiter_named(delimiter)
    }  # fmt: skip
    return reader(Path(path), given, how)


def _table(path: Path, columns: dict[str, str], how: dict) -> TextTable:
    return read_table(path, **columns, **how)


def _tagged(path: Path, columns: dict[str, str], how: dict) -> Table:
    from kerasbert.data.conll import read_conll
    from kerasbert.data.tagged_tables import read_tagged_table

    _no_columns(path, {name: column for name, column in columns.items() if name == "pair"}, "words with tags")
    if data_suffix(path) == ".csv":
        return read_tagged_table(path, **columns, **how)
    names = {"text": "word_column", "label": "tag_column"}
    numbers = {names[name]: _number(path, name, column) for name, column in columns.items()}
    return read_conll(path, **numbers, separator=how.pop("delimiter"), **how)


def _questions(path: Path, columns: dict[str, str], how: dict) -> Table:
    from kerasbert.data.squad import read_squad

    _no_columns(path, columns, "questions with answers")
    _no_delimiter(path, how, "questions with answers in JSON")
    return read_squad(path, **how)


def _choices(path: Path, columns: dict[str, str], how: dict) -> Table:
    from kerasbert.data.choices import read_choices

    _no_columns(path, {name: column for name, column in columns.items() if name == "pair"}, "prompts with choices")
    return read_choices(path, prompt=columns.get("text"), label=columns.get("label"), **how)


def _plain(path: Path, columns: dict[str, str], how: dict) -> Table | TextTable:
    from kerasbert.data.plain_text import read_text

    _no_columns(path, {name: column for name, column in columns.items() if name != "text"}, "texts alone")
    if is_tabular(path, how["delimiter"]):
        return replace(read_table(path, text=columns.get("text"), **how), pairs=None, labels=None)
    _no_columns(path, columns, "lines of text")
    return read_text(path, max_rows=how["max_rows"])


def _number(path: Path, name: str, column: str) -> int:
    try:
        return int(column)
    except ValueError:
        raise KerasBertError(
            f"{path}: expected a column number from 0 on, as CoNLL's columns have no names, received {column!r}; give one with `{name}=`"
        ) from None


def _no_columns(path: Path, columns: dict[str, str], what: str) -> None:
    if columns:
        name, column = next(iter(columns.items()))
        raise KerasBertError(
            f"{path}: expected no {name} column for a file of {what}, received {column!r}; leave out `{name}=`"
        )


def _no_delimiter(path: Path, how: dict, what: str) -> None:
    if (delimiter := how.pop("delimiter")) is not None:
        raise KerasBertError(
            f"{path}: expected no delimiter for a file of {what}, received {delimiter!r}; leave out `delimiter=`"
        )


_READERS: dict[str, Callable] = {
    "tagging": _tagged,
    "question_answering": _questions,
    "multiple_choice": _choices,
    "masked_lm": _plain,
}
