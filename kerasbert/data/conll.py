"""Words with tags from CoNLL columns, JSON Lines, and files with a sentence on each line."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple, TypeGuard

from kerasbert.console.output import note
from kerasbert.data.bad_rows import BadRows
from kerasbert.data.lines import read_lines
from kerasbert.data.records import data_suffix, read_objects
from kerasbert.data.table import Table, quantiles
from kerasbert.errors import KerasBertError
from kerasbert.processors.token_classification.entities import SCHEMES, convert_tags, scheme_of, spans
from kerasbert.processors.token_classification.tag_schemes import FileTags, recognize_tags

_DOCUMENT = "-DOCSTART-"
_BLANKS = re.compile("[ \t]+")
_RANGE = re.compile(r"\d+[-.]\d+")  # ids of CoNLL-U's multiword tokens and empty nodes
_CONLL_U = 10  # columns
_MAX_NAMES = 20  # in a description
_WORDS, _TAGS = ("words", "tokens"), ("tags", "ner_tags", "labels")  # keys of objects, in the order of preference


class Sentence(NamedTuple):
    """One sentence of a file: the line on which it begins, its words, and one tag for each word or None."""

    line: int
    words: list[str]
    tags: list[str] | None


@dataclass(frozen=True)
class ConllTable(Table):
    """Sentences of words with tags.

    `x` holds the words of each sentence. `y` holds one tag for each word, or is None.

    Attributes:
        scheme: The tagging scheme of the file (see `kerasbert.processors.token_classification.entities`), or None if the tags do not
            mark entities.
    """

    scheme: str | None = None

    def kind(self) -> str:
        return "sentences"

    def label_summary(self) -> str:
        words = f"{sum(map(len, self.x)):,} words"
        if self.y is None:
            return f"{words}; no tags"
        if self.scheme is None:
            return f"{words}; {_format_counts('tags', Counter(tag for tags in self.y for tag in tags))}"
        return f"{words}; {_format_counts('entities', Counter(span.label for tags in self.y for span in spans(tags)))}"

    def texts(self) -> list[str]:
        return [" ".join(words) for words in self.x]

    def remarks(self) -> list[str]:
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
    """Read words with tags from CoNLL columns, or from `.jsonl`.

    A CoNLL file holds one word with its tag on each line, and blank lines between sentences. Details:

    - Lines with `-DOCSTART-` are skipped.
    - In a file with tabs, a line that starts with `#` and has another number of columns is a comment (CoNLL-U, GermEval). In other files,
      `#` is a word.
    - In CoNLL-U (ten columns), multiword tokens and empty nodes are skipped. Its words are column 1, its parts of speech column 3.

    A `.jsonl` holds one object for each sentence, with `words` or `tokens`, and `tags`, `ner_tags` or `labels`, which are names. Files are
    in UTF-8. Each may also be compressed as `.gz`.

    Args:
        path: The file.
        word_column: The column of the words, from 0 on, or negative from the last one.
        tag_column: The column of the tags, likewise; None reads no tags.
        separator: The string between columns. Default: a tab if the first line contains one, otherwise runs of spaces or tabs.
        scheme: The scheme to which tags of entities are converted, see `kerasbert.processors.token_classification.entities`. None keeps
            the tags.
        max_rows: The maximum number of sentences to read.
        skip_bad_rows: Skip sentences with a line that cannot be read, and count those lines in `Table.bad`.

    Returns:
        The table.

    Raises:
        KerasBertError: When the file cannot be read, is not UTF-8 or has no sentence; when a column is missing; when a line has
            another number of columns than the first one, or a tag contains a space.

    Example:
        ```python
        data = kb.data.read_conll("train.conll")
        data.x[0], data.y[0]  # words and tags of a sentence
        ```
    """
    path = Path(path)
    bad = BadRows(path, skip_bad_rows)
    if data_suffix(path) == ".jsonl":
        return build_tagged_table(bad, _sentences_of_objects(path, bad), scheme, max_rows)
    lines = _split_columns(path, separator, bad)
    sentences = _sentences_of_columns(path, lines, word_column, tag_column, bad)
    return build_tagged_table(bad, sentences, scheme, max_rows)


def read_tagged_lines(
    path: str | os.PathLike, *, scheme: str | None = "iob2", max_rows: int | None = None
) -> ConllTable:
    """Read one sentence from each line: its words, a tab, and its tags, both separated by spaces.

    Tags with a suffix in place of a prefix, such as `PER-B` in Naver's NER corpus, are converted. The file is in UTF-8, and may be
    compressed as `.gz`.

    Args:
        path: The file.
        scheme: As for `read_conll`.
        max_rows: As for `read_conll`.

    Returns:
        The table.

    Raises:
        KerasBertError: When the file cannot be read, is not UTF-8 or has no sentence; when a line does not contain exactly one tab,
            or has another number of tags than words.
    """
    path = Path(path)
    return build_tagged_table(BadRows(path), _sentences_of_lines(path), scheme, max_rows)


def build_tagged_table(
    bad: BadRows, sentences: Iterator[Sentence], scheme: str | None = "iob2", max_rows: int | None = None
) -> ConllTable:
    """Collect sentences in a table, with their tags in one scheme.

    Args:
        bad: The skipped rows of the file.
        sentences: The sentences; all of them have tags, or none.
        scheme: As for `read_conll`.
        max_rows: The maximum number of sentences.

    Raises:
        KerasBertError: When there is no sentence, or the scheme is unknown.
    """
    path = bad.path
    if scheme is not None and scheme not in SCHEMES:
        raise KerasBertError(f"expected a scheme of {', '.join(SCHEMES)}, or None, received {scheme!r}")
    if max_rows is not None and max_rows < 1:
        raise KerasBertError(f"expected max_rows of at least 1, received {max_rows}")
    selected = list(islice(sentences, None if bad.skip else max_rows))
    file_tags = recognize_tags({tag for sentence in selected for tag in sentence.tags or ()}, path)
    selected = list(islice(_valid_sentences(selected, file_tags, bad), max_rows))
    if not selected:
        skipped = f"; {bad.describe()}" if bad.count else ""
        raise KerasBertError(f"{path}: expected sentences of words with tags, received none{skipped}")
    for line in file_tags.notes:
        note(f"note: {path}: {line}")
    lines, words = [sentence.line for sentence in selected], [sentence.words for sentence in selected]
    y = [file_tags.apply(sentence.tags) for sentence in selected if sentence.tags is not None]
    if not y:
        return ConllTable(path, words, None, lines=lines, bad=bad)
    file_scheme = scheme_of(y)
    if file_scheme is not None and scheme is not None:
        y = [convert_tags(sentence_tags, scheme) for sentence_tags in y]
    return ConllTable(path, words, y, file_scheme, lines=lines, bad=bad)


def _valid_sentences(sentences: Iterable[Sentence], file_tags: FileTags, bad: BadRows) -> Iterator[Sentence]:
    for sentence in sentences:
        if reason := file_tags.fault(sentence.tags or ()):
            bad.refuse(sentence.line, *reason.split("; "))
        else:
            yield sentence


def tags_fault(tags: Sequence[str]) -> str:
    """Return the reason to refuse a sentence's tags, or "". Tags are names without white space."""
    invalid = next((tag for tag in tags if len(tag.split()) != 1), None)
    return "" if invalid is None else f"expected one tag for each word, received {invalid[:40]!r}"


