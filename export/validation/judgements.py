"""Measured values beside their limits, with bounds of 95 % confidence."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from kerasbert.export.validation.comparison import Metric, OutputDifference
from kerasbert.export.validation.confidence import Bounds, correlation_bounds, half_width, rows_until, share_bounds


@dataclass(frozen=True)
class Tolerance:
    """The limits of a validation. None: not judged.

    Attributes:
        max_error: The largest absolute error of any output.
        agreement: The least share of equal predictions, or the least correlation of scores.
        cosine: The least mean cosine, of embeddings only.
        metric_share: The least share of the reference's task metric.
        score_shift: The largest mean by which the scores of predictions move, see `kerasbert.export.validation.comparison.score_shifts`.
        largest_score_shift: The most by which any of them moves.
        calibration: The most by which the expected calibration error grows, on 100 labelled rows or more.
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
    score_shift: float | None = None
    largest_score_shift: float | None = None
    calibration: float | None = None
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
        is_most: Whether the limit is the most allowed, and not the least.
    """

    what: str
    value: float
    low: float
    high: float
    limit: float | None = None
    unjudged: str = ""
    more_rows: int | None = None
    row_share: float | None = None
    is_most: bool = False

    @property
    def kept(self) -> bool:
        """Whether the measured value keeps the limit."""
        if self.limit is None:
            return True
        return self.value <= self.limit if self.is_most else self.value >= self.limit

    @property
    def sure(self) -> bool:
        """Whether the limit is kept with 95 % confidence."""
        if self.unjudged or self.limit is None:
            return not self.unjudged
        return self.high <= self.limit if self.is_most else self.low >= self.limit

    @property
    def missed(self) -> bool:
        """Whether the limit is missed with 95 % confidence."""
        if self.unjudged or self.limit is None:
            return False
        return self.low > self.limit if self.is_most else self.high < self.limit

    def describe(self) -> str:
        """Write the value with the bound that matters, `agreement 0.9767 (at least 0.9625)`."""
        if not math.isfinite(self.value):
            return f"{self.what} -"
        from_above = self.missed != self.is_most
        bound = f"at most {self.format(self.high)}" if from_above else f"at least {self.format(self.low)}"
        row = f"; 1 row = {self.format(self.row_share)}" if self.row_share is not None else ""
        return f"{self.what} {self.format(self.value)} ({bound}{row})"

    def format(self, value: float) -> str:
        """Write a value or a bound: a metric's share in percent."""
        return f"{value:.2%}" if self.row_share is not None else f"{value:.4f}"


def judge_all(
    tolerance: Tolerance,
    outputs: Sequence[OutputDifference],
    metrics: Sequence[Metric],
    compared_as: str,
    rows: int,
) -> tuple[list[Judgement], Judgement | None]:
    """Make the judgements of the outputs that are finite, and of the first metric.

    Args:
        tolerance: The limits.
        outputs: Each output's difference to the reference.
        metrics: The task's metrics, the judged one first.
        compared_as: See `kerasbert.processors.Processor`.
        rows: The number of rows.
    """
    equality = [judge_output(output, tolerance, compared_as, rows, len(outputs) > 1) for output in outputs]
    metric = judge_metric(metrics[0], tolerance.metric_share) if metrics else None
    return [each for each in equality if each], metric


def judge_shift(output: OutputDifference, tolerance: Tolerance, several: bool) -> Judgement:
    """Judge the mean by which scores move; its bounds follow from the spread over lines."""
    value = output.score_shift or 0.0
    width = half_width(output.score_deviation, 0.0, output.lines)
    what = f"mean score shift{f' of {output.name}' if several else ''}"
    return Judgement(what, value, max(value - width, 0.0), value + width, tolerance.score_shift, is_most=True)


def judge_output(
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


def judge_metric(metric: Metric, limit: float | None) -> Judgement:
    """Judge the share of the metric that is kept; it proves nothing where the reference is not surely better than chance."""
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
