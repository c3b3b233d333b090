"""The rule by which checks pass, fail, or are not judged, on counts of rows."""

from dataclasses import replace

import numpy as np
import pytest

from kerasbert.export.validation.checks import Check, certainty_lines
from kerasbert.export.validation.comparison import Evidence, Metric, compare
from kerasbert.export.validation.tolerances import TOLERANCES, TRAINED_FURTHER
from kerasbert.export.validation.verdict import Tolerance, judge, warnings
from kerasbert.processors.contributions import Ratio

INT8 = TOLERANCES["static_wi8_ai8"]
FURTHER = replace(TRAINED_FURTHER, metric_share=INT8.metric_share)


def agreement(same: int, rows: int):
    """Two classes, of which both occur."""
    reference = np.eye(2)[np.arange(rows) % 2]
    model = reference.copy()
    model[same:] = model[same:, ::-1]
    return compare("probabilities", [(reference, model)], "single_label")


def accuracy(rows: int, both: int, lost: int = 0, won: int = 0, chance: float = 0.1) -> Metric:
    """Of `rows` texts both sides get `both` right, only the reference `lost`, only the file `won`."""
    number = np.arange(rows)
    sides = number < both + lost, (number < both) | ((number >= both + lost) & (number < both + lost + won))
    contributions = [Ratio.of_decisions(side, chance, "call") for side in sides]
    return Metric("accuracy", *(side.value for side in contributions), Evidence.of(*contributions))


def verdict(same: int, rows: int, metric: Metric | None = None, tolerance: Tolerance = INT8, **settings):
    return judge(tolerance, [agreement(same, rows)], [metric] if metric else [], "single_label", rows=rows, **settings)


@pytest.mark.parametrize(
    ("same", "rows", "status"),
    [(64, 64, "not judged"), (18, 20, "not judged"), (98, 98, "not judged"), (99, 99, "passed"),
     (418, 430, "not judged"), (427, 430, "passed"), (400, 430, "failed")],
)  # fmt: skip
def test_without_labels_equal_outputs_decide(same, rows, status):
    assert verdict(same, rows).status == status


@pytest.mark.parametrize(
    ("same", "metric", "status"),
    [
        (420, accuracy(430, 400, 3, 3), "passed"),  # agreement alone would leave it open
        (420, accuracy(430, 400, 10, 0), "not judged"),
        (420, accuracy(430, 380, 20, 0), "failed"),
        (415, accuracy(430, 400, 3, 3), "not judged"),  # less than the limit, if not surely
        (400, accuracy(430, 400), "failed"),
        (430, accuracy(430, 400), "passed"),
    ],
)
def test_agreement_and_metric_are_judged_together(same, metric, status):
    assert verdict(same, 430, metric).status == status


def test_a_spot_check_has_lower_limits():
    assert verdict(62, 64, spot_check=True).status == "passed"
    assert verdict(62, 64).status == "not judged"
    assert verdict(60, 64, spot_check=True).status == "not judged"
    assert verdict(60, 64, accuracy(64, 60), spot_check=True).status == "passed"  # by the metric of these rows
    assert verdict(62, 64, accuracy(64, 0), spot_check=True).status == "passed"  # which need not tell
    assert verdict(50, 64, spot_check=True).status == "failed"


def test_a_model_that_was_trained_further_needs_the_metric():
    """Agreement 0.933 at an accuracy of 0.187."""
    weak = accuracy(150, 26, 2, 2)
    found = verdict(140, 150, weak, FURTHER)
    assert found.status == "not judged" and "accuracy kept 100.00% (surely" in found.reason
    assert warnings(weak, "runs/x") == [
        "warning: accuracy 0.1867 of runs/x is little better than the 0.1000 of always answering 'call': a weak model proves little"
    ]
    assert verdict(600, 640, accuracy(640, 600, 3, 3), FURTHER).status == "passed"
    assert "no labels" in verdict(640, 640, None, FURTHER).reason


def test_a_metric_that_is_not_better_than_chance_proves_nothing():
    found = verdict(300, 300, accuracy(300, 35))
    assert found.status == "not judged"
    assert (
        "accuracy 0.1167 for the reference is not surely better than 0.1000, that of always answering 'call'"
        in found.reason
    )
    assert "about 884 more rows would tell" in found.reason
    nothing = verdict(300, 300, accuracy(300, 0))
    assert nothing.status == "not judged" and "accuracy is 0.0000" in nothing.reason


def test_constant_predictions_prove_nothing():
    same = np.eye(2)[np.zeros(300, int)]
    found = judge(INT8, [compare("p", [(same, same)], "single_label")], [], "single_label", rows=300)
    assert found.status == "not judged" and "decides the same for every row" in found.reason
    constant = judge(INT8, [compare("score", [(same[:, :1], same[:, :1])], "regression")], [], "regression", rows=300)
    assert constant.status == "not judged" and "the same for every row" in constant.reason


def test_largest_errors_are_judged_on_any_number_of_rows():
    exact = TOLERANCES["float32"]
    assert verdict(3, 3, tolerance=exact).status == "passed"
    off = verdict(2, 3, accuracy(3, 3), tolerance=exact)
    assert off.status == "failed" and "off by up to 1.00e+00" in off.reason
    broken = judge(
        INT8, [compare("p", [(np.ones((4, 2)), np.full((4, 2), np.nan))], "single_label")], [], "single_label", rows=4
    )
    assert broken.status == "failed" and "NaN or infinity" in broken.reason


def test_embeddings_and_scores():
    draw = np.random.default_rng(0)
    vectors = draw.normal(size=(200, 16))
    for rows, noise, status in ((200, 0.01, "passed"), (40, 0.01, "not judged"), (200, 0.5, "failed")):
        near = vectors[:rows] + noise * draw.normal(size=(rows, 16))
        found = judge(INT8, [compare("embedding", [(vectors[:rows], near)], "embedding")], [], "embedding", rows=rows)
        assert found.status == status
        scores = compare("score", [(vectors[:rows, :1], near[:, :1])], "regression")
        wanted = "failed" if noise > 0.1 else "passed"
        assert judge(INT8, [scores], [], "regression", rows=rows).status == wanted


def test_the_missing_rows_would_decide():
    found = verdict(64, 64)
    (judgement,) = found.judgements
    assert f"about {judgement.more_rows} more would decide" in found.reason
    assert verdict(64 + judgement.more_rows, 64 + judgement.more_rows).status == "passed"
    assert verdict(63 + judgement.more_rows, 63 + judgement.more_rows).status == "not judged"


def test_bounds_are_written_in_the_report():
    found = verdict(31, 32, accuracy(32, 32))
    (line,) = certainty_lines([Check("cpu", found.status, judgements=found.judgements)])
    assert (
        line
        == "cpu, 95 % sure: agreement 0.9688 (at least 0.8559), accuracy kept 100.00% (at least 90.64%; 1 row = 3.12%)"
    )
