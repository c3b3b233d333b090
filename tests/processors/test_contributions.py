"""The contributions of examples sum up to the main metric of every processor."""

import numpy as np
import pytest

from kerasbert.processors import Features, make_processor
from kerasbert.processors.contributions import Correlation, Ratio, most_frequent
from kerasbert.processors.features import TokenLists

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
