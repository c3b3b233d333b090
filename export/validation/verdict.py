"""From what was measured to a verdict: passed, failed, or not judged because the rows do not tell."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kerasbert.export.validation.comparison import Metric, OutputDifference
from kerasbert.export.validation.confidence import Bounds, correlation_bounds, half_width, rows_until, share_bounds

PASSED, FAILED, NOT_RUN, NOT_JUDGED = "passed", "failed", "not run", "not judged"
# What a backend that runs on a part of the rows must surely reach, where another one runs all: it computes the same file.
SPOT_CHECK = 0.9
_WEAK = 0.2  # of the way from chance to perfect


@dataclass(frozen=True)
class Tolerance:
    """What a recipe may cost; None: not judged.

    max_error: largest absolute error of any output. agreement: least share of equal predictions (correlation for
    scores).
    cosine: least mean cosine, judged for embeddings only. metric_share: least share of the other side's task metric.
    by_metric: the metric alone proves the file; the others only tell a broken one.
    """

    max_error: float | None = None
    agreement: float | None = None
    cosine: float | None = None
    metric_share: float | None = None
    by_metric: bool = False


@dataclass(frozen=True)
class Judgement:
    """A measured value beside its limit. It surely is at least `low` and at most `high`, each with 95 % confidence.

    Attributes:
        what: what was measured, such as `agreement`.
        limit: the least value allowed; None: told, not judged.
        unjudged: why it proves nothing, whatever its value; else empty.
        more_rows: how many further rows like these would decide; None: it is decided, or no number would.
        row_share: what one row is worth, of a metric's share.
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
        return self.limit is None or self.value >= self.limit

    @property
    def sure(self) -> bool:
        """Whether the limit is surely kept."""
        return not self.unjudged and (self.limit is None or self.low >= self.limit)

    @property
    def missed(self) -> bool:
        """Whether the limit is surely missed."""
        return not self.unjudged and self.limit is not None and self.high < self.limit

    def describe(self) -> str:
        """`agreement 0.9767 (at least 0.9625)`, by what matters: how good it surely is, or how bad."""
        if not math.isfinite(self.value):
            return f"{self.what} -"
        percent = self.row_share is not None
        show = (lambda v: f"{v:.2%}") if percent else (lambda v: f"{v:.4f}")
        bound = f"at most {show(self.high)}" if self.missed else f"at least {show(self.low)}"
        row = f"; 1 row = {show(self.row_share)}" if percent else ""
        return f"{self.what} {show(self.value)} ({bound}{row})"


@dataclass(frozen=True)
class Verdict:
    """How a check ended: `status`, why, and what it stands on."""

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
    """Judges outputs and the task's metric together.

    `failed`: a number is not finite, an error is larger than allowed, or a limit is surely missed. `passed`: every measured value keeps its
    limit, and equal outputs or the metric surely do. Else `not judged`: the rows do not tell.

    Args:
        tolerance: the limits.
        outputs: each output's difference to the reference.
        metrics: the task's metrics of both sides, the one that is judged first; none without labels.
        compared_as: see `kerasbert.processors.Processor`.
        rows: how many rows there were.
        spot_check: whether these rows are a part of those on which another backend proves the file; then equal outputs or the
            metric must only surely reach `SPOT_CHECK`, and no limit be surely missed.
        sample: whether the rows stand for others like them; if not, the measured values decide by themselves.
    """
    measured = outputs, metrics, compared_as, rows
    same, metric = _judgements(tolerance, *measured)
    judgements = (*same, *([metric] if metric else []))
    missed = [each for each in judgements if (each.missed if sample else not each.kept)]
    faults = [*hard_faults(tolerance, outputs), *(_missed(each, sample) for each in missed)]
    if faults:
        return Verdict(FAILED, "; ".join(faults), judgements)
    if spot_check:
        tolerance = _lowered(tolerance)
        same, metric = _judgements(tolerance, *measured)
        metric = None if metric and metric.unjudged else metric
    open_question = _open(tolerance, same, metric) if sample else ""
    return Verdict(NOT_JUDGED if open_question else PASSED, open_question, judgements)


def _judgements(
    tolerance: Tolerance,
    outputs: Sequence[OutputDifference],
    metrics: Sequence[Metric],
    compared_as: str,
    rows: int,
) -> tuple[list[Judgement], Judgement | None]:
    """Of the outputs that are finite, and of the first metric."""
    same = [_of_output(output, tolerance, compared_as, rows, len(outputs) > 1) for output in outputs]
    return [each for each in same if each], _of_metric(metrics[0], tolerance.metric_share) if metrics else None


def _lowered(tolerance: Tolerance) -> Tolerance:
    """The limits of a spot check."""
    names = ("agreement", "cosine", "metric_share")
    limits = {name: min(SPOT_CHECK, limit) for name in names if (limit := getattr(tolerance, name)) is not None}
    return Tolerance(**limits)


def hard_faults(tolerance: Tolerance, outputs: Sequence[OutputDifference]) -> list[str]:
    """What is wrong on any number of rows: numbers that are not finite, errors that are too large."""
    found = []
    for output in outputs:
        if output.broken:
            found.append(f"NaN or infinity in {output.name!r} on {output.broken} of {output.lines} rows")
        elif tolerance.max_error is not None and output.max_error > tolerance.max_error:
            found.append(f"{output.name!r} is off by up to {output.max_error:.2e}, more than {tolerance.max_error:g}")
    return found


