"""The columns of CoNLL files: cells of each line, and which columns hold the words and the tags."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from kerasbert.arguments import argument
from kerasbert.console.output import note
from kerasbert.console.strictness import unknown
from kerasbert.data.bad_rows import BadRows, peek
from kerasbert.data.entities import OUTSIDE, PREFIXES
from kerasbert.data.lines import read_lines
from kerasbert.errors import KerasBertError

BLANKS = re.compile("[ \t]+")
DOCUMENT = "-DOCSTART-"
FIRST, LAST = 0, -1  # the columns of words and of tags, if none are named
_RANGE = re.compile(r"\d+[-.]\d+")  # ids of CoNLL-U's multiword tokens and empty nodes
_CONLL_U = 10  # columns
_FORM, _UPOS, _XPOS = 1, 3, 4  # columns of CoNLL-U
_SAMPLE = 2000  # lines by which columns are recognized
_MIN_LINES = 100  # by which a column is judged that may be the wrong one

Line = tuple[int, list[str] | None]  # number and cells: empty between sentences, None for a bad line


def split_columns(path: Path, separator: str | None, bad: BadRows, encoding: str | None = None) -> Iterator[Line]:
    """Yield the lines of a file.

    Args:
        path: The file.
        separator: The string between columns, or None to detect it.
        bad: Handles lines with another number of columns.
        encoding: As for `read_lines`.
    """
    lines, head = read_lines(path, encoding), []
    for numbered in lines:
        head.append(numbered)
        if numbered[1].strip() and not numbered[1].startswith(("#", DOCUMENT)):
            break
    # The first line that cannot be a comment shows the form of the others.
    sample = next((line for _, line in reversed(head) if line.strip()), "")
    separator = separator or ("\t" if "\t" in sample else " ")
    width = len(_split_cells(sample, separator))
    for number, line in chain(head, lines):
        cells = _split_cells(line, separator)
        if not line.strip(" \t\r\n") or cells[0].startswith(DOCUMENT):
            yield number, []
        elif len(cells) == width:
            if width != _CONLL_U or not _RANGE.fullmatch(cells[0]):
                yield number, cells
        elif separator != "\t" or not line.startswith("#"):
            bad.refuse(number, f"expected {width} columns, as in the first line, received {len(cells)}")
            yield number, None


def has_columns(path: Path, encoding: str | None = None) -> bool:
    """Tell whether a file has columns: its first lines have as many cells each, which lines of texts have not.

    Args:
        path: The file.
        encoding: As for `read_lines`.
    """
    sample, _ = peek((line for _, line in read_lines(path, encoding) if line.strip()), _SAMPLE)
    lines = [line for line in sample if not line.startswith(("#", DOCUMENT))]
    separator = "\t" if lines and "\t" in lines[0] else " "
    return len({len(_split_cells(line, separator)) for line in lines}) == 1


def _split_cells(line: str, separator: str) -> list[str]:
    line = line.rstrip("\r\n")
    return BLANKS.split(line.strip(" \t")) if separator == " " else line.split(separator)


def choose_columns(
    path: Path, lines: Iterator[Line], word_column: int, tag_column: int | None
) -> tuple[Iterator[Line], int, int | None]:
    """Choose the columns of words and tags by the first lines of a file.

    A column that is not the first, or not the last, was named by the user. Otherwise CoNLL-U and files with the tag before the word are
    recognized, with a note, and a column that cannot hold words is refused.

    Args:
        path: The file.
        lines: The lines of the file; do not use them afterwards.
        word_column: The column of the words.
        tag_column: The column of the tags; None reads no tags.

    Returns:
        The lines, and the two columns.

    Raises:
        KerasBertError: When a column does not exist, or does not hold words.
    """
    sample, lines = peek(lines, _SAMPLE)
    rows = [cells for _, cells in sample if cells]
    if not rows:
        return lines, word_column, tag_column
    number = next(number for number, cells in sample if cells)
    if len(rows[0]) == _CONLL_U and _counts_words(sample):
        word_column, tag_column = _conll_u_columns(path, rows, word_column, tag_column)
    elif (word_column, tag_column) == (FIRST, LAST) and _has_tags_first(rows):
        word_column, tag_column = len(rows[0]) - 1, 0
        note(f"note: {path}: column 0 holds the tags, and column {word_column} the words")
    _check_columns(path, number, rows[0], word_column, tag_column)
    _check_words(path, sample, rows, word_column)
    if tag_column is not None:
        _check_tags(path, rows, tag_column)
    return lines, word_column, tag_column


def _counts_words(sample: Sequence[Line]) -> bool:
    """Tell whether the first column counts the words of each sentence, from 0 or 1 on."""
    expected: set[int] | None = {0, 1}  # None after a line that cannot be read
    seen = 0
    for _, cells in sample:
        if not cells:
            expected = None if cells is None else {0, 1}
            continue
        if _RANGE.fullmatch(cells[0]):
            continue
        number = int(cells[0]) if cells[0].isascii() and cells[0].isdecimal() and len(cells[0]) < 7 else -1
        if number < 0 or (expected is not None and number not in expected):
            return False
        expected = {number + 1, 0, 1}
        seen += 1
    return seen > 1


def _conll_u_columns(
    path: Path, rows: Sequence[Sequence[str]], word_column: int, tag_column: int | None
) -> tuple[int, int | None]:
    chosen = []
    if word_column == FIRST:
        word_column = _FORM
        chosen.append(f"words of column {_FORM} (FORM)")
    if tag_column == LAST:
        empty = all(cells[_UPOS] == "_" for cells in rows)
        tag_column = _XPOS if empty else _UPOS
        chosen.append(f"tags of column {tag_column} ({'XPOS' if empty else 'UPOS'})")
    if chosen:
        note(f"note: {path}: CoNLL-U is read with {' and '.join(chosen)}")
    return word_column, tag_column


def _has_tags_first(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first column holds tags of entities, and the last one something else."""
    return _are_tags({cells[0] for cells in rows}) and not _are_tags({cells[-1] for cells in rows})


