"""Tags as users write them: a tag a word, or entities with characters."""

from collections.abc import Mapping

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.processors.token_classification.entities import OUTSIDE, Span, is_prefixed, scheme_of, tags_of
from kerasbert.processors.words import Words


def is_number(value) -> bool:
    """Whether a tag is written as its class number."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_list(tags, row: int) -> None:
    """Raises KerasBertError unless a sentence's tags are a list."""
    if not isinstance(tags, list | tuple | np.ndarray):
        raise KerasBertError(f"row {row}: expected a list with one tag a word, received {str(tags)[:40]!r}")


def written_tags(row, number: int) -> list:
    """The tags that one sentence's labels have or, of entities, need."""
    check_list(row, number)
    found = []
    for value in row:
        if isinstance(value, Mapping):
            found += [OUTSIDE, *(f"{prefix}-{_label(value, number)}" for prefix in "BI")]
        elif not isinstance(value, str) and not is_number(value):
            raise KerasBertError(f"row {number}: expected tags by name or number, received {value!r}")
        else:
            found.append(value)
    return found


def in_order(tags: set[str]) -> tuple[str, ...]:
    """`O` first, then by label; those of IOB in pairs."""
    if scheme_of([tags]) in ("iob1", "iob2"):
        tags = tags | {prefix + tag[1:] for tag in tags if is_prefixed(tag) for prefix in "BI"}
    key = {tag: (tag != OUTSIDE, *((tag[2:], tag[0]) if is_prefixed(tag) else (tag, ""))) for tag in tags}
    return tuple(sorted(tags, key=key.__getitem__))


def _label(entity: Mapping, row: int) -> str:
    label = entity.get("label")
    if not isinstance(label, str) or not label:
        raise KerasBertError(f"row {row}: expected a label of each entity, received {label!r}")
    return label


def tags_of_entities(entities, sentence: Words, row: int, scheme: str) -> list[str]:
    """Tags of a text's words. Raises KerasBertError naming an entity that does not begin and end with words, or overlaps another."""
    first = {start: word for word, start in enumerate(sentence.starts.tolist())}
    end = {stop: word + 1 for word, stop in enumerate(sentence.ends.tolist())}
    found: list[Span] = []
    for entity in entities:
        if not isinstance(entity, Mapping):
            raise KerasBertError(f"row {row}: expected entities with start, end and label, received {entity!r}")
        places = entity.get("start"), entity.get("end")
        if not all(map(is_number, places)) or not 0 <= places[0] < places[1] <= len(sentence.text):
            raise KerasBertError(
                f"row {row}: expected an entity's start and end within a text of {len(sentence.text)} characters, received {places}"
            )
        if places[0] not in first or places[1] not in end:
            raise KerasBertError(
                f"row {row}: expected entities that begin and end with a word, received {sentence.text[slice(*places)]!r} at "
                f"{places[0]}-{places[1]}, in {sentence.text[max(places[0] - 10, 0) : places[1] + 10]!r}"
            )
        found.append(Span(_label(entity, row), first[places[0]], end[places[1]]))
    found.sort(key=lambda span: span.first)
    for before, span in zip(found, found[1:], strict=False):
        if span.first < before.end:
            raise KerasBertError(
                f"row {row}: expected entities that do not overlap, received {before.label} and {span.label} on the word "
                f"{sentence.words[span.first]!r}"
            )
    return tags_of(found, len(sentence), scheme)
