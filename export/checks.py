"""The results of a validation: what a check is, when it passes, and the report that holds them."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from kerasbert.console.tables import Block, Table, render
from kerasbert.errors import KerasBertError
from kerasbert.export.metrics import Metric, OutputDifference
from kerasbert.export.tables import format_number, format_seconds
from kerasbert.problems import problem_class

PASSED, FAILED, NOT_RUN = "passed", "failed", "not run"


@dataclass(frozen=True)
class Tolerance:
    """What a recipe may cost; None: not judged.

    max_error: largest absolute error of any output. agreement: least share of equal predictions (correlation for
    scores).
    cosine: least mean cosine, judged for embeddings only. metric_share: least share of the other side's task metric.
    """

    max_error: float | None = None
    agreement: float | None = None
    cosine: float | None = None
    metric_share: float | None = None


@dataclass(frozen=True)
class Latency:
    """Seconds for one row; median, 90th and 99th percentile, mean, and how many runs they stand on."""

    p50: float
    p90: float
    p99: float
    mean: float
    runs: int

    @classmethod
    def of(cls, seconds: Sequence[float]) -> "Latency":
        return cls(*map(float, np.quantile(seconds, (0.5, 0.9, 0.99))), float(np.mean(seconds)), len(seconds))


@dataclass(frozen=True)
class Check:
    """One check, ended `passed`, `failed` or `not run`; `reason` says why for the latter two, and what was looked at
    for the first.

    `ops` counts operators by backend (`{"xnnpack": {"ADD": 12}, "builtin": {...}}`); `partitions` the pieces given to
    the delegate.
    """

    name: str
    status: str
    reason: str = ""
    device: str = ""
    threads: int | None = None
    rows: int = 0
    partitions: int | None = None
    ops: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    outputs: tuple[OutputDifference, ...] = ()
    metrics: tuple[Metric, ...] = ()
    latency: Latency | None = None

    def op_counts(self) -> dict[str, int]:
        return {backend: sum(counts.values()) for backend, counts in self.ops.items()}

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), "metrics": [metric.as_dict() for metric in self.metrics]}


@dataclass(frozen=True)
class ValidationReport:
    """Everything a validation saw. `samples` (output -> (reference, model), each a 1-D array) feeds the plots and is
    not in `as_dict`."""

    model: str
    against: str
    recipe: str
    problem: str
    rows: int
    length: int | None
    tolerance: Tolerance
    checks: tuple[Check, ...]
    machine: Mapping[str, str]
    notes: tuple[str, ...] = ()
    samples: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def verdict(self) -> str:
        """`failed` if any check failed, `passed` if all passed, else `incomplete`: something asked for was not run."""
        statuses = [check.status for check in self.checks]
        if FAILED in statuses:
            return FAILED
        return PASSED if statuses and set(statuses) == {PASSED} else "incomplete"

    @property
    def ok(self) -> bool:
        """True only when every check that was asked for ran and passed."""
        return self.verdict == PASSED

    def as_dict(self) -> dict[str, object]:
        """JSON-able; numbers that JSON lacks (NaN, infinity) become None."""
        fields = ("model", "against", "recipe", "problem", "rows", "length", "verdict", "ok")
        result = {name: getattr(self, name) for name in fields}
        result |= {"tolerance": asdict(self.tolerance), "machine": dict(self.machine), "notes": list(self.notes)}
        result["checks"] = [check.as_dict() for check in self.checks]
        return _finite(result)

    def json(self) -> str:
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False)

    def blocks(self) -> list[Block]:
        """The report as lines and a table, for `kerasbert.console.tables.render`."""
        head = f"{self.model} ({self.recipe}) against {self.against}: {self.verdict}"
        table = Table(check_columns(self.problem), [check_row(check) for check in self.checks])
        return [head, "", table, *devices(self.checks), *further_metrics(self.checks), *self.notes]

    def table(self) -> str:
        """The report as plain text."""
        return render(self.blocks())


def check_columns(problem: str, wide: bool = False) -> tuple[str, ...]:
    """The headings of `check_row`; what counts as saying the same depends on the problem."""
    same = {"embedding": "cosine", "regression": "correlation"}.get(problem_class(problem).compared_as, "agreement")
    more, last = (("mean error", "mean cosine"), ()) if wide else ((), ("partitions",))
    return ("check", "result", "rows", "max error", *more, same, "metric", "share", "p50", "p90", *last, "remark")


def check_row(check: Check, wide: bool = False) -> tuple[str, ...]:
    """A check as the cells of a table row. wide: with what a page has room for and a terminal has not, and without partitions, which a page
    tells beside the operators."""
    same = [o.agreement if o.agreement is not None else o.correlation for o in check.outputs]
    same = [value for value in same if value is not None] or [o.cosine for o in check.outputs]
    metric = check.metrics[0] if check.metrics else None
    more = (
        format_number(max((o.mean_error for o in check.outputs), default=None), 5),
        format_number(min((o.cosine for o in check.outputs), default=None), 5),
    )
    return (
        check.name,
        check.status,
        str(check.rows or "-"),
        format_number(max((o.max_error for o in check.outputs), default=None), 5),
        *(more if wide else ()),
        format_number(min(same, default=None)),
        f"{metric.name} {metric.model:.4f}" if metric else "-",
        f"{metric.share:.2%}" if metric else "-",
        format_seconds(check.latency.p50 if check.latency else None),
        format_seconds(check.latency.p90 if check.latency else None),
        *(() if wide else ("-" if check.partitions is None else str(check.partitions),)),
        check.reason,
    )


def devices(checks: Sequence[Check]) -> list[str]:
    """A line for each device: which checks ran there."""
    names: dict[str, list[str]] = {}
    for check in checks:
        if check.device:
            names.setdefault(check.device, []).append(check.name)
    return [f"{', '.join(found)}: on {device}" for device, found in names.items()]


def further_metrics(checks: Sequence[Check]) -> list[str]:
    """A line for each check with metrics that its table row has no room for; the first one is judged, these are told."""
    return [
        f"{check.name}: " + ", ".join(f"{m.name} {m.model:.4f} of {m.reference:.4f}" for m in check.metrics[1:])
        for check in checks
        if len(check.metrics) > 1
    ]


def shortfalls(
    tolerance: Tolerance, outputs: Sequence[OutputDifference], metrics: Sequence[Metric], compared_as: str
) -> list[str]:
    """Every way in which the outputs miss the tolerance, in words; empty when they hold it."""
    found = []
    for output in outputs:
        if output.broken:
            found.append(f"NaN or infinity in {output.name!r} on {output.broken} of {output.lines} rows")
            continue
        if tolerance.max_error is not None and output.max_error > tolerance.max_error:
            found.append(f"{output.name!r} is off by up to {output.max_error:.2e}, more than {tolerance.max_error:g}")
        same, word = (
            (output.agreement, "agreement") if output.agreement is not None else (output.correlation, "correlation")
        )
        if tolerance.agreement is not None and same is not None and same < tolerance.agreement:
            found.append(f"{word} {same:.4f} in {output.name!r}, less than {tolerance.agreement:g}")
        if compared_as == "embedding" and tolerance.cosine is not None and output.cosine < tolerance.cosine:
            found.append(f"mean cosine {output.cosine:.4f} in {output.name!r}, less than {tolerance.cosine:g}")
    for metric in metrics[:1]:
        if tolerance.metric_share is not None and metric.share < tolerance.metric_share:
            found.append(
                f"{metric.name} {metric.model:.4f}, {metric.share:.2%} of {metric.reference:.4f} and less than "
                f"{tolerance.metric_share:.1%}"
            )
    return found


def check_report_path(path: str | os.PathLike) -> None:
    """Raises KerasBertError unless `path` ends in .html, .htm or .json."""
    if Path(path).suffix not in (".html", ".htm", ".json"):
        raise KerasBertError(f"Expected a report name ending in .html or .json. Received: {os.fspath(path)!r}.")


def _finite(value):
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
