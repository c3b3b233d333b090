"""Words with tags from JSON Lines: an object for each sentence."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeGuard

from kerasbert.console.output import note
from kerasbert.data.bad_rows import BadRows
from kerasbert.data.conll_columns import FIRST, LAST
from kerasbert.data.records import read_objects
from kerasbert.data.tagged_sentence import Sentence, length_fault, tags_fault
from kerasbert.errors import KerasBertError

_WORDS, _TAGS = ("words", "tokens"), ("tags", "ner_tags", "labels")  # keys, in the order of preference


def object_keys(
    path: Path, word_column: int | str, tag_column: int | str | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the keys of words and tags, in the order of preference; no keys for no tags.

    Raises:
        KerasBertError: When a key is a number.
    """
    for column, standard in ((word_column, FIRST), (tag_column, LAST)):
        if isinstance(column, int) and column != standard:
            raise KerasBertError(
                f"{path}: expected a key of its objects, received the column number {column}; give its name"
            )
    words = (word_column,) if isinstance(word_column, str) else _WORDS
    return words, () if tag_column is None else (tag_column,) if isinstance(tag_column, str) else _TAGS


def sentences_of_objects(
    path: Path,
    word_keys: Sequence[str],
    tag_keys: Sequence[str],
    labels: Sequence[str] | None,
    bad: BadRows,
    encoding: str | None = None,
) -> Iterator[Sentence]:
    """Yield the sentences of a file.

    Args:
        path: The file.
        word_keys: Keys of the words; the first one that the first object has is used.
        tag_keys: Keys of the tags, likewise.
        labels: The names of tags that are numbers, or None to keep the numbers.
        bad: Handles objects of another form.
        encoding: As for `read_lines`.
    """
    word_key, tag_key, numbered = "", None, None
    for number, record in read_objects(path, bad, encoding):
        if not word_key:
            word_key = _find_key(path, word_keys, record, "words")
            tag_key = _find_tag_key(path, tag_keys, record)
        words, tags = record.get(word_key), None if tag_key is None else record.get(tag_key)
        if not _is_list_of_strings(words):
            bad.refuse(number, f"expected {word_key!r} as a list of strings, received {str(words)[:40]!r}")
            continue
        reason = "" if tag_key is None else _tags_of_object_fault(tag_key, tags, words, labels)
        if not reason and tags:
            numbered = isinstance(tags[0], int) if numbered is None else numbered
            if numbered is not isinstance(tags[0], int):
                reason = f"expected all tags as names, or all as numbers, received {tags[0]!r}"
        if reason:
            bad.refuse(number, reason)
        elif tags and labels is not None and numbered:
            yield Sentence(number, words, [labels[tag] for tag in tags])
        else:
            yield Sentence(number, words, tags)


def _tags_of_object_fault(key: str, tags: Any, words: Sequence[str], labels: Sequence[str] | None) -> str:
    """Return the reason to refuse the tags of an object, or ""."""
    if not isinstance(tags, list) or not (_is_list_of_strings(tags) or all(type(tag) is int for tag in tags)):
        return f"expected {key!r} as a list of names or of numbers, received {str(tags)[:40]!r}"
    if len(words) != len(tags):
        return length_fault(words, tags)
    if tags and isinstance(tags[0], str):
        return tags_fault(tags)
    most = math.inf if labels is None else len(labels)
    wrong = [tag for tag in tags if isinstance(tag, int) and not 0 <= tag < most]
    expected = "from 0 on" if labels is None else f"from 0 to {len(labels) - 1}"
    return f"expected tags as numbers {expected}, received {wrong[0]}" if wrong else ""


def _find_tag_key(path: Path, keys: Sequence[str], record: dict) -> str | None:
    found = [key for key in keys if key in record]
    if not found and len(keys) == 1:
        return _find_key(path, keys, record, "tags")
    if len(found) > 1:
        note(f"note: {path}: the tags are those of {found[0]!r}; {', '.join(map(repr, found[1:]))} is not used")
    return found[0] if found else None


def _find_key(path: Path, keys: Sequence[str], record: dict, content: str) -> str:
    for key in keys:
        if key in record:
            return key
    raise KerasBertError(
        f"{path}: expected {content}, as {' or '.join(keys)}, received the keys {', '.join(record)}; name one"
    )


def _is_list_of_strings(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
