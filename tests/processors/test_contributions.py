"""The contributions of examples sum up to the main metric of every processor."""

import numpy as np
import pytest

from kerasbert.processors import Features, make_processor
from kerasbert.processors.contributions import Correlation, Ratio, most_frequent
from kerasbert.processors.features import TokenLists
from kerasbert.processors.registry import train_tasks

DRAW = np.random.default_rng(0)
ROWS = 40


def _packed(length: int, group: int = 1) -> Features:
    tokens = TokenLists([[1] * length] * (ROWS * group), [[0] * length] * (ROWS * group))
    return Features(tokens, np.arange(ROWS), group)


def _case(name: str):
    """Processor, labels, features and raw results, at random."""
    probabilities = DRAW.dirichlet(np.ones(3), ROWS)
    if name == "single_label":
        raw_results = [{"probabilities": row[None]} for row in probabilities]
        return make_processor(name, ("a", "b", "c")), DRAW.integers(0, 3, ROWS), _packed(4), raw_results
    if name == "multi_label":
        raw_results = [{"probabilities": row[None] + 0.2} for row in probabilities]
        return make_processor(name, ("a", "b", "c")), DRAW.integers(0, 2, (ROWS, 3)), _packed(4), raw_results
    if name == "regression":
        y = DRAW.normal(size=ROWS).round(1)
        return make_processor(name), y, _packed(4), [{"score": [[v + DRAW.normal()]]} for v in y]
    if name == "embedding":
        raw_results = [{"embedding": row[None]} for row in DRAW.normal(size=(ROWS, 5))]
        return make_processor(name), DRAW.normal(size=(ROWS, 5)), _packed(4), raw_results
    if name == "pairs":
        raw_results = [{"embedding": pair} for pair in DRAW.normal(size=(ROWS, 2, 5))]
        return make_processor("embedding"), DRAW.normal(size=ROWS), _packed(4, 2), raw_results
    if name == "multiple_choice":
        raw_results = [{"logits": row[:, None]} for row in probabilities]
        return make_processor(name), DRAW.integers(0, 3, ROWS), _packed(4, 3), raw_results
    if name == "question_answering":
        raw_results = [{end: DRAW.normal(size=(1, 4)) for end in ("start_logits", "end_logits")} for _ in range(ROWS)]
        return make_processor(name), DRAW.integers(0, 2, (ROWS, 2)), _packed(4), raw_results
    labels = ("O", "B-x", "I-x") if name == "entities" else ("noun", "verb", "other")
    raw_results = [{"probabilities": row} for row in DRAW.dirichlet(np.ones(3), (ROWS, 4))]
    return make_processor("tagging", labels), DRAW.integers(0, 3, (ROWS, 4)), _packed(4), raw_results


