"""Tags in the forms that users write: a tag for each word, or entities with characters."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeGuard

import numpy as np

from kerasbert.data.entities import OUTSIDE, Span, is_prefixed, scheme_of, tags_of
from kerasbert.errors import KerasBertError
from kerasbert.processors.words import Words
from kerasbert.values import is_whole_number


def is_list(tags: object) -> TypeGuard[list | tuple | np.ndarray]:
    """Tell whether a sentence's tags are a list."""
    return isinstance(tags, list | tuple | np.ndarray)


def check_list(tags: object, row: int) -> None:
    """Check that a sentence's tags are a list.

    Raises:
        KerasBertError: When they are not.
    """
    if not is_list(tags):
        raise KerasBertError(f"row {row}: expected a list with one tag a word, received {str(tags)[:40]!r}")


def written_tags(row: Any, number: int) -> list[str | int]:
    """Return the tags in the labels of one sentence, or the tags that its entities need.

    Args:
        row: The labels.
        number: The number of the row.

    Raises:
        KerasBertError: When a label is no tag.
    """
    check_list(row, number)
    tags: list[str | int] = []
    for value in row:
        if isinstance(value, Mapping):
            tags += [OUTSIDE, *(f"{prefix}-{_label(value, number)}" for prefix in "BI")]
        elif not isinstance(value, str) and not is_whole_number(value):
            raise KerasBertError(f"row {number}: expected tags by name or number, received {value!r}")
        else:
            tags.append(value)
    return tags


def in_order(tags: Collection[str]) -> tuple[str, ...]:
    """Sort tags: `O` first, then by label. The tags of IOB are completed to pairs."""
    names = set(tags)
    if scheme_of([sorted(names)]) in ("iob1", "iob2"):
        names |= {prefix + tag[1:] for tag in names if is_prefixed(tag) for prefix in "BI"}
    key = {tag: (tag != OUTSIDE, *((tag[2:], tag[0]) if is_prefixed(tag) else (tag, ""))) for tag in names}
    return tuple(sorted(names, key=key.__getitem__))


def _label(entity: Mapping, row: int) -> str:
    label = entity.get("label")
    if not isinstance(label, str) or not label:
        raise KerasBertError(f"row {row}: expected a label of each entity, received {label!r}")
    return label


def tags_of_entities(entities: Iterable[Any], sentence: Words, row: int, scheme: str) -> list[str]:
    """Return the tags of a text's words, from its entities.

    Args:
        entities: Dicts of `start`, `end` in characters, and `label`.
        sentence: The words of the text.
        row: The number of the row, for errors.
        scheme: The tagging scheme.

    Raises:
        KerasBertError: When an entity does not start and end with words, or overlaps another one.
    """
    first = {start: word for word, start in enumerate(sentence.starts.tolist())}
    end = {stop: word + 1 for word, stop in enumerate(sentence.ends.tolist())}
    entity_spans: list[Span] = []
    for entity in entities:
        if not isinstance(entity, Mapping):
            raise KerasBertError(f"row {row}: expected entities with start, end and label, received {entity!r}")
        begin, stop = _characters(entity, sentence, row)
        if begin not in first or stop not in end:
            raise KerasBertError(
                f"row {row}: expected entities that begin and end with a word, received {sentence.text[begin:stop]!r} at "
                f"{begin}-{stop}, in {sentence.text[max(begin - 10, 0) : stop + 10]!r}"
            )
        entity_spans.append(Span(_label(entity, row), first[begin], end[stop]))
    entity_spans.sort(key=lambda span: span.first)
    for before, span in zip(entity_spans, entity_spans[1:], strict=False):
        if span.first < before.end:
            raise KerasBertError(
                f"row {row}: expected entities that do not overlap, received {before.label} and {span.label} on the word "
                f"{sentence.words[span.first]!r}"
            )
    return tags_of(entity_spans, len(sentence), scheme)


def _characters(entity: Mapping, sentence: Words, row: int) -> tuple[int, int]:
    """Return the first character of an entity and the one after its last."""
    begin, stop = entity.get("start"), entity.get("end")
    if not is_whole_number(begin) or not is_whole_number(stop) or not 0 <= begin < stop <= len(sentence.text):
        raise KerasBertError(
            f"row {row}: expected an entity's start and end within a text of {len(sentence.text)} characters, received "
            f"{(begin, stop)}"
        )
    return begin, stop
