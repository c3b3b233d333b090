"""Judges measurements: passed, failed, no difference found, or not judged where the rows are too few to decide."""

from collections.abc import Sequence
from dataclasses import dataclass

from kerasbert.export.validation.comparison import Calibration, Metric, OutputDifference
from kerasbert.export.validation.judgements import Judgement, Tolerance, judge_all, judge_shift

PASSED, FAILED, NOT_RUN, NOT_JUDGED = "passed", "failed", "not run", "not judged"
NO_DIFFERENCE = "no difference found"
_SAME = 5e-4  # of a mean cosine or a correlation: less is no difference
_CALIBRATION_ROWS = 100  # with fewer rows, the calibration error of a model is mostly chance
# The limit for a backend that runs a sample of the rows, where another one proves the same file on all of them.
SPOT_CHECK = 0.9
_WEAK = 0.2  # a metric below this share of the way from chance to perfect is weak


@dataclass(frozen=True)
class Verdict:
    """The end of a check.

    Attributes:
        status: `passed`, `failed`, `no difference found` or `not judged`.
        reason: The reason; empty where it passed.
        judgements: The measured values behind it.
    """

    status: str
    reason: str
    judgements: tuple[Judgement, ...] = ()


def judge(
    tolerance: Tolerance,
    outputs: Sequence[OutputDifference],
    metrics: Sequence[Metric],
    compared_as: str,
    *,
    rows: int,
    spot_check: bool = False,
    sample: bool = True,
    calibration: Calibration | None = None,
) -> Verdict:
    """Judge outputs and the task's metric together.

    `failed`: a number is not finite, an error is larger than allowed, or a limit is missed with 95 % confidence. `passed`: every measured
    value keeps its limit, and equal outputs or the metric keep it with 95 % confidence. `no difference found`: nothing differs, but the
    rows are too few to prove the limit. Else `not judged`: the rows do not decide.

    Args:
        tolerance: The limits.
        outputs: Each output's difference to the reference.
        metrics: The task's metrics, the judged one first; none without labels.
        compared_as: See `kerasbert.processors.Processor`.
        rows: The number of rows.
        spot_check: Whether these rows are a sample of those on which another backend proves the file. Equal outputs or the metric must
            then only reach `SPOT_CHECK`.
        sample: Whether the rows stand for others like them; if not, the measured values decide by themselves.
        calibration: The calibration of both models; None where it was not measured.
    """
    equality, metric = judge_all(tolerance, outputs, metrics, compared_as, rows)
    shifts = [judge_shift(output, tolerance, len(outputs) > 1) for output in outputs if output.score_shift is not None]
    judgements = (*equality, *([metric] if metric else []), *shifts)
    missed = [each for each in judgements if (each.missed if sample else not each.kept)]
    faults = [*hard_faults(tolerance, outputs), *(_missed_reason(each, sample) for each in missed)]
    faults += _calibration_faults(tolerance, calibration)
    if faults:
        return Verdict(FAILED, "; ".join(faults), judgements)
    if spot_check:
        tolerance = _lowered(tolerance)
        equality, metric = judge_all(tolerance, outputs, metrics, compared_as, rows)
        metric = None if metric and metric.unjudged else metric
    undecided = _undecided_reason(tolerance, equality, metric) if sample else ""
    unkept = [each for each in shifts if not each.kept]
    if undecided and not unkept and _no_difference(tolerance, equality, metric):
        return Verdict(NO_DIFFERENCE, _proven(equality, rows), judgements)
    if unkept and not undecided:
        undecided = "too few rows: " + ", ".join(f"{each.describe()} against the limit {each.limit}" for each in unkept)
    return Verdict(NOT_JUDGED if undecided else PASSED, undecided, judgements)


def _no_difference(tolerance: Tolerance, equality: Sequence[Judgement], metric: Judgement | None) -> bool:
    """Tell whether nothing at all differs: every decision is the same. Other weights are judged by the metric only."""
    same = all(
        not each.unjudged and each.value >= (1.0 if each.what.startswith("agreement") else 1.0 - _SAME)
        for each in equality
    )
    kept = metric is None or (not metric.unjudged and metric.value >= 1.0)
    return bool(equality) and same and kept and not tolerance.by_metric


def _proven(equality: Sequence[Judgement], rows: int) -> str:
    """Write what so many equal rows prove."""
    proven = ", ".join(f"{each.what} of at least {each.format(each.low)}" for each in equality)
    limits = ", ".join(dict.fromkeys(each.format(each.limit) for each in equality if each.limit is not None))
    more = [each.more_rows for each in equality if each.more_rows]
    wanted = f"; the limit is {limits}" + (f", about {max(more):,} more rows would prove it" if more else "")
    return f"{rows:,} {'row proves' if rows == 1 else 'rows prove'} {proven}{wanted if limits else ''}"