def _split_columns(path: Path, separator: str | None, bad: BadRows) -> Iterator[tuple[int, list[str] | None]]:
    """Yield (line number, cells); cells are empty between sentences, and None for a bad line."""
    lines, head = read_lines(path), []
    for numbered in lines:
        head.append(numbered)
        if numbered[1].strip() and not numbered[1].startswith(("#", _DOCUMENT)):
            break
    # The first line that cannot be a comment shows the form of the others.
    sample = next((line for _, line in reversed(head) if line.strip()), "")
    separator = separator or ("\t" if "\t" in sample else " ")
    width = len(_split_cells(sample, separator))
    for number, line in chain(head, lines):
        cells = _split_cells(line, separator)
        if not line.strip(" \t\r\n") or cells[0].startswith(_DOCUMENT):
            yield number, []
        elif len(cells) == width:
            if width != _CONLL_U or not _RANGE.fullmatch(cells[0]):
                yield number, cells
        elif separator != "\t" or not line.startswith("#"):
            bad.refuse(number, f"expected {width} columns, as in the first line, received {len(cells)}")
            yield number, None


def _split_cells(line: str, separator: str) -> list[str]:
    line = line.rstrip("\r\n")
    return _BLANKS.split(line.strip(" \t")) if separator == " " else line.split(separator)


