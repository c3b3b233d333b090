"""A file to the table that a problem's examples come from."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kerasbert.data.records import FORMATS
from kerasbert.data.table import Table
from kerasbert.data.tables import TextTable, read_table
from kerasbert.errors import KerasBertError


def read_for(
    problem: str,
    path: str | os.PathLike,
    *,
    text: str | None = None,
    pair: str | None = None,
    label: str | None = None,
    max_rows: int | None = None,
) -> Table | TextTable:
    """Reads a file as a problem of `kerasbert.problems` asks for.

    Texts with labels, scores or nothing: a table (`read_table`). `tagging`: CoNLL columns or JSON lines (`read_conll`).
    `question_answering`: SQuAD's JSON (`read_squad`). `multiple_choice`: prompts and choices (`read_choices`). `masked_lm`: lines of text
    (`read_text`), or the texts of a table.

    Args:
      problem: the problem's name.
      path: the file.
      text, pair, label: columns by name or number, where the file has any; `text` is the prompt's of multiple choice, and the words' of
        CoNLL, whose columns are numbers.
      max_rows: read no more examples than this.

    Raises:
      KerasBertError: a column for a file that has none, and what the reader raises.
    """
    reader = _READERS.get(problem, _table)
    columns = {"text": text, "pair": pair, "label": label}
    return reader(Path(path), {name: column for name, column in columns.items() if column is not None}, max_rows)


def _table(path: Path, columns: dict[str, str], max_rows: int | None) -> TextTable:
    return read_table(path, **columns, max_rows=max_rows)


def _tagged(path: Path, columns: dict[str, str], max_rows: int | None) -> Table:
    from kerasbert.data.conll import read_conll

    _no_columns(path, {name: column for name, column in columns.items() if name == "pair"}, "words with tags")
    names = {"text": "word_column", "label": "tag_column"}
    numbers = {names[name]: _number(path, name, column) for name, column in columns.items()}
    return read_conll(path, **numbers, max_rows=max_rows)


def _questions(path: Path, columns: dict[str, str], max_rows: int | None) -> Table:
    from kerasbert.data.squad import read_squad

    _no_columns(path, columns, "questions with answers")
    return read_squad(path, max_rows=max_rows)


def _choices(path: Path, columns: dict[str, str], max_rows: int | None) -> Table:
    from kerasbert.data.choices import read_choices

    _no_columns(path, {name: column for name, column in columns.items() if name == "pair"}, "prompts with choices")
    return read_choices(path, prompt=columns.get("text"), label=columns.get("label"), max_rows=max_rows)


def _plain(path: Path, columns: dict[str, str], max_rows: int | None) -> Table | TextTable:
    from kerasbert.data.plain_text import read_text

    _no_columns(path, {name: column for name, column in columns.items() if name != "text"}, "texts alone")
    if Path(path.name.removesuffix(".gz")).suffix.lower() in FORMATS:
        table = read_table(path, text=columns.get("text"), max_rows=max_rows)
        return replace(table, pairs=None, labels=None)
    _no_columns(path, columns, "lines of text")
    return read_text(path, max_rows=max_rows)


def _number(path: Path, name: str, column: str) -> int:
    try:
        return int(column)
    except ValueError:
        raise KerasBertError(
            f"Expected the {name} column of {path}, whose columns have no names, as a number. Received: {column!r}."
        ) from None


def _no_columns(path: Path, columns: dict[str, str], what: str) -> None:
    if columns:
        name, column = next(iter(columns.items()))
        raise KerasBertError(f"Expected no {name} column for {path}, a file of {what}. Received: {column!r}.")


_READERS: dict[str, Callable] = {
    "tagging": _tagged,
    "question_answering": _questions,
    "multiple_choice": _choices,
    "masked_lm": _plain,
}