def _calibration_faults(tolerance: Tolerance, calibration: Calibration | None) -> list[str]:
    if tolerance.calibration is None or calibration is None or calibration.rows < _CALIBRATION_ROWS:
        return []
    if calibration.model - calibration.reference <= tolerance.calibration:
        return []
    return [
        f"expected calibration error {calibration.model:.4f} against {calibration.reference:.4f}, more than "
        f"{tolerance.calibration:g} above"
    ]


def _lowered(tolerance: Tolerance) -> Tolerance:
    """Return the limits of a spot check."""

    def lowered(limit: float | None) -> float | None:
        return None if limit is None else min(SPOT_CHECK, limit)

    return Tolerance(
        agreement=lowered(tolerance.agreement),
        cosine=lowered(tolerance.cosine),
        metric_share=lowered(tolerance.metric_share),
    )


def hard_faults(tolerance: Tolerance, outputs: Sequence[OutputDifference]) -> list[str]:
    """List faults that count on any number of rows: numbers that are not finite, and errors that are too large."""
    faults = []
    for output in outputs:
        if output.broken:
            faults.append(f"NaN or infinity in {output.name!r} on {output.broken} of {output.lines} rows")
            continue
        if tolerance.max_error is not None and output.max_error > tolerance.max_error:
            faults.append(f"{output.name!r} is off by up to {output.max_error:.2e}, more than {tolerance.max_error:g}")
        if (
            tolerance.largest_score_shift is not None
            and (output.largest_score_shift or 0) > tolerance.largest_score_shift
        ):
            faults.append(
                f"a score of {output.name!r} moves by {output.largest_score_shift:.3f}, more than {tolerance.largest_score_shift:g}"
            )
    return faults


def warnings(metric: Metric, reference: str) -> list[str]:
    """Warn of a metric that is a weak proof, whatever share of it is kept.

    Args:
        metric: The judged one.
        reference: The reference's name.
    """
    evidence, name = metric.evidence, metric.name
    if not metric.reference > 0:
        return [
            f"warning: {name} is {metric.reference:.4f} of {reference}, {metric.model:.4f} of the file: nothing is found that could be lost"
        ]
    chance = evidence.chance if evidence else 0.0
    answer = f"the {chance:.4f} of always answering {evidence.chance_answer!r}" if evidence and chance else "0"
    if evidence and not metric.above_chance():
        return [f"warning: {name} {metric.reference:.4f} of {reference} is not surely better than {answer}"]
    if metric.reference - chance < _WEAK * (1 - chance):
        return [
            f"warning: {name} {metric.reference:.4f} of {reference} is little better than {answer}: a weak model proves little"
        ]
    return []


def _undecided_reason(tolerance: Tolerance, equality: Sequence[Judgement], metric: Judgement | None) -> str:
    """Return why the rows do not decide; empty where they do."""
    judged_equality = [each for each in equality if each.limit is not None]
    judged = [*judged_equality, *([metric] if metric and metric.limit is not None else [])]
    if not judged:
        return ""
    if reasons := [each.unjudged for each in judged if each.unjudged]:
        return "; ".join(dict.fromkeys(reasons))
    proofs = [[metric]] if metric and metric.limit is not None else []
    if tolerance.by_metric and not proofs:
        return "the weights differ, so only the task's metric can prove the file, and the data carry no labels"
    proofs += [] if tolerance.by_metric or not judged_equality else [judged_equality]
    if all(each.kept for each in judged) and any(all(each.sure for each in proof) for proof in proofs):
        return ""
    unsure = [each for each in judged if not each.sure]
    listed = ", ".join(
        f"{each.what} {each.format(each.value)} (surely {each.format(each.low)} or more) against the limit {each.format(each.limit)}"
        for each in unsure
        if each.limit is not None
    )
    more = [each.more_rows for each in unsure if each.more_rows]
    return f"too few rows: {listed}" + (f"; about {min(more):,} more would decide" if more else "")


def _missed_reason(judgement: Judgement, sample: bool) -> str:
    limit = "" if judgement.limit is None else judgement.format(judgement.limit)
    side = "more" if judgement.is_most else "less"
    return f"{judgement.what} {judgement.format(judgement.value)}, {'surely ' if sample else ''}{side} than {limit}"
