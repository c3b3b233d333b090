"""The rule by which checks pass, fail, or are not judged, on counts of rows."""

from dataclasses import replace

import numpy as np
import pytest

from kerasbert.export.validation.checks import Check, check_lines
from kerasbert.export.validation.comparison import Calibration, Evidence, Metric, compare
from kerasbert.export.validation.tolerances import TOLERANCES, TRAINED_FURTHER
from kerasbert.export.validation.verdict import Tolerance, judge, warnings
from kerasbert.processors.contributions import Ratio

INT8 = TOLERANCES["static_wi8_ai8"]
FURTHER = replace(TRAINED_FURTHER, metric_share=INT8.metric_share)


def agreement(same: int, rows: int):
    """Two classes, of which both occur, with doubtful scores."""
    reference = np.where(np.eye(2)[np.arange(rows) % 2] > 0, 0.6, 0.4)
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
    [(64, 64, "no difference found"), (18, 20, "not judged"), (98, 98, "no difference found"), (99, 99, "passed"), (97, 98, "not judged"),
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
    assert off.status == "failed" and "off by up to 2.00e-01" in off.reason
    broken = judge(
        INT8, [compare("p", [(np.ones((4, 2)), np.full((4, 2), np.nan))], "single_label")], [], "single_label", rows=4
    )
    assert broken.status == "failed" and "NaN or infinity" in broken.reason


def test_embeddings_and_scores():
    draw = np.random.default_rng(0)
    vectors = draw.normal(size=(200, 16))
    for rows, noise, status in (
        (200, 0.01, "passed"),
        (40, 0.01, "no difference found"),
        (40, 0.1, "not judged"),
        (200, 0.5, "failed"),
    ):
        near = vectors[:rows] + noise * draw.normal(size=(rows, 16))
        found = judge(INT8, [compare("embedding", [(vectors[:rows], near)], "embedding")], [], "embedding", rows=rows)
        assert found.status == status
        scores = compare("score", [(vectors[:rows, :1], near[:, :1])], "regression")
        wanted = "failed" if noise > 0.1 else "passed"
        assert judge(INT8, [scores], [], "regression", rows=rows).status == wanted


def test_the_missing_rows_would_decide():
    found = verdict(64, 64)
    judgement, shift = found.judgements
    assert (
        found.reason
        == "64 rows prove agreement of at least 0.9543; the limit is 0.9700, about 35 more rows would prove it"
    )
    assert judgement.more_rows == 35 and shift.what == "mean score shift" and shift.value == 0
    assert verdict(64 + judgement.more_rows, 64 + judgement.more_rows).status == "passed"
    assert verdict(63 + judgement.more_rows, 63 + judgement.more_rows).status == "no difference found"
    some = verdict(65, 66)
    assert some.status == "not judged" and "more would decide" in some.reason


def scores(shift: float, rows: int = 200, spread: float = 0.01):
    """Two classes with the same decisions, whose scores move towards one half by `shift` on average."""
    draw = np.random.default_rng(0)
    winner = 0.95 - np.abs(draw.normal(0, spread, rows))
    moved = np.maximum(winner - shift + draw.normal(0, spread, rows), 0.501)
    lines = [np.where(np.eye(2)[np.arange(rows) % 2] > 0, side[:, None], 1 - side[:, None]) for side in (winner, moved)]
    return compare("probabilities", [tuple(lines)], "single_label")


@pytest.mark.parametrize(("shift", "status"), [(0.0, "passed"), (0.03, "passed"), (0.2, "failed"), (0.45, "failed")])
def test_scores_that_collapse_fail_although_decisions_agree(shift, status):
    output = scores(shift)
    assert output.agreement == 1.0 and output.score_shift == pytest.approx(shift, abs=0.02)
    found = judge(INT8, [output], [], "single_label", rows=200)
    assert found.status == status and ("mean score shift" in found.reason) == (status == "failed")


def test_the_expected_calibration_error_may_not_grow():
    known = Calibration(0.02, 0.05, 200), Calibration(0.02, 0.4, 200), Calibration(0.02, 0.4, 50)
    found = [judge(INT8, [scores(0.0)], [], "single_label", rows=200, calibration=each) for each in known]
    assert [each.status for each in found] == ["passed", "failed", "passed"]  # of few rows it is mostly chance
    assert "expected calibration error 0.4000 against 0.0200" in found[1].reason


def test_scores_are_compared_by_the_measure_of_the_task():
    vectors = np.random.default_rng(0).normal(size=(50, 8))
    longer = compare("embedding", [(vectors, 1.5 * vectors)], "embedding")
    assert longer.cosine == pytest.approx(1) and longer.score_shift == pytest.approx(0.5)
    values = vectors[:, :1]
    scaled = compare("score", [(values, 0.5 * values)], "regression")
    expected = np.abs(0.5 * values).mean() / np.ptp(values)
    assert scaled.correlation == pytest.approx(1) and scaled.score_shift == pytest.approx(expected)
    yes = np.array([[0.9, 0.1], [0.2, 0.8]])
    several = compare("probabilities", [(yes, yes + np.array([[0.0, 0.3], [-0.1, 0.0]]))], "multi_label")
    assert several.score_shift == pytest.approx(0.2) and several.largest_score_shift == pytest.approx(0.3)


def test_bounds_are_written_in_the_report():
    found = verdict(31, 32, accuracy(32, 32))
    (line,) = check_lines([Check("cpu", found.status, judgements=found.judgements)])
    assert (
        line
        == "cpu, 95 % sure: agreement 0.9688 (at least 0.8559), accuracy kept 100.00% (at least 90.64%; 1 row = 3.12%), "
        "mean score shift 0.0062 (at most 0.0164)"
    )