def warnings(metric: Metric, reference: str) -> list[str]:
    """What makes a metric a weak proof, whatever share of it is kept. reference: whose metric it is."""
    evidence, name = metric.evidence, metric.name
    if not metric.reference > 0:
        return [
            f"warning: {name} is {metric.reference:.4f} of {reference}, {metric.model:.4f} of the file: nothing is found that could be lost"
        ]
    chance = evidence.chance if evidence else 0.0
    answer = f"the {chance:.4f} of always answering {evidence.chance_answer!r}" if chance else "0"
    if evidence and not metric.above_chance():
        return [f"warning: {name} {metric.reference:.4f} of {reference} is not surely better than {answer}"]
    if metric.reference - chance < _WEAK * (1 - chance):
        return [
            f"warning: {name} {metric.reference:.4f} of {reference} is little better than {answer}: a weak model proves little"
        ]
    return []


def _open(tolerance: Tolerance, same: Sequence[Judgement], metric: Judgement | None) -> str:
    """Why nothing is decided; empty where all is."""
    judged_same = [each for each in same if each.limit is not None]
    judged = [*judged_same, *([metric] if metric and metric.limit is not None else [])]
    if not judged:
        return ""
    if reasons := [each.unjudged for each in judged if each.unjudged]:
        return "; ".join(dict.fromkeys(reasons))
    proofs = [[metric]] if metric and metric.limit is not None else []
    if tolerance.by_metric and not proofs:
        return "the weights differ, so only the task's metric can prove the file, and the data carry no labels"
    proofs += [] if tolerance.by_metric or not judged_same else [judged_same]
    if all(each.kept for each in judged) and any(all(each.sure for each in proof) for proof in proofs):
        return ""
    unsure = [each for each in judged if not each.sure]
    shown = ", ".join(
        f"{each.what} {_show(each, each.value)} (surely {_show(each, each.low)} or more) against the limit {_show(each, each.limit)}"
        for each in unsure
    )
    more = [each.more_rows for each in unsure if each.more_rows]
    return f"too few rows: {shown}" + (f"; about {min(more):,} more would decide" if more else "")


def _missed(found: Judgement, sample: bool) -> str:
    return (
        f"{found.what} {_show(found, found.value)}, {'surely ' if sample else ''}less than {_show(found, found.limit)}"
    )


def _show(found: Judgement, value: float) -> str:
    return f"{value:.2%}" if found.row_share is not None else f"{value:.4f}"


def _of_output(
    output: OutputDifference, tolerance: Tolerance, compared_as: str, rows: int, several: bool
) -> Judgement | None:
    """How alike an output is by what matters for the processor; None where it is not finite. several: whether there are more outputs."""
    if output.broken or not output.lines:
        return None
    of = f" of {output.name}" if several else ""
    if compared_as == "embedding":
        bounds = lambda n: _around(output.cosine, half_width(output.cosine_deviation, output.cosine, n))  # noqa: E731
        return _judgement(f"mean cosine{of}", output.cosine, tolerance.cosine, bounds, output.lines, rows)
    unjudged = "" if tolerance.agreement is None else _one_answer(output)
    if output.agreement is not None:
        bounds = lambda n: share_bounds(output.agreement, n)  # noqa: E731
        return _judgement(
            f"agreement{of}", output.agreement, tolerance.agreement, bounds, output.decisions, rows, unjudged
        )
    if output.correlation is None:
        return Judgement(f"correlation{of}", math.nan, -1.0, 1.0, tolerance.agreement, unjudged)
    bounds = lambda n: correlation_bounds(output.correlation, n)  # noqa: E731
    return _judgement(f"correlation{of}", output.correlation, tolerance.agreement, bounds, output.lines, rows)


def _one_answer(output: OutputDifference) -> str:
    if output.agreement is None and output.correlation is None:
        return (
            f"{output.name!r} is the same for every row, so there is nothing that could differ: other rows are needed"
        )
    if output.one_answer:
        return "the other side decides the same for every row, so equal decisions prove nothing: other rows are needed"
    return ""


def _of_metric(metric: Metric, limit: float | None) -> Judgement:
    what = f"{metric.name} kept"
    if not metric.reference > 0:
        unjudged = f"{metric.name} is {metric.reference:.4f} on the other side, so nothing can be kept or lost"
        return Judgement(what, math.nan, 0.0, math.inf, limit, unjudged, row_share=0.0)
    if metric.evidence is None:
        return Judgement(what, metric.share, 0.0, math.inf, limit, row_share=0.0)
    unjudged, rows = "", metric.evidence.rows
    if not metric.above_chance():
        chance = f"{metric.name} {metric.reference:.4f} on the other side is not surely better than {metric.evidence.chance:.4f}"
        answer = metric.evidence.chance_answer
        unjudged = f"{chance}, that of always answering {answer!r}" if answer else chance
        if metric.reference > metric.evidence.chance and (more := rows_until(metric.above_chance, rows)):
            unjudged += f"; about {more:,} more rows would tell"
    return _judgement(what, metric.share, limit, metric.share_bounds, rows, rows, unjudged, metric.row_share)


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
    """bounds: of so many decisions; size: how many there are, of that many rows."""
    low, high = bounds(size)
    more = None
    if limit is not None and low < limit <= high and not unjudged:
        each = size / max(rows, 1)
        more = rows_until(lambda n: not bounds(n * each)[0] < limit <= bounds(n * each)[1], rows)
    return Judgement(what, value, low, high, limit, unjudged, more, row_share)


def _around(value: float, width: float) -> Bounds:
    return value - width, value + width
