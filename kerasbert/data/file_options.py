"""How a data file is read, as one value, which the options of commands declare."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from kerasbert.arguments import argument
from kerasbert.data.delimiters import parse_delimiter
from kerasbert.files.record import Options, setting


@dataclass(frozen=True)
class FileOptions(Options):
    """How files are read. Columns are the prompt's of multiple choice, and the words' and tags' of CoNLL, where columns have numbers.

    Raises:
        KerasBertError: When a value has another type, or is out of range.
    """

    text_column: str | int | None = setting(None, "Column of the text: a name, or a number counted from 0.", "NAME|N")
    pair_column: str | int | None = setting(
        None, "Column of the second text, for pairs: a name, or a number counted from 0.", "NAME|N"
    )
    label_column: str | int | Sequence[str] | None = setting(
        None,
        "Column of the label: a name, or a number from 0. Multi-label: also several columns of 0 and 1, as A,B,C.",
        "NAME|N",
    )
    delimiter: str | None = setting(
        None, "Column separator: one character, or comma, semicolon, tab or pipe. Default: detected.", "X"
    )
    encoding: str | None = setting(
        None, "Encoding of the data files, such as cp1252. Default: UTF-8, or UTF-16 with a byte order mark.", "NAME"
    )
    label_separator: str | None = setting(
        None,
        "Separator of labels in a multi-label cell: one character, or a name as for --delimiter. Default: detected.",
        "X",
    )
    skip_bad_rows: bool = setting(False, "Skip rows that cannot be read; report their number and the first three.", "")
    max_rows: int | None = setting(None, "Maximum number of rows to read from each file.", at_least=1)

    @classmethod
    def label(cls, name: str) -> str:
        return argument(name.removesuffix("_column"))

    @classmethod
    def of(cls, options: object | None) -> "FileOptions":
        """The options that an object has as attributes of the same names, such as a `TrainConfig`; the defaults for None."""
        if options is None or isinstance(options, cls):
            return options or cls()
        return cls(**{field.name: getattr(options, field.name) for field in fields(cls)})

    @property
    def separator(self) -> str | None:
        """The character between columns; None detects it."""
        return None if self.delimiter is None else parse_delimiter(self.delimiter)

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that are named, under `text`, `pair` and `label`."""
        named: dict[str, Any] = {"text": self.text_column, "pair": self.pair_column, "label": self.label_column}
        return {name: column for name, column in named.items() if column is not None}

    @property
    def limits(self) -> dict[str, Any]:
        """`max_rows`, `skip_bad_rows`, `encoding` and `delimiter`, as the readers take them."""
        return {
            "max_rows": self.max_rows,
            "skip_bad_rows": self.skip_bad_rows,
            "encoding": self.encoding,
            "delimiter": self.separator,
        }
