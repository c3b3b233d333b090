"""Judges measurements: passed, failed, or not judged where the rows are too few to decide."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from kerasbert.export.validation.comparison import Metric, OutputDifference
from kerasbert.export.validation.confidence import Bounds, correlation_bounds, half_width, rows_until, share_bounds

PASSED, FAILED, NOT_RUN, NOT_JUDGED = "passed", "failed", "not run", "not judged"
# The limit for a backend that runs a sample of the rows, where another one proves the same file on all of them.
SPOT_CHECK = 0.9
_WEAK = 0.2  # a metric below this share of the way from chance to perfect is weak


@dataclass(frozen=True)
class Tolerance:
    """The limits of a validation. None: not judged.

    Attributes:
        max_error: The largest absolute error of any output.
        agreement: The least share of equal predictions, or the least correlation of scores.
        cosine: The least mean cosine, of embeddings only.
        metric_share: The least share of the reference's task metric.
        by_metric: Whether the metric alone proves the file. The other limits then only find a broken one.

    Example:
        ```python
        limits = kb.export.Tolerance(agreement=0.9, metric_share=0.95)
        kb.export.validate("mine.tflite", against=int8, data=(texts, labels), tolerance=limits).verdict
        ```
    """

    max_error: float | None = None
    agreement: float | None = None
    cosine: float | None = None
    metric_share: float | None = None
    by_metric: bool = False


@dataclass(frozen=True)
class Judgement:
    """A measured value beside its limit.

    Attributes:
        what: The name of the measure, such as `agreement`.
        value: The measured value.
        low: The lower bound, with 95 % confidence.
        high: The upper bound, with 95 % confidence.
        limit: The least value allowed; None: reported, not judged.
        unjudged: The reason why the value proves nothing; empty where it is judged.
        more_rows: Further rows like these that would decide; None where it is decided, or no number would.
        row_share: The share that one row is worth; None where the value is no metric's share.
    """

    what: str
    value: float
    low: float
    high: float
    limit: float | None = None
    unjudged: str = ""
    more_rows: int | None = None
    row_share: float | None = None

    @property
    def kept(self) -> bool:
        """Whether the measured value keeps the limit."""
        return self.limit is None or self.value >= self.limit

    @property
    def sure(self) -> bool:
        """Whether the limit is kept with 95 % confidence."""
        return not self.unjudged and (self.limit is None or self.low >= self.limit)

    @property
    def missed(self) -> bool:
        """Whether the limit is missed with 95 % confidence."""
        return not self.unjudged and self.limit is not None and self.high < self.limit

    def describe(self) -> str:
        """Write the value with the bound that matters, `agreement 0.9767 (at least 0.9625)`."""
        if not math.isfinite(self.value):
            return f"{self.what} -"
        bound = f"at most {self.format(self.high)}" if self.missed else f"at least {self.format(self.low)}"
        row = f"; 1 row = {self.format(self.row_share)}" if self.row_share is not None else ""
        return f"{self.what} {self.format(self.value)} ({bound}{row})"

    def format(self, value: float) -> str:
        """Write a value or a bound: a metric's share in percent."""
        return f"{value:.2%}" if self.row_share is not None else f"{value:.4f}"


