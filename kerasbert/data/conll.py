"""Words with tags: the columns of CoNLL's shared tasks and their kin, a sentence a line, and JSON lines."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from kerasbert.data.bad_rows import BadRows
from kerasbert.data.lines import read_lines
from kerasbert.data.records import data_suffix, read_records
from kerasbert.data.table import Table, quantiles
from kerasbert.errors import KerasBertError
from kerasbert.processors.token_classification.entities import SCHEMES, converted, scheme_of, spans, without_suffixes

_DOCUMENT = "-DOCSTART-"
_BLANKS = re.compile("[ \t]+")
_RANGE = re.compile(r"\d+[-.]\d+")  # CoNLL-U's lines of several words, and of words that are not written
_CONLL_U = 10  # columns
_LISTED = 20
_WORDS, _TAGS = ("words", "tokens"), ("tags", "ner_tags", "labels")  # keys of JSON lines, in the order of preference

Sentence = tuple[int, list[str], list[str] | None]  # the line it begins on, words, tags


@dataclass(frozen=True)
class ConllTable(Table):
    """x: the words of each sentence; y: the tag of each word, or None.

    Attributes:
      scheme: how the file's tags are written (see `kerasbert.processors.token_classification.entities`), None where they mark no entities.
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
    skip_bad_rows: bool = False,
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
      scheme: what tags that mark entities are converted to, see `kerasbert.processors.token_classification.entities`; None keeps them
      as they are. max_rows: read no more sentences than this.
      skip_bad_rows: leave out sentences with a line that cannot be read, and count those lines in `Table.bad`.

    Raises:
      KerasBertError: a file that cannot be read or is not UTF-8, a line with another number of columns than the first one, a column that is
        not there, a tag with a space in it, or no sentence.
    """
    path = Path(path)
    bad = BadRows(path, skip_bad_rows)
    if data_suffix(path) == ".jsonl":
        return tagged_table(bad, _of_objects(path, bad), scheme, max_rows)
    rows = _columns(path, separator, bad)
    return tagged_table(bad, _of_columns(path, rows, word_column, tag_column, bad), scheme, max_rows)


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
    return tagged_table(BadRows(path), _of_lines(path), scheme, max_rows)


def tagged_table(
    bad: BadRows, sentences: Iterator[Sentence], scheme: str | None = "iob2", max_rows: int | None = None
) -> ConllTable:
    """The table of some sentences, their tags in one scheme. Raises KerasBertError where there are none."""
    path = bad.path
    if scheme is not None and scheme not in SCHEMES:
        raise KerasBertError(f"expected a scheme of {', '.join(SCHEMES)}, or None, received {scheme!r}")
    if max_rows is not None and max_rows < 1:
        raise KerasBertError(f"expected max_rows of at least 1, received {max_rows}")
    found = list(islice(sentences, max_rows))
    if not found:
        left_out = f"; {bad.describe()}" if bad.count else ""
        raise KerasBertError(f"{path}: expected sentences of words with tags, received none{left_out}")
    lines, x, tags = (list(column) for column in zip(*found, strict=True))
    if tags[0] is None:
        return ConllTable(path, x, None, lines=lines, bad=bad)
    y = without_suffixes(tags)
    own = scheme_of(y)
    if own is not None and scheme is not None:
        y = [converted(tags, scheme) for tags in y]
    return ConllTable(path, x, y, own, lines=lines, bad=bad)


def _columns(path: Path, separator: str | None, bad: BadRows) -> Iterator[tuple[int, list[str] | None]]:
    """(Line number, cells); no cells between sentences, None for a bad line."""
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
            bad.refuse(number, f"expected {width} columns, as in the first line, received {len(cells)}")
            yield number, None


def _cells(line: str, separator: str) -> list[str]:
    line = line.rstrip("\r\n")
    return _BLANKS.split(line.strip(" \t")) if separator == " " else line.split(separator)


def _of_columns(path: Path, rows, word_column: int, tag_column: int | None, bad: BadRows) -> Iterator[Sentence]:
    sentence = _Sentence(tag_column is not None)
    checked = False
    for number, cells in rows:
        if cells == []:
            yield from sentence.taken()
            sentence = _Sentence(tag_column is not None)
            continue
        if cells is None:
            sentence.whole = False
            continue
        if not checked:
            _check_columns(path, number, cells, word_column, tag_column)
            checked = True
        tag = "O" if tag_column is None else cells[tag_column]
        if not tag or len(tag.split()) != 1:
            bad.refuse(
                number, f"expected one tag, received {tag[:40]!r}", "a sentence a line is read by read_tagged_lines"
            )
            sentence.whole = False
        sentence.add(number, cells[word_column], tag.strip())
    yield from sentence.taken()


class _Sentence:
    """The words of a sentence so far. whole: whether all of its lines could be read."""

    def __init__(self, tagged: bool):
        self._line, self._words, self._tags, self.whole = 0, [], [] if tagged else None, True

    def add(self, line: int, word: str, tag: str) -> None:
        self._line = self._line or line
        self._words.append(word)
        if self._tags is not None:
            self._tags.append(tag)

    def taken(self) -> list[Sentence]:
        return [(self._line, self._words, self._tags)] if self._words and self.whole else []


def _check_columns(path: Path, number: int, cells: Sequence[str], word_column: int, tag_column: int | None) -> None:
    for what, column in (("words", word_column), ("tags", tag_column)):
        if column is not None and not -len(cells) <= column < len(cells):
            raise KerasBertError(
                f"expected a column {column} of {what} in {path}, received {len(cells)} columns on line {number}"
            )
    if tag_column is not None and word_column % len(cells) == tag_column % len(cells):
        raise KerasBertError(
            f"expected words and tags in two columns of {path}, received {len(cells)} columns on line {number}, "
            f"of which column {word_column % len(cells)} for both"
        )


def _of_lines(path: Path) -> Iterator[Sentence]:
    for number, line in read_lines(path):
        line = line.rstrip("\r\n")
        if not line.strip():
            continue
        parts = line.split("\t")
        if len(parts) != 2:
            raise KerasBertError(
                f"expected words, a tab and tags in each line of {path}, received {len(parts) - 1} tabs on line {number}"
            )
        words, tags = (_BLANKS.split(part.strip(" ")) for part in parts)
        if len(words) != len(tags):
            raise KerasBertError(f"{path}, line {number}: {_unlike(words, tags)}")
        yield number, words, tags


def _of_objects(path: Path, bad: BadRows) -> Iterator[Sentence]:
    keys = None
    for number, row in read_records(path, bad=bad).rows:
        if keys is None:
            keys = _key(path, row, _WORDS, "words"), next((key for key in _TAGS if key in row), None)
        words, tags = (None if key is None else row.get(key) for key in keys)
        if fault := _fault(keys, words, tags):
            bad.refuse(number, fault)
        else:
            yield number, words, tags


def _fault(keys, words, tags) -> str:
    """What is wrong with a sentence; "" for nothing."""
    for key, values in zip(keys, (words, tags), strict=True):
        if key is not None and not (isinstance(values, list) and all(isinstance(value, str) for value in values)):
            return f"expected {key!r} as a list of strings, received {str(values)[:40]!r}"
    if fault := tags_fault(tags or ()):
        return fault
    return _unlike(words, tags) if tags is not None and len(words) != len(tags) else ""


def tags_fault(tags: Sequence[str]) -> str:
    """What is wrong with one of a sentence's tags, which are names without white space in them; "" for nothing."""
    wrong = next((tag for tag in tags if len(tag.split()) != 1), None)
    return "" if wrong is None else f"expected one tag for each word, received {wrong[:40]!r}"


def _unlike(words: Sequence[str], tags: Sequence[str]) -> str:
    return f"expected one tag a word, received {len(words)} words and {len(tags)} tags"


def _key(path: Path, row: dict, names: Sequence[str], what: str) -> str:
    for name in names:
        if name in row:
            return name
    raise KerasBertError(f"expected {what} in {path}, as {' or '.join(names)}, received the keys {', '.join(row)}")


def _told(what: str, counts: Counter) -> str:
    if len(counts) > _LISTED:
        return f"{len(counts)} distinct {what}"
    return (
        f"{what} " + ", ".join(f"{name}: {count:,}" for name, count in sorted(counts.items()))
        if counts
        else f"no {what}"
    )