def _are_tags(values: set[str]) -> bool:
    entities = values - {OUTSIDE}
    return bool(entities) and all(tag[1:2] == "-" and tag[0] in PREFIXES and tag[2:] for tag in entities)


def _check_columns(path: Path, number: int, cells: Sequence[str], word_column: int, tag_column: int | None) -> None:
    for content, column in (("words", word_column), ("tags", tag_column)):
        if column is not None and not -len(cells) <= column < len(cells):
            raise KerasBertError(
                f"expected a column {column} of {content} in {path}, received {len(cells)} columns on line {number}"
            )
    if tag_column is not None and word_column % len(cells) == tag_column % len(cells):
        raise KerasBertError(
            f"expected words and tags in two columns of {path}, received {len(cells)} columns on line {number}, "
            f"of which column {word_column % len(cells)} for both"
        )


def _check_words(path: Path, sample: Sequence[Line], rows: Sequence[Sequence[str]], column: int) -> None:
    """Refuse a column that counts words, or is the same on all lines, as in CoNLL-2009, CoNLL-2012 and GermEval.

    Raises:
        KerasBertError: When the column does not hold words.
    """
    words = {cells[column] for cells in rows}
    received = ""
    if column == FIRST and len(rows[0]) > 2 and _counts_words(sample):
        received = "numbers that count them"
    elif len(rows) >= _MIN_LINES and len(words) == 1:
        received = f"{words.pop()[:40]!r} in the first {len(rows):,} lines"
    if received:
        raise KerasBertError(
            f"{path}: expected words in column {column}, received {received}; "
            f"name the columns of words and tags with {argument('text')} and {argument('label')}"
        )


def _check_tags(path: Path, rows: Sequence[Sequence[str]], column: int) -> None:
    """Report a column of tags with more different values than tags have."""
    tags = {cells[column] for cells in rows}
    if len(rows) >= _MIN_LINES and len(tags) > len(rows) / 2:
        unknown(
            path, "a column of tags", f"column {column % len(rows[0])} with {len(tags):,} different cells in {len(rows):,} lines",
            "read as tags",
        )  # fmt: skip