def _sentences_of_columns(
    path: Path,
    lines: Iterator[tuple[int, list[str] | None]],
    word_column: int,
    tag_column: int | None,
    bad: BadRows,
) -> Iterator[Sentence]:
    sentence = _PartialSentence(tag_column is not None)
    checked = False
    for number, cells in lines:
        if cells is None:
            sentence.valid = False
            continue
        if not cells:
            yield from sentence.finish()
            sentence = _PartialSentence(tag_column is not None)
            continue
        if not checked:
            _check_columns(path, number, cells, word_column, tag_column)
            checked = True
        tag = "O" if tag_column is None else cells[tag_column]
        if not tag or len(tag.split()) != 1:
            bad.refuse(
                number, f"expected one tag, received {tag[:40]!r}", "a sentence a line is read by read_tagged_lines"
            )
            sentence.valid = False
        sentence.add(number, cells[word_column], tag.strip())
    yield from sentence.finish()


class _PartialSentence:
    """The words of a sentence read so far; `valid` is False after a line that could not be read."""

    def __init__(self, tagged: bool) -> None:
        self.valid = True
        self._line = 0
        self._words: list[str] = []
        self._tags: list[str] | None = [] if tagged else None

    def add(self, line: int, word: str, tag: str) -> None:
        self._line = self._line or line
        self._words.append(word)
        if self._tags is not None:
            self._tags.append(tag)

    def finish(self) -> list[Sentence]:
        """Return the sentence, or nothing if it is empty or not valid."""
        return [Sentence(self._line, self._words, self._tags)] if self._words and self.valid else []


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


def _sentences_of_lines(path: Path) -> Iterator[Sentence]:
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
            message = f"{path}, line {number}: {_length_fault(words, tags)}"
            raise KerasBertError(message)
        yield Sentence(number, words, tags)


def _sentences_of_objects(path: Path, bad: BadRows) -> Iterator[Sentence]:
    word_key, tag_key = "", None
    for number, record in read_objects(path, bad):
        if not word_key:
            word_key = _find_word_key(path, record)
            tag_key = next((key for key in _TAGS if key in record), None)
        words, tags = record.get(word_key), None if tag_key is None else record.get(tag_key)
        if not _is_list_of_strings(words):
            bad.refuse(number, _list_fault(word_key, words))
        elif tag_key is not None and not _is_list_of_strings(tags):
            bad.refuse(number, _list_fault(tag_key, tags))
        elif reason := tags_fault(tags or ()):
            bad.refuse(number, reason)
        elif tags is not None and len(words) != len(tags):
            bad.refuse(number, _length_fault(words, tags))
        else:
            yield Sentence(number, words, tags)


def _find_word_key(path: Path, record: dict) -> str:
    for key in _WORDS:
        if key in record:
            return key
    raise KerasBertError(f"expected words in {path}, as {' or '.join(_WORDS)}, received the keys {', '.join(record)}")


def _is_list_of_strings(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _list_fault(key: str, value: object) -> str:
    return f"expected {key!r} as a list of strings, received {str(value)[:40]!r}"


def _length_fault(words: Sequence[str], tags: Sequence[str]) -> str:
    return f"expected one tag a word, received {len(words)} words and {len(tags)} tags"


def _format_counts(noun: str, counts: Counter[str]) -> str:
    if not counts:
        return f"no {noun}"
    if len(counts) > _MAX_NAMES:
        return f"{len(counts)} distinct {noun}"
    return f"{noun} " + ", ".join(f"{name}: {count:,}" for name, count in sorted(counts.items()))
