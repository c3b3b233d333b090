"""Entities and the tags that words carry: schemes, and scores of whole entities.

A tag is `O` or a prefix and a label, `B-PER`. The schemes:
  iob1: `I-` in an entity, `B-` only where one begins right behind another of its label (Ramshaw and Marcus 1995).
  iob2: each entity begins with `B-` (Tjong Kim Sang and Veenstra 1999).
  iobes, bilou: also its last word has a prefix, `E-` or `L-`, and so has a single word, `S-` or `U-` (Ratinov and Roth 2009).
A tag without a prefix counts as `I-` of that label, and a prefix alone as one of the label `_`.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kerasbert.errors import KerasBertError

OUTSIDE = "O"
SCHEMES = ("iob1", "iob2", "iobes", "bilou")
_LIKE = {"B": "B", "I": "I", "E": "E", "S": "S", "L": "E", "U": "S"}
_BARE = ("B", "I", "E", "S")
# The prefixes of words that share the token on which the tag was found: of the first, of those between, of the last.
_STRETCHED = {"B": "BII", "I": "III", "E": "IIE", "S": "BIE", "L": "IIL", "U": "BIL"}


class Span(NamedTuple):
    """An entity: its label, the number of its first word, and that behind its last one."""

    label: str
    first: int
    end: int


def spans(tags: Sequence[str]) -> list[Span]:
    """The entities of one sentence by the rule of CoNLL's own evaluation, `seqeval`'s default, for tags of any scheme and wrong ones.

    An entity goes on with `I-` or `E-` of its label behind `B-` or `I-`. Whatever else is not `O` begins one. `L-` and `U-` are always read
    as `E-` and `S-`; `seqeval` does so only when told.
    """
    found, first, before = [], 0, (OUTSIDE, "")
    for place, tag in enumerate([*tags, OUTSIDE]):
        prefix, label = _parts(tag)
        goes_on = prefix in ("I", "E") and before[0] in ("B", "I") and before[1] == label
        if not goes_on:
            if before[0] != OUTSIDE:
                found.append(Span(before[1], first, place))
            first = place
        before = prefix, label
    return found


def tags_of(entities: Iterable[Span], length: int, scheme: str = "iob2") -> list[str]:
    """Tags of a sentence of `length` words, entities in their order.

    Raises KerasBertError for an unknown scheme.
    """
    _check(scheme)
    tags, before = [OUTSIDE] * length, None
    last, single = {"iobes": "ES", "bilou": "LU"}.get(scheme, "IB")
    for entity in entities:
        label, first, end = entity
        tags[first:end] = [f"I-{label}"] * (end - first)
        tags[end - 1] = f"{last}-{label}"
        if scheme != "iob1" or (before is not None and (before.label, before.end) == (label, first)):
            tags[first] = f"B-{label}" if end - first > 1 else f"{single}-{label}"
        before = Span(*entity)
    return tags


def converted(tags: Sequence[str], scheme: str = "iob2") -> list[str]:
    """The same entities in another scheme.

    Raises KerasBertError for an unknown scheme.
    """
    return tags_of(spans(tags), len(tags), scheme)


def scheme_of(rows: Iterable[Sequence[str]]) -> str | None:
    """The scheme of some sentences' tags; None where no tag has a prefix (parts of speech, or no entity at all).

    Where the few entities that begin with `I-` are outnumbered by `B-` that IOB1 would not need, they count as slips in IOB2.
    """
    rows = [list(row) for row in rows]
    tags = set().union(*rows) - {OUTSIDE}
    prefixes = {tag[0] for tag in tags if tag[1:2] == "-" and is_prefixed(tag)}
    if not prefixes:  # single letters are also names of parts of speech
        prefixes = tags if tags <= set(_BARE) else set()
    if not prefixes:
        return None
    if prefixes & set("LU"):
        return "bilou"
    if prefixes & set("ES"):
        return "iobes"
    begun = sum(row[span.first][0] == "I" for row in rows for span in spans(row))
    needless = sum(
        tag[0] == "B" != iob1[0] for row in rows for tag, iob1 in zip(row, converted(row, "iob1"), strict=True)
    )
    return "iob1" if begun > needless else "iob2"


def is_prefixed(tag: str) -> bool:
    """Whether a tag tells where in an entity its word stands: `B-PER`, or `B` alone."""
    return (tag[1:2] == "-" and tag[0] in _LIKE) or tag in _BARE


def stretched(tag: str, words: int) -> list[str]:
    """One tag that was found for several words together, as a tag for each."""
    if words == 1 or not is_prefixed(tag):
        return [tag] * words
    first, middle, last = _STRETCHED[tag[0]]
    return [prefix + tag[1:] for prefix in first + middle * (words - 2) + last]


def without_suffixes(rows: Iterable[Sequence[str]]) -> list[list[str]]:
    """Tags that are all written with the prefix behind, `PER-B`, in the usual form; others as they are."""
    rows = [list(row) for row in rows]
    tags = set().union(*rows) - {OUTSIDE}
    if not tags or not all(tag[-2:-1] == "-" and tag[-1] in _LIKE for tag in tags) or all(map(is_prefixed, tags)):
        return rows
    usual = {OUTSIDE: OUTSIDE, **{tag: f"{tag[-1]}-{tag[:-2]}" for tag in tags}}
    return [[usual[tag] for tag in row] for row in rows]


def entity_scores(truth: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> dict[str, float]:
    """`entity F1`, `precision` and `recall` over all entities of all sentences, and `tag accuracy` over all words.

    An entity is found when its label, its first and its last word are. A share of nothing is 0. As `seqeval` with its defaults.

    Raises KerasBertError when there are not as many tags as words.
    """
    if len(truth) != len(found):
        raise KerasBertError(f"expected tags of {len(truth)} sentences to score, received those of {len(found)}")
    true_count = found_count = both = same = words = 0
    for number, (right, tags) in enumerate(zip(truth, found, strict=True)):
        if len(right) != len(tags):
            raise KerasBertError(f"sentence {number}: expected {len(right)} tags, one a word, received {len(tags)}")
        counts = entity_counts(right, tags)
        true_count, found_count, both = true_count + counts[0], found_count + counts[1], both + counts[2]
        same, words = same + sum(map(str.__eq__, right, tags)), words + len(right)
    return {
        "entity F1": _share(2 * both, true_count + found_count),
        "precision": _share(both, found_count),
        "recall": _share(both, true_count),
        "tag accuracy": _share(same, words),
    }


def entity_counts(truth: Sequence[str], found: Sequence[str]) -> tuple[int, int, int]:
    """Of one sentence: how many entities there are, how many were found, and how many of these are right."""
    wanted, got = set(spans(truth)), set(spans(found))
    return len(wanted), len(got), len(wanted & got)


def _parts(tag: str) -> tuple[str, str]:
    """Prefix and label; of `O` no label."""
    if tag == OUTSIDE:
        return OUTSIDE, ""
    if is_prefixed(tag):
        return _LIKE[tag[0]], tag[2:] or "_"
    return "I", tag


def _check(scheme: str) -> None:
    if scheme not in SCHEMES:
        raise KerasBertError(f"expected a scheme of tags among {', '.join(SCHEMES)}, received {scheme!r}")


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
