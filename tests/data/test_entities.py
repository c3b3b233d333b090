"""Tag schemes and entity scores."""

import random
import re

import pytest

from kerasbert.data.entities import (
    SCHEMES,
    Span,
    convert_tags,
    entity_scores,
    expand_tag,
    scheme_of,
    spans,
    tags_of,
)
from kerasbert.errors import KerasBertError

# What seqeval 1.2.2 says of these, by its `get_entities` and its scores.
TRUTH = [
    ["B-X", "I-X", "O", "I-Y", "I-X", "B-X"],
    ["O", "S-Y", "E-Y", "I-Y", "O"],
    ["B-a-b", "B-a-b", "I-X"],
]
FOUND = [
    ["B-X", "I-X", "O", "B-Y", "I-Y", "B-X"],
    ["O", "S-Y", "B-Y", "I-Y", "O"],
    ["B-a-b", "I-a-b", "I-X"],
]
SPANS = [
    [("X", 0, 2), ("Y", 3, 4), ("X", 4, 5), ("X", 5, 6)],
    [("Y", 1, 2), ("Y", 2, 3), ("Y", 3, 4)],
    [("a-b", 0, 1), ("a-b", 1, 2), ("X", 2, 3)],
]
SCORES = {
    "entity F1": 0.47058823529411764,
    "precision": 0.5714285714285714,
    "recall": 0.4,
    "tag accuracy": 0.7142857142857143,
}


def drawn(count=400):
    """Sentences of tags as they come, right and wrong."""
    draw = random.Random(0)
    for _ in range(count):
        tags = ["O", *(f"{prefix}-{label}" for prefix in draw.choice(["BI", "BIES"]) for label in ("X", "YY"))]
        yield [draw.choice(tags) for _ in range(draw.randint(0, 9))]


def entities(count=200):
    """Sentences of entities: their spans and their number of words."""
    draw = random.Random(1)
    for _ in range(count):
        found, end = [], 0
        for _ in range(draw.randint(0, 4)):
            first = end + draw.randint(0, 2)
            end = first + draw.randint(1, 3)
            found.append(Span(draw.choice("XY"), first, end))
        yield found, end + draw.randint(0, 2)


def by_pattern(tags):
    """The same rule written as a pattern over one letter a word, for each label."""
    found = []
    for label in {tag[2:] for tag in tags} - {""}:
        letters = "".join(tag[0] if tag[2:] == label else "O" for tag in tags)
        found += [(label, *match.span()) for match in re.finditer("[BI]I*E?|S|E", letters)]
    return sorted(found, key=lambda span: span[1])


def test_spans_are_those_of_seqeval():
    assert [spans(tags) for tags in TRUTH] == SPANS


def test_spans_agree_with_a_reference_implementation():
    for tags in drawn():
        assert spans(tags) == by_pattern(tags), tags


def test_bare_labels_and_bare_prefixes():
    assert spans(["X", "X", "O", "Y"]) == [("X", 0, 2), ("Y", 3, 4)]
    assert spans(["B", "I", "B", "O"]) == [("_", 0, 2), ("_", 2, 3)]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_keeps_the_entities(scheme):
    for found, words in entities():
        tags = tags_of(found, words, scheme)
        assert spans(tags) == found
        assert convert_tags(convert_tags(tags, "iob2"), scheme) == tags


def test_the_tags_of_each_scheme():
    found = [Span("X", 0, 1), Span("X", 1, 4), Span("Y", 5, 7)]
    assert tags_of(found, 7, "iob1") == ["I-X", "B-X", "I-X", "I-X", "O", "I-Y", "I-Y"]
    assert tags_of(found, 7, "iob2") == ["B-X", "B-X", "I-X", "I-X", "O", "B-Y", "I-Y"]
    assert tags_of(found, 7, "iobes") == ["S-X", "B-X", "I-X", "E-X", "O", "B-Y", "E-Y"]
    assert tags_of(found, 7, "bilou") == ["U-X", "B-X", "I-X", "L-X", "O", "B-Y", "L-Y"]
    with pytest.raises(KerasBertError, match="bio"):
        convert_tags(["O"], "bio")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_scheme_is_detected_from_tags(scheme):
    rows = [tags_of(found, words, scheme) for found, words in entities(20)]
    assert scheme_of(rows) == scheme
    assert scheme_of([*rows, ["O", "I-X", "O"]]) == scheme  # a slip


@pytest.mark.parametrize("tags", [["O", "O"], [], ["NN", "VB", "O"], ["B", "N", "S"]])
def test_tags_that_mark_no_entities_have_no_scheme(tags):
    assert scheme_of([tags]) is None


def test_a_tag_is_expanded_to_several_words():
    assert expand_tag("B-X", 3) == ["B-X", "I-X", "I-X"]
    assert expand_tag("S-X", 3) == ["B-X", "I-X", "E-X"]
    assert expand_tag("L-X", 2) == ["I-X", "L-X"]
    assert expand_tag("NN", 2) == ["NN", "NN"] and expand_tag("U-X", 1) == ["U-X"]
    assert expand_tag("B-X", 3, "bmes") == ["B-X", "M-X", "M-X"]
    assert expand_tag("W-X", 3, "bmewo") == ["B-X", "M-X", "E-X"]


def test_scores_are_those_of_seqeval():
    scores = entity_scores(TRUTH, FOUND)
    assert scores == pytest.approx(SCORES) and list(scores) == list(SCORES)


def test_metrics_without_entities():
    assert set(entity_scores([["O"], []], [["O"], []]).values()) == {0.0, 1.0}
    assert entity_scores([["B-X"]], [["O"]])["entity F1"] == 0.0


def test_metrics_need_a_tag_for_each_word():
    with pytest.raises(KerasBertError, match="sentence 1: expected 2 tags.*received 1"):
        entity_scores([["O"], ["O", "O"]], [["O"], ["O"]])
    with pytest.raises(KerasBertError, match="2 sentences.*1"):
        entity_scores([["O"], ["O"]], [["O"]])
