"""Words with tags from CoNLL columns, JSON Lines, and files with a sentence on each line."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from kerasbert.console.output import note
from kerasbert.data.bad_rows import BadRows
from kerasbert.data.conll_columns import BLANKS, FIRST, LAST, Line, choose_columns, split_columns
from kerasbert.data.dataset import Dataset, quantiles
from kerasbert.data.entities import SCHEMES, convert_tags, scheme_of, spans
from kerasbert.data.limits import check_max_rows
from kerasbert.data.lines import read_lines
from kerasbert.data.records import data_suffix
from kerasbert.data.tag_schemes import FileTags, recognize_tags
from kerasbert.data.tagged_objects import object_keys, sentences_of_objects
from kerasbert.data.tagged_sentence import Sentence, length_fault
from kerasbert.errors import KerasBertError

_MAX_NAMES = 20  # in a description


@dataclass(frozen=True)
class ConllTable(Dataset):
    """Sentences of words with tags.

    `x` holds the words of each sentence. `y` holds one tag for each word, by name or by number, or is None.

    Attributes:
        scheme: The tagging scheme of the file (see `kerasbert.data.entities`), or None if the tags do not
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
            return f"{words}; {_format_counts('tags', Counter(str(tag) for tags in self.y for tag in tags))}"
        return f"{words}; {_format_counts('entities', Counter(span.label for tags in self.y for span in spans(tags)))}"

    def remarks(self) -> list[str]:
        return [quantiles("words", [len(words) for words in self.x])]


def read_conll(
    path: str | os.PathLike,
    *,
    word_column: int | str = FIRST,
    tag_column: int | str | None = LAST,
    separator: str | None = None,
    labels: Sequence[str] | None = None,
    scheme: str | None = "iob2",
    max_rows: int | None = None,
    skip_bad_rows: bool = False,
    encoding: str | None = None,
) -> ConllTable:
    """Read words with tags from CoNLL columns, or from `.jsonl`.

    A CoNLL file holds one word with its tag on each line, and blank lines between sentences. Details:

    - Lines with `-DOCSTART-` are skipped.
    - In a file with tabs, a line that starts with `#` and has another number of columns is a comment (CoNLL-U, GermEval). In other files,
      `#` is a word.
    - CoNLL-U (ten columns, of which the first one counts the words) is recognized: its words are column 1, its tags the parts of speech of
      column 3. Multiword tokens and empty nodes are skipped.
    - A file with the tag of an entity before each word is recognized.

    A `.jsonl` holds one object for each sentence, with `words` or `tokens`, and `tags`, `ner_tags` or `labels`: names, or numbers as in
    Hugging Face's data sets. Each file may also be compressed as `.gz`.

    Args:
        path: The file.
        word_column: The column of the words, from 0 on, or negative from the last one; for a `.jsonl` the key.
        tag_column: The column of the tags, likewise; None reads no tags.
        separator: The string between columns. Default: a tab if the first line contains one, otherwise runs of spaces or tabs.
        labels: The names of tags that the file holds as numbers, in the order of these. Without names the numbers are kept.
        scheme: The scheme to which tags of entities are converted, see `kerasbert.data.entities`. None keeps
            the tags.
        max_rows: The maximum number of sentences to read.
        skip_bad_rows: Skip sentences with a line that cannot be read, and count those lines in `Dataset.bad`.
        encoding: As for `read_table`.

    Returns:
        The table.

    Raises:
        KerasBertError: When the file cannot be read or has no sentence; when a column is missing; when a line has
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
        keys = object_keys(path, word_column, tag_column)
        return build_tagged_table(bad, sentences_of_objects(path, *keys, labels, bad, encoding), scheme, max_rows)
    word_number, tag_number = _number(path, word_column), None if tag_column is None else _number(path, tag_column)
    lines = split_columns(path, separator, bad, encoding)
    sentences = _sentences_of_columns(*choose_columns(path, lines, word_number, tag_number), bad)
    return build_tagged_table(bad, sentences, scheme, max_rows)


def _number(path: Path, column: int | str) -> int:
    if isinstance(column, str):
        raise KerasBertError(
            f"{path}: expected a column number from 0 on, as CoNLL's columns have no names, received {column!r}; give its number"
        )
    return column


def read_tagged_lines(
    path: str | os.PathLike, *, scheme: str | None = "iob2", max_rows: int | None = None, encoding: str | None = None
) -> ConllTable:
    """Read one sentence from each line: its words, a tab, and its tags, both separated by spaces.

    Tags with a suffix in place of a prefix, such as `PER-B` in Naver's NER corpus, are converted. The file may be compressed as `.gz`.

    Args:
        path: The file.
        scheme: As for `read_conll`.
        max_rows: As for `read_conll`.
        encoding: As for `read_table`.

    Returns:
        The table.

    Raises:
        KerasBertError: When the file cannot be read or has no sentence; when a line does not contain exactly one tab,
            or has another number of tags than words.
    """
    path = Path(path)
    return build_tagged_table(BadRows(path), _sentences_of_lines(path, encoding), scheme, max_rows)


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
    check_max_rows(max_rows)
    selected = list(islice(sentences, None if bad.skip else max_rows))
    numbered = any(isinstance(tag, int) for sentence in selected for tag in sentence.tags or ())
    names = set() if numbered or scheme is None else {tag for sentence in selected for tag in sentence.tags or ()}
    file_tags = recognize_tags(names, path)
    selected = list(islice(_valid_sentences(selected, file_tags, bad), max_rows))
    if not selected:
        skipped = f"; {bad.describe()}" if bad.count else ""
        raise KerasBertError(f"{path}: expected sentences of words with tags, received none{skipped}")
    for line in file_tags.notes:
        note(f"note: {path}: {line}")
    lines, words = [sentence.line for sentence in selected], [sentence.words for sentence in selected]
    y = [file_tags.apply(sentence.tags) for sentence in selected if sentence.tags is not None]
    if not y or numbered:
        return ConllTable(path, words, y or None, lines=lines, bad=bad)
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


def _sentences_of_columns(
    lines: Iterator[Line], word_column: int, tag_column: int | None, bad: BadRows
) -> Iterator[Sentence]:
    sentence = _PartialSentence(tag_column is not None)
    for number, cells in lines:
        if cells is None:
            sentence.valid = False
            continue
        if not cells:
            yield from sentence.finish()
            sentence = _PartialSentence(tag_column is not None)
            continue
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


def _sentences_of_lines(path: Path, encoding: str | None) -> Iterator[Sentence]:
    for number, line in read_lines(path, encoding):
        line = line.rstrip("\r\n")
        if not line.strip():
            continue
        parts = line.split("\t")
        if len(parts) != 2:
            raise KerasBertError(
                f"expected words, a tab and tags in each line of {path}, received {len(parts) - 1} tabs on line {number}"
            )
        words, tags = (BLANKS.split(part.strip(" ")) for part in parts)
        if len(words) != len(tags):
            message = f"{path}, line {number}: {length_fault(words, tags)}"
            raise KerasBertError(message)
        yield Sentence(number, words, tags)


def _format_counts(noun: str, counts: Counter[str]) -> str:
    if not counts:
        return f"no {noun}"
    if len(counts) > _MAX_NAMES:
        return f"{len(counts)} distinct {noun}"
    return f"{noun} " + ", ".join(f"{name}: {count:,}" for name, count in sorted(counts.items()))