@dataclass(frozen=True)
class Verdict:
    """The end of a check.

    Attributes:
        status: `passed`, `failed` or `not judged`.
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
) -> Verdict:
    """Judge outputs and the task's metric together.

    `failed`: a number is not finite, an error is larger than allowed, or a limit is missed with 95 % confidence. `passed`: every measured
    value keeps its limit, and equal outputs or the metric keep it with 95 % confidence. Else `not judged`: the rows do not decide.

    Args:
        tolerance: The limits.
        outputs: Each output's difference to the reference.
        metrics: The task's metrics, the judged one first; none without labels.
        compared_as: See `kerasbert.processors.Processor`.
        rows: The number of rows.
        spot_check: Whether these rows are a sample of those on which another backend proves the file. Equal outputs or the metric must
            then only reach `SPOT_CHECK`.
        sample: Whether the rows stand for others like them; if not, the measured values decide by themselves.
    """
    equality, metric = _judgements(tolerance, outputs, metrics, compared_as, rows)
    judgements = (*equality, *([metric] if metric else []))
    missed = [each for each in judgements if (each.missed if sample else not each.kept)]
    faults = [*hard_faults(tolerance, outputs), *(_missed_reason(each, sample) for each in missed)]
    if faults:
        return Verdict(FAILED, "; ".join(faults), judgements)
    if spot_check:
        tolerance = _lowered(tolerance)
        equality, metric = _judgements(tolerance, outputs, metrics, compared_as, rows)
        metric = None if metric and metric.unjudged else metric
    undecided = _undecided_reason(tolerance, equality, metric) if sample else ""
    return Verdict(NOT_JUDGED if undecided else PASSED, undecided, judgements)


def _judgements(
    tolerance: Tolerance,
    outputs: Sequence[OutputDifference],
    metrics: Sequence[Metric],
    compared_as: str,
    rows: int,
) -> tuple[list[Judgement], Judgement | None]:
    """Make the judgements of the outputs that are finite, and of the first metric."""
    equality = [_judge_output(output, tolerance, compared_as, rows, len(outputs) > 1) for output in outputs]
    metric = _judge_metric(metrics[0], tolerance.metric_share) if metrics else None
    return [each for each in equality if each], metric


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
        elif tolerance.max_error is not None and output.max_error > tolerance.max_error:
            faults.append(f"{output.name!r} is off by up to {output.max_error:.2e}, more than {tolerance.max_error:g}")
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
    return f"{judgement.what} {judgement.format(judgement.value)}, {'surely ' if sample else ''}less than {limit}"


def _judge_output(
    output: OutputDifference, tolerance: Tolerance, compared_as: str, rows: int, several: bool
) -> Judgement | None:
    """Judge the equality of one output by the processor's measure; None where it is not finite."""
    if output.broken or not output.lines:
        return None
    of = f" of {output.name}" if several else ""
    if compared_as == "embedding":

        def cosine_bounds(decisions: float) -> Bounds:
            width = half_width(output.cosine_deviation, output.cosine, decisions)
            return output.cosine - width, output.cosine + width

        return _judgement(f"mean cosine{of}", output.cosine, tolerance.cosine, cosine_bounds, output.lines, rows)
    unjudged = "" if tolerance.agreement is None else _constant_reason(output)
    agreement, correlation = output.agreement, output.correlation
    if agreement is not None:
        agreement_bounds = partial(share_bounds, agreement)
        return _judgement(
            f"agreement{of}", agreement, tolerance.agreement, agreement_bounds, output.decisions, rows, unjudged
        )
    if correlation is None:
        return Judgement(f"correlation{of}", math.nan, -1.0, 1.0, tolerance.agreement, unjudged)
    bounds = partial(correlation_bounds, correlation)
    return _judgement(f"correlation{of}", correlation, tolerance.agreement, bounds, output.lines, rows)


def _constant_reason(output: OutputDifference) -> str:
    """Return why equal outputs prove nothing where the reference is constant; empty where it is not."""
    if output.agreement is None and output.correlation is None:
        return (
            f"{output.name!r} is the same for every row, so there is nothing that could differ: other rows are needed"
        )
    if output.one_answer:
        return "the reference decides the same for every row, so equal decisions prove nothing: other rows are needed"
    return ""


def _judge_metric(metric: Metric, limit: float | None) -> Judgement:
    what = f"{metric.name} kept"
    if not metric.reference > 0:
        unjudged = f"{metric.name} is {metric.reference:.4f} for the reference, so nothing can be kept or lost"
        return Judgement(what, math.nan, 0.0, math.inf, limit, unjudged, row_share=0.0)
    if metric.evidence is None:
        return Judgement(what, metric.share, 0.0, math.inf, limit, row_share=0.0)
    unjudged, rows, evidence = "", metric.evidence.rows, metric.evidence
    if not metric.above_chance():
        chance = (
            f"{metric.name} {metric.reference:.4f} for the reference is not surely better than {evidence.chance:.4f}"
        )
        answer = evidence.chance_answer
        unjudged = f"{chance}, that of always answering {answer!r}" if answer else chance
        if metric.reference > evidence.chance and (more := rows_until(metric.above_chance, rows)):
            unjudged += f"; about {more:,} more rows would tell"
    bounds = partial(evidence.share_bounds, metric.share)
    return _judgement(what, metric.share, limit, bounds, rows, rows, unjudged, metric.row_share)


def _judgement(
    what: str,
    value: float,
    limit: float | None,
    bounds: Callable[[float], Bounds],
    size: float,
    rows: int,
    unjudged: str = "",
    row_share: float | None = None,
) -> Judgement:
    """Make a judgement, with the number of further rows that would decide.

    Args:
        what: The name of the measure.
        value: The measured value.
        limit: The least value allowed; None where there is none.
        bounds: A number of decisions -> the bounds of the value.
        size: Decisions that were measured.
        rows: Rows that they are of.
        unjudged: The reason why the value proves nothing; empty where it is judged.
        row_share: The share that one row is worth.
    """
    low, high = bounds(size)
    more = None
    if limit is not None and low < limit <= high and not unjudged:
        each = size / max(rows, 1)
        more = rows_until(lambda n: not bounds(n * each)[0] < limit <= bounds(n * each)[1], rows)
    return Judgement(what, value, low, high, limit, unjudged, more, row_share)
