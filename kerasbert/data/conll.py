"""Words with tags: the columns of CoNLL's shared tasks and their kin, a sentence a line, and JSON lines."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from kerasbert.data.records import read_lines, read_records
from kerasbert.data.table import Table, quantiles
from kerasbert.errors import KerasBertError
from kerasbert.problems.entities import SCHEMES, converted, scheme_of, spans, without_suffixes

_DOCUMENT = "-DOCSTART-"
_BLANKS = re.compile("[ \t]+")
_RANGE = re.compile(r"\d+[-.]\d+")  # CoNLL-U's lines of several words, and of words that are not written
_CONLL_U = 10  # columns
_LISTED = 20
_WORDS, _TAGS = ("words", "tokens"), ("tags", "ner_tags", "labels")  # keys of JSON lines, in the order of preference

Sentence = tuple[list[str], list[str] | None]


@dataclass(frozen=True)
class ConllTable(Table):
    """x: the words of each sentence; y: the tag of each word, or None.

    Attributes:
      scheme: how the file's tags are written (see `kerasbert.problems.entities`), None where they mark no entities.
    """

    scheme: str | None = None

    def kind(self):
        return "sentences"

    def told_labels(self):
        words = f"{sum(map(len, self.x)):,} words"
        if self.y is None:
            return f"{words}; no tags"
        if self.scheme is None:
            return f"{words}; {_told('tags', Counter(tag for tags in self.y for tag in tags))}"
        return f"{words}; {_told('entities', Counter(span.label for tags in self.y for span in spans(tags)))}"

    def texts(self):
        return [" ".join(words) for words in self.x]

    def remarks(self):
        return [quantiles("words", [len(words) for words in self.x])]


def read_conll(
    path: str | os.PathLike,
    *,
    word_column: int = 0,
    tag_column: int | None = -1,
    separator: str | None = None,
    scheme: str | None = "iob2",
    max_rows: int | None = None,
) -> ConllTable:
    """Reads a word a line with its tag, sentences with blank lines between them; or `.jsonl` with a sentence an object.

    UTF-8, each also with `.gz`. Lines with `-DOCSTART-` are passed over. Between tabs, a line that begins with `#` and has not as many
    columns as the others is a comment (CoNLL-U, GermEval); elsewhere `#` is a word. In CoNLL-U's ten columns, lines of several words and of
    words that are not written are passed over: its words are column 1, its parts of speech column 3. Objects hold `words` or `tokens`, and
    `tags`, `ner_tags` or `labels`, which are names.

    Args:
      path: the file.
      word_column, tag_column: numbers from 0 on, or from -1 back; a `tag_column` of None reads no tags.
      separator: what stands between columns; by default a tab if the first line has one, else spaces or tabs, one or more.
      scheme: what tags that mark entities are converted to, see `kerasbert.problems.entities`; None keeps them as they are.
      max_rows: read no more sentences than this.

    Raises:
      KerasBertError: a file that cannot be read or is not UTF-8, a line with another number of columns than the first one, a column that is
        not there, a tag with a space in it, or no sentence.
    """
    path = Path(path)
    if Path(path.name.removesuffix(".gz")).suffix.lower() == ".jsonl":
        return _table(path, _of_objects(path), scheme, max_rows)
    return _table(path, _of_columns(path, _columns(path, separator), word_column, tag_column), scheme, max_rows)


def read_tagged_lines(
    path: str | os.PathLike, *, scheme: str | None = "iob2", max_rows: int | None = None
) -> ConllTable:
    """Reads a sentence a line: its words, a tab, and their tags, both with spaces between them. UTF-8, also with `.gz`.

    Tags may have their prefix behind, `PER-B`, as those of Naver's NER corpus; they are turned round. scheme, max_rows: as `read_conll`.

    Raises:
      KerasBertError: a file that cannot be read or is not UTF-8, a line without exactly one tab, or with another number of tags than of
        words, or no sentence.
    """
    path = Path(path)
    return _table(path, _of_lines(path), scheme, max_rows)


def _table(path: Path, sentences: Iterator[Sentence], scheme: str | None, max_rows: int | None) -> ConllTable:
    if scheme is not None and scheme not in SCHEMES:
        raise KerasBertError(f"Expected a scheme of {', '.join(SCHEMES)}, or None. Received: {scheme!r}.")
    if max_rows is not None and max_rows < 1:
        raise KerasBertError(f"Expected max_rows of at least 1. Received: {max_rows}.")
    found = list(islice(sentences, max_rows))
    if not found:
        raise KerasBertError(f"Expected sentences of words with tags in {path}. Received: none.")
    x = [words for words, _ in found]
    if found[0][1] is None:
        return ConllTable(path, x, None)
    y = without_suffixes([tags for _, tags in found])
    own = scheme_of(y)
    if own is not None and scheme is not None:
        y = [converted(tags, scheme) for tags in y]
    return ConllTable(path, x, y, own)


def _columns(path: Path, separator: str | None) -> Iterator[tuple[int, list[str]]]:
    """(Line number, cells); no cells between sentences."""
    lines, head = read_lines(path), []
    for numbered in lines:
        head.append(numbered)
        if numbered[1].strip() and not numbered[1].startswith(("#", _DOCUMENT)):
            break
    # The first line that is surely no comment tells what the lines are like.
    sample = next((line for _, line in reversed(head) if line.strip()), "")
    separator = separator or ("\t" if "\t" in sample else " ")
    width = len(_cells(sample, separator))
    for number, line in chain(head, lines):
        cells = _cells(line, separator)
        if not line.strip(" \t\r\n") or cells[0].startswith(_DOCUMENT):
            yield number, []
        elif len(cells) == width:
            if width != _CONLL_U or not _RANGE.fullmatch(cells[0]):
                yield number, cells
        elif separator != "\t" or not line.startswith("#"):
            raise KerasBertError(
                f"Expected {width} columns in {path}, as in its first line. Received: {len(cells)} on line {number}."
            )


def _cells(line: str, separator: str) -> list[str]:
    line = line.rstrip("\r\n")
    return _BLANKS.split(line.strip(" \t")) if separator == " " else line.split(separator)


def _of_columns(path: Path, rows, word_column: int, tag_column: int | None) -> Iterator[Sentence]:
    words: list[str] = []
    tags: list[str] = []
    checked = False
    for number, cells in rows:
        if not cells:
            if words:
                yield words, None if tag_column is None else tags
            words, tags = [], []
            continue
        if not checked:
            _check_columns(path, number, cells, word_column, tag_column)
            checked = True
        words.append(cells[word_column])
        if tag_column is not None:
            tags.append(_tag(path, number, cells[tag_column]))
    if words:
        yield words, None if tag_column is None else tags


def _check_columns(path: Path, number: int, cells: Sequence[str], word_column: int, tag_column: int | None) -> None:
    for what, column in (("words", word_column), ("tags", tag_column)):
        if column is not None and not -len(cells) <= column < len(cells):
            raise KerasBertError(
                f"Expected a column {column} of {what} in {path}. Received: {len(cells)} columns on line {number}."
            )
    if tag_column is not None and word_column % len(cells) == tag_column % len(cells):
        raise KerasBertError(
            f"Expected words and tags in two columns of {path}. Received: {len(cells)} columns on line {number}, "
            f"of which column {word_column % len(cells)} for both."
        )


def _tag(path: Path, number: int, tag: str) -> str:
    if not tag or len(tag.split()) != 1:
        raise KerasBertError(
            f"Expected one tag in each line of {path}. Received: {tag[:40]!r} on line {number}. "
            "A sentence a line is read by read_tagged_lines."
        )
    return tag.strip()


def _of_lines(path: Path) -> Iterator[Sentence]:
    for number, line in read_lines(path):
        line = line.rstrip("\r\n")
        if not line.strip():
            continue
        parts = line.split("\t")
        if len(parts) != 2:
            raise KerasBertError(
                f"Expected words, a tab and tags in each line of {path}. Received: {len(parts) - 1} tabs on line {number}."
            )
        words, tags = (_BLANKS.split(part.strip(" ")) for part in parts)
        _same_number(path, number, words, tags)
        yield words, tags


def _of_objects(path: Path) -> Iterator[Sentence]:
    keys = None
    for number, row in read_records(path):
        if keys is None:
            keys = _key(path, row, _WORDS, "words"), next((key for key in _TAGS if key in row), None)
        words = _strings(path, number, row, keys[0])
        tags = None if keys[1] is None else _strings(path, number, row, keys[1])
        if tags is not None:
            _same_number(path, number, words, tags)
        yield words, tags


def _key(path: Path, row: dict, names: Sequence[str], what: str) -> str:
    for name in names:
        if name in row:
            return name
    raise KerasBertError(f"Expected {what} in {path}, as {' or '.join(names)}. Received keys: {', '.join(row)}.")


def _strings(path: Path, number: int, row: dict, key: str) -> list[str]:
    values = row.get(key)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise KerasBertError(f"Expected {key!r} as a list of strings in {path}. Received: {values!r} on line {number}.")
    return values


def _same_number(path: Path, number: int, words: Sequence[str], tags: Sequence[str]) -> None:
    if len(words) != len(tags):
        raise KerasBertError(
            f"Expected one tag a word in {path}. Received: {len(words)} words, {len(tags)} tags on line {number}."
        )


def _told(what: str, counts: Counter) -> str:
    if len(counts) > _LISTED:
        return f"{len(counts)} distinct {what}"
    return (
        f"{what} " + ", ".join(f"{name}: {count:,}" for name, count in sorted(counts.items()))
        if counts
        else f"no {what}"
    )