NAMES = (
    "single_label", "multi_label", "regression", "embedding", "pairs", "multiple_choice", "question_answering", "entities",
    "parts of speech",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_contributions_sum_up_to_the_main_metric(name):
    processor, y, features, raw_results = _case(name)
    main = next(iter(processor.metrics(y, range(ROWS), features, raw_results).values()))
    found = processor.contributions(y, range(ROWS), features, raw_results)
    assert found.value == pytest.approx(main, abs=1e-12)
    assert found.influence.shape == (ROWS,) and abs(found.influence.mean()) < 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_influence_predicts_the_metric_without_an_example(name):
    """The mean of the influence of the examples that stay is what the metric moves by, to first order."""
    processor, y, features, raw_results = _case(name)
    found = processor.contributions(y, range(ROWS), features, raw_results)
    sides = (found.parts, found.wholes) if isinstance(found, Ratio) else (found.truth, found.predicted)
    for left_out in range(0, ROWS, 7):
        keep = np.arange(ROWS) != left_out
        moved = type(found)(*(side[keep] for side in sides)).value - found.value
        assert moved == pytest.approx(found.influence[keep].mean(), abs=0.02)


def _answers(name: str, right: bool):
    """Processor, labels, features and the raw results of right answers, or of wrong ones."""
    y, packed = np.arange(ROWS) % 3, _packed(4)
    rows = np.eye(3)[y if right else (y + 1) % 3]
    sign = 1 if right else -1
    if name == "single_label":
        return make_processor(name, ("a", "b", "c")), y, packed, [{"probabilities": row[None]} for row in rows]
    if name == "multi_label":
        return (
            make_processor(name, ("a", "b", "c")),
            np.eye(3)[y],
            packed,
            [{"probabilities": each[None]} for each in rows],
        )
    if name == "regression":
        return make_processor(name), y, packed, [{"score": [[sign * each]]} for each in y]
    if name == "embedding":
        truth = np.eye(5)[np.arange(ROWS) % 5]
        return make_processor(name), truth, packed, [{"embedding": sign * each[None]} for each in truth]
    if name == "pairs":
        pairs = [np.array([[1.0, 0.0], [sign * each, 3.0]]) for each in y]
        return make_processor("embedding"), y, _packed(4, 2), [{"embedding": each} for each in pairs]
    if name == "multiple_choice":
        return make_processor(name), y, _packed(4, 3), [{"logits": row[:, None]} for row in rows]
    if name == "question_answering":
        logits = [{end: row[None] for end in ("start_logits", "end_logits")} for row in rows]
        return make_processor(name), np.stack([y, y], 1), packed, logits
    if name == "masked_lm":
        return make_processor(name), None, packed, [{"logits": np.array([[0.6, 0.3][::sign]])} for _ in range(ROWS)]
    labels = ("O", "B-x", "B-y") if name == "entities" else ("noun", "verb", "other")
    tags = [{"probabilities": np.repeat(row[None], 4, 0)} for row in rows]
    return make_processor("tagging", labels), np.repeat(y[:, None], 4, 1), packed, tags


# The first of `joint` is the mean of those of its heads, which classify or tag.
@pytest.mark.parametrize("name", [*NAMES, "masked_lm"])
def test_the_main_metric_is_larger_for_right_answers(name):
    """It chooses the best epoch, and the best candidate of a search: an error measure must not be the first."""
    values = []
    for right in (True, False):
        processor, y, features, raw_results = _answers(name, right)
        values.append(next(iter(processor.metrics(y, range(ROWS), features, raw_results).values())))
    assert values[0] == pytest.approx(1.0) and values[1] < 0.5


def test_every_task_that_can_be_trained_is_tried_above():
    processors = {processor for _, processor in train_tasks().values()}
    assert processors <= {*NAMES, "tagging", "masked_lm", "joint"}


def test_chance_is_the_most_frequent_answer():
    processor = make_processor("single_label", ("a", "b"))
    raw_results = [{"probabilities": np.eye(2)[[number]]} for number in (0, 0, 0, 1)]
    found = processor.contributions(["b", "b", "b", "a"], ["x"] * 4, None, raw_results)
    assert (found.value, found.chance, found.chance_answer) == (0.0, 0.75, "b")
    assert most_frequent([]) == (0.0, None)


def test_the_metric_of_no_decisions_is_nan():
    nothing = Ratio(np.zeros(3), np.zeros(3))
    assert np.isnan(nothing.value) and not nothing.influence.any()
    constant = Correlation(np.ones(3), np.arange(3.0))
    assert np.isnan(constant.value) and not constant.influence.any()


@pytest.mark.parametrize("name", ["single_label", "multi_label", "regression", "pairs"])
def test_decisions_do_not_depend_on_the_order_of_labels(name):
    processor, _, features, raw_results = _case(name)
    found = processor.decisions(range(ROWS), features, raw_results)
    assert len(found) == ROWS
    if processor.labels is not None:
        turned = make_processor(name, processor.labels[::-1])
        swapped = [{key: values[:, ::-1] for key, values in each.items()} for each in raw_results]
        assert turned.decisions(range(ROWS), features, swapped) == found and len(set(found)) > 1
