"""Words with tags from CSV files, with a sentence on each row (two columns of lists) or a word on each row."""

import ast
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kerasbert.arguments import argument
from kerasbert.data.bad_rows import BadRows
from kerasbert.data.columns import Columns, open_table
from kerasbert.data.conll import ConllTable, build_tagged_table
from kerasbert.data.records import CellRow, ObjectRecords
from kerasbert.data.tagged_sentence import Sentence, tags_fault
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json

# Column names that are recognized by default, in the order of preference; case is ignored.
_WORD_LISTS, _WORD = ("tokens", "words", "text", "sentence"), ("word", "token")
_TAG_LISTS, _TAG = ("tags", "ner_tags", "labels"), ("tag", "ner_tag", "ner", "label", "entity")
_SENTENCE = ("sentence #", "sentence_id", "sentence id", "sent_id", "sentence_number", "sentence", "id")
_MAX_LIST = 1_000_000  # characters of a cell that is parsed as a list
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
    encoding: str | None = None,
) -> ConllTable:
    """Read sentences of words with tags from a `.csv` with a header, which may be compressed as `.gz`.

    A row holds one of two forms:

    - A sentence: its words and its tags as lists. A list is JSON, a Python literal, or separated by spaces.
    - A word, its tag and the number of its sentence. The number may be given in the sentence's first row only.

    Args:
        path: The file.
        text: The column of the words. Default: tokens, words, text or sentence for lists, word or token for single words.
        label: The column of the tags. Default: tags, ner_tags or labels, or tag, ner_tag, ner, label or entity.
        scheme: As for `read_conll`.
        max_rows: As for `read_conll`.
        delimiter: As for `read_table`.
        skip_bad_rows: As for `read_table`.
        encoding: As for `read_table`.

    Returns:
        The table.

    Raises:
        KerasBertError: When the file cannot be read or has no sentence, its columns have another form, or a row has another number of
            tags than words.
    """
    path = Path(path)
    bad = BadRows(path, skip_bad_rows)
    names = (text, label, *_WORD_LISTS, *_WORD, *_TAG_LISTS, *_TAG)
    columns, records = open_table(path, [name for name in names if name], delimiter, bad, encoding)
    word = columns.find_default(_WORD) if text is None else columns.find(text, "text")
    tag = columns.find_default((*_TAG, *_TAG_LISTS)) if label is None else columns.find(label, "label")
    number = columns.find_default(_SENTENCE)
    if columns.header is None or isinstance(records, ObjectRecords):
        raise _form_error(columns)
    if word is not None and tag is not None and number is not None and len({word, tag, number}) == 3:
        sentences = _sentences_of_words(records.rows, word, tag, number, len(columns.names), bad)
        return build_tagged_table(bad, sentences, scheme, max_rows)
    words = columns.find_default(_WORD_LISTS) if text is None else word
    tags = columns.find_default(_TAG_LISTS) if label is None else tag
    if words is None or tags is None or words == tags:
        raise _form_error(columns)
    sentences = _sentences_of_lists(records.rows, words, tags, len(columns.names), bad)
    return build_tagged_table(bad, sentences, scheme, max_rows)


def _form_error(columns: Columns) -> KerasBertError:
    return columns.error(
        "words with tags",
        "text",
        f"tagging reads {FORMS}; name columns with {argument('text')} and {argument('label')}",
    )


def _sentences_of_lists(
    rows: Iterator[CellRow], word_column: int, tag_column: int, width: int, bad: BadRows
) -> Iterator[Sentence]:
    for line, cells in rows:
        if len(cells) != width:
            bad.refuse(line, f"expected {width} columns, received {len(cells)}")
            continue
        words, tags = _parse_list(cells[word_column]), _parse_list(cells[tag_column])
        if not all(isinstance(word, str) for word in words):
            bad.refuse(line, f"expected words as texts, received {words[0]!r}")
        elif not words or len(words) != len(tags):
            reason = f"expected one tag a word, received {len(words)} words and {len(tags)} tags"
            bad.refuse(line, reason, f"tagging reads {FORMS}")
        elif reason := _tags_reason(cells[tag_column], tags):
            bad.refuse(line, reason)
        else:
            yield Sentence(line, words, tags)


def _tags_reason(cell: str, tags: list[Any]) -> str:
    """Return the reason to refuse the tags of a cell, or ""."""
    if all(type(tag) is int for tag in tags):
        return "" if min(tags) >= 0 else f"expected tags as numbers from 0 on, received {min(tags)}"
    if cell.strip().startswith("[") and cell.strip().endswith("]") and tags == cell.split():
        return f"expected a list of tags in JSON or as Python prints it, received {cell[:40]!r}"
    return tags_fault(tags)


def _parse_list(cell: str) -> list[Any]:
    """Return the strings or the numbers of a cell: a list in JSON or as a Python literal, or words separated by spaces."""
    if cell.lstrip().startswith("[") and len(cell) <= _MAX_LIST:
        for parse in (lambda text: parse_json(text, "a cell"), ast.literal_eval):
            try:
                value = parse(cell)
            # A KerasBertError is a ValueError.
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                continue
            if isinstance(value, list) and {type(item) for item in value} in (set(), {str}, {int}):
                return value
    return cell.split()


def _sentences_of_words(
    rows: Iterator[CellRow], word_column: int, tag_column: int, sentence_column: int, width: int, bad: BadRows
) -> Iterator[Sentence]:
    line, words, tags = 0, [], []
    name, valid = "", True
    for row_line, cells in rows:
        reason = f"expected {width} columns, received {len(cells)}" if len(cells) != width else ""
        if not reason and len(cells[tag_column].split()) != 1:
            reason = f"expected one tag, received {cells[tag_column][:40]!r}"
        if reason:
            bad.refuse(row_line, reason)
            valid = False
            continue
        row_name = cells[sentence_column].strip()
        if not words or (row_name and row_name != name):
            if words and valid:
                yield Sentence(line, words, tags)
            line, words, tags = row_line, [], []
            name, valid = row_name, True
        words.append(cells[word_column])
        tags.append(cells[tag_column].strip())
    if words and valid:
        yield Sentence(line, words, tags)
