"""Entities and the tags of their words: tagging schemes, and metrics over whole entities.

A tag is `O`, or a prefix and a label, `B-PER`. The schemes:

- iob1: `I-` in an entity; `B-` only if it follows another entity of its label directly (Ramshaw and Marcus 1995).
- iob2: each entity starts with `B-` (Tjong Kim Sang and Veenstra 1999).
- iobes, bilou: the last word of an entity has a prefix too, `E-` or `L-`, and an entity of one word `S-` or `U-` (Ratinov and Roth 2009).
- bmes, bmewo: iobes with `M-` in place of `I-`, and in bmewo `W-` in place of `S-`, as in Chinese data sets.

A tag without a prefix is read as `I-` of that label, and a prefix alone as one of the label `_`.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kerasbert.arguments import check_choice
from kerasbert.errors import KerasBertError

OUTSIDE = "O"
SCHEMES = ("iob1", "iob2", "iobes", "bilou", "bmes", "bmewo")
LIKE = {"B": "B", "I": "I", "E": "E", "S": "S", "L": "E", "U": "S", "M": "I", "W": "S"}
BARE = ("B", "I", "E", "S", "M", "W")
PREFIXES = frozenset(LIKE)
# Prefixes inside of an entity, of its last word, and of an entity of one word.
_WRITTEN = {"iobes": "IES", "bilou": "ILU", "bmes": "MES", "bmewo": "MEW"}
# Prefixes of several words that share the token of one tag: of the first word, of words between, of the last word.
EXPANDED = {"B": "BII", "I": "III", "E": "IIE", "S": "BIE", "L": "IIL", "U": "BIL", "M": "III", "W": "BIE"}
# Tags of words outside of entities under other names, and of tokens that are no words, beside tags with prefixes.
OTHER_OUTSIDE = frozenset("o 0 _ - NONE None none NULL NIL OUT X [CLS] [SEP] [PAD] PAD <PAD> <pad>".split())


class Span(NamedTuple):
    """An entity.

    Attributes:
        label: The label.
        first: The number of its first word.
        end: The number of the word after its last one.
    """

    label: str
    first: int
    end: int


def spans(tags: Sequence[str]) -> list[Span]:
    """Return the entities of one sentence, from tags of any scheme and from invalid ones.

    The rule is that of CoNLL's own evaluation, and `seqeval`'s default: an entity continues with `I-` or `E-` of its label after `B-` or
    `I-`. Every other tag but `O` starts an entity. `L-` and `U-` are always read as `E-` and `S-`; `seqeval` does so on request only.
    `M-` and `W-` are read as `I-` and `S-`.
    """
    entities, first, before = [], 0, (OUTSIDE, "")
    for place, tag in enumerate([*tags, OUTSIDE]):
        prefix, label = _parts(tag)
        continues = prefix in ("I", "E") and before[0] in ("B", "I") and before[1] == label
        if not continues:
            if before[0] != OUTSIDE:
                entities.append(Span(before[1], first, place))
            first = place
        before = prefix, label
    return entities


def tags_of(entities: Iterable[Span], length: int, scheme: str = "iob2") -> list[str]:
    """Return the tags of a sentence.

    Args:
        entities: The entities in their order.
        length: Words in the sentence.
        scheme: The tagging scheme.

    Raises:
        KerasBertError: When the scheme is unknown.
    """
    check_choice(scheme, "a scheme of tags among", SCHEMES, "use one of them")
    tags, before = [OUTSIDE] * length, None
    inside, last, single = _WRITTEN.get(scheme, "IIB")
    for entity in entities:
        label, first, end = entity
        tags[first:end] = [f"{inside}-{label}"] * (end - first)
        tags[end - 1] = f"{last}-{label}"
        if scheme != "iob1" or (before is not None and (before.label, before.end) == (label, first)):
            tags[first] = f"B-{label}" if end - first > 1 else f"{single}-{label}"
        before = Span(*entity)
    return tags


def convert_tags(tags: Sequence[str], scheme: str = "iob2") -> list[str]:
    """Return the tags of the same entities in another scheme.

    Raises:
        KerasBertError: When the scheme is unknown.
    """
    return tags_of(spans(tags), len(tags), scheme)


def scheme_of(rows: Iterable[Sequence[str]]) -> str | None:
    """Return the scheme of some sentences' tags; None if no tag has a prefix (parts of speech, or no entity at all).

    Entities that start with `I-` are errors in IOB2 if there are fewer of them than of `B-` tags that IOB1 would not need.
    """
    rows = [list(row) for row in rows]
    tags = set().union(*rows) - {OUTSIDE}
    prefixes = {tag[0] for tag in tags if tag[1:2] == "-" and is_prefixed(tag)}
    if not prefixes:  # single letters may be parts of speech too
        prefixes = tags if tags <= set(BARE) else set()
    if not prefixes:
        return None
    if prefixes & set("LU"):
        return "bilou"
    if "W" in prefixes:
        return "bmewo"
    if "M" in prefixes:
        return "bmes"
    if prefixes & set("ES"):
        return "iobes"
    started_by_inside = sum(row[span.first][0] == "I" for row in rows for span in spans(row))
    needless = sum(
        tag[0] == "B" != iob1[0] for row in rows for tag, iob1 in zip(row, convert_tags(row, "iob1"), strict=True)
    )
    return "iob1" if started_by_inside > needless else "iob2"


def is_prefixed(tag: str) -> bool:
    """Tell whether a tag has a prefix: `B-PER`, or `B` alone."""
    return (tag[1:2] == "-" and tag[0] in LIKE) or tag in BARE


def expand_tag(tag: str, words: int, scheme: str = "iob2") -> list[str]:
    """Return a tag for each of several words that share the token of one tag."""
    if words == 1 or not is_prefixed(tag):
        return [tag] * words
    first, middle, last = EXPANDED[tag[0]]
    inside = _WRITTEN.get(scheme, "I")[0]
    return [prefix.replace("I", inside) + tag[1:] for prefix in first + middle * (words - 2) + last]


def entity_scores(truth: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> dict[str, float]:
    """Compute `entity F1`, `precision` and `recall` over all entities of all sentences, and `tag accuracy` over all words.

    An entity is correct if its label, its first and its last word are. A fraction of nothing is 0. The values are those of `seqeval` with
    its defaults.

    Args:
        truth: The right tags of each sentence.
        predicted: The predicted tags of each sentence.

    Raises:
        KerasBertError: When there are not as many tags as words.
    """
    if len(truth) != len(predicted):
        raise KerasBertError(f"expected tags of {len(truth)} sentences to score, received those of {len(predicted)}")
    labels = predictions = correct = same = words = 0
    for number, (right, tags) in enumerate(zip(truth, predicted, strict=True)):
        if len(right) != len(tags):
            raise KerasBertError(f"sentence {number}: expected {len(right)} tags, one a word, received {len(tags)}")
        counts = entity_counts(right, tags)
        labels, predictions, correct = labels + counts[0], predictions + counts[1], correct + counts[2]
        same, words = same + sum(map(str.__eq__, right, tags)), words + len(right)
    return {
        "entity F1": _fraction(2 * correct, labels + predictions),
        "precision": _fraction(correct, predictions),
        "recall": _fraction(correct, labels),
        "tag accuracy": _fraction(same, words),
    }


def entity_counts(truth: Sequence[str], predicted: Sequence[str]) -> tuple[int, int, int]:
    """Return the number of entities in one sentence, of predicted entities, and of correct ones among these."""
    entities, predictions = set(spans(truth)), set(spans(predicted))
    return len(entities), len(predictions), len(entities & predictions)


def _parts(tag: str) -> tuple[str, str]:
    """Split a tag into prefix and label; the label of `O` is empty."""
    if tag == OUTSIDE:
        return OUTSIDE, ""
    if is_prefixed(tag):
        return LIKE[tag[0]], tag[2:] or "_"
    return "I", tag


def _fraction(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
