"""Words with tags from CSV files: a sentence a row with two columns of lists, or a word a row with a sentence number."""

import ast
import os
from collections.abc import Iterator
from pathlib import Path

from kerasbert.data.bad_rows import BadRows
from kerasbert.data.columns import Columns, open_table
from kerasbert.data.conll import ConllTable, Sentence, tagged_table, tags_fault
from kerasbert.data.records import Row
from kerasbert.files.json_text import parse_json

# Column names understood without being asked for, in the order of preference; case does not matter.
_LISTS, _WORD = ("tokens", "words", "text", "sentence"), ("word", "token")
_TAGS, _TAG = ("tags", "ner_tags", "labels"), ("tag", "ner_tag", "ner", "label", "entity")
_SENTENCE = ("sentence #", "sentence_id", "sentence id", "sent_id", "sentence_number", "sentence", "id")
_MOST = 1_000_000  # characters of a cell that is read as a list
FORMS = (
    "rows of two lists (columns tokens and tags), or of a word with its tag and sentence (columns sentence, word and tag); CoNLL columns, "
    "a word and its tag a line, are read from .conll, .tsv and .txt, and objects from .jsonl"
)


def read_tagged_table(
    path: str | os.PathLike,
    *,
    text: str | None = None,
    label: str | None = None,
    scheme: str | None = "iob2",
    max_rows: int | None = None,
    delimiter: str | None = None,
    skip_bad_rows: bool = False,
) -> ConllTable:
    """Reads sentences of words with tags from a `.csv` with a header, also with `.gz`.

    Either a sentence a row, its words and its tags as lists: JSON, Python's, or with spaces between them. Or a word a row with its tag and
    the sentence it belongs to, which may stand in its first row only.

    Args:
      path: the file.
      text: column of the words; by default tokens, words, text or sentence of lists, else word or token.
      label: column of the tags; by default tags, ner_tags, labels, else tag, ner_tag, ner, label, entity.
      scheme, max_rows: as `read_conll` takes them.
      delimiter, skip_bad_rows: as `read_table` takes them.

    Raises:
      KerasBertError: a file that cannot be read, columns of another kind, a row with another number of tags than of words, or no sentence.
    """
    path = Path(path)
    bad = BadRows(path, skip_bad_rows)
    names = (text, label, *_LISTS, *_WORD, *_TAGS, *_TAG)
    columns, rows = open_table(path, [name for name in names if name], delimiter, bad)
    word = columns.by_default(_WORD) if text is None else columns.asked(text, "text")
    tag = columns.by_default((*_TAG, *_TAGS)) if label is None else columns.asked(label, "label")
    number = columns.by_default(_SENTENCE)
    if columns.header is not None and None not in (word, tag, number) and len({word, tag, number}) == 3:
        return tagged_table(bad, _of_words(rows, word, tag, number, len(columns.names), bad), scheme, max_rows)
    words = columns.by_default(_LISTS) if text is None else word
    tags = columns.by_default(_TAGS) if label is None else tag
    if columns.header is None or words is None or tags is None or words == tags:
        raise columns.error("words with tags", "text", f"tagging reads {FORMS}; name columns with `text=` and `label=`")
    return tagged_table(bad, _of_lists(rows, words, tags, columns, bad), scheme, max_rows)


def _of_lists(rows: Iterator[Row], words: int, tags: int, columns: Columns, bad: BadRows) -> Iterator[Sentence]:
    for line, cells in rows:
        if len(cells) != len(columns.names):
            bad.refuse(line, f"expected {len(columns.names)} columns, received {len(cells)}")
            continue
        each = _listed(cells[words]), _listed(cells[tags])
        if not each[0] or len(each[0]) != len(each[1]):
            bad.refuse(
                line, f"expected one tag a word, received {len(each[0])} words and {len(each[1])} tags", f"tagging reads {FORMS}"
            )  # fmt: skip
        elif fault := tags_fault(each[1]):
            bad.refuse(line, fault)
        else:
            yield line, *each


def _listed(cell: str) -> list[str]:
    """The strings of a cell: a list in JSON or as Python writes it, or words with spaces between them."""
    if cell.lstrip().startswith("[") and len(cell) <= _MOST:
        for parse in (lambda text: parse_json(text, "a cell"), ast.literal_eval):
            try:
                found = parse(cell)
            except (
                ValueError,
                TypeError,
                SyntaxError,
                MemoryError,
                RecursionError,
            ):  # a KerasBertError is a ValueError
                continue
            if isinstance(found, list) and all(isinstance(value, str) for value in found):
                return found
    return cell.split()


def _of_words(rows: Iterator[Row], word: int, tag: int, number: int, width: int, bad: BadRows) -> Iterator[Sentence]:
    sentence: Sentence | None = None
    name, whole = "", True
    for line, cells in rows:
        fault = f"expected {width} columns, received {len(cells)}" if len(cells) != width else ""
        fault = fault or ("" if len(cells[tag].split()) == 1 else f"expected one tag, received {cells[tag][:40]!r}")
        if fault:
            bad.refuse(line, fault)
            whole = False
            continue
        own = cells[number].strip()
        if sentence is None or (own and own != name):
            if sentence is not None and whole:
                yield sentence
            sentence, name, whole = (line, [], []), own, True
        sentence[1].append(cells[word])
        sentence[2].append(cells[tag].strip())
    if sentence is not None and whole:
        yield sentence
