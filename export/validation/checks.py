"""The results of a validation: what a check is, and the report that holds them."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from kerasbert.console.numbers import format_number, format_seconds
from kerasbert.console.tables import Block, Table, render
from kerasbert.errors import KerasBertError
from kerasbert.export.validation.comparison import Metric, OutputDifference
from kerasbert.export.validation.details import Details
from kerasbert.export.validation.verdict import FAILED, NOT_JUDGED, NOT_RUN, PASSED, Judgement, Tolerance
from kerasbert.files.own_files import REPORT, check_own
from kerasbert.processors import Processor

__all__ = [
    "FAILED", "NOT_JUDGED", "NOT_RUN", "PASSED", "Check", "Judgement", "Latency", "Tolerance", "ValidationReport", "certainty",
    "check_columns", "check_report_path", "check_row", "devices", "further_metrics",
]  # fmt: skip


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
    """One check, ended `passed`, `failed`, `not judged` or `not run`; `reason` says why, and what was looked at for the first.

    `judgements` are what was measured beside its limit.
    `ops` counts operators by backend (`{"xnnpack": {"ADD": 12}, "builtin": {...}}`); `partitions` the pieces given to
    the delegate. `named_rows`: rows that the check is about, by their number in the data, with an escaped excerpt of each.
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
    judgements: tuple[Judgement, ...] = ()
    latency: Latency | None = None
    named_rows: Mapping[int, str] = field(default_factory=dict)

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
    processor: Processor
    rows: int
    length: int | None
    tolerance: Tolerance
    checks: tuple[Check, ...]
    machine: Mapping[str, str]
    notes: tuple[str, ...] = ()
    samples: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict, repr=False, compare=False)
    details: Details | None = None

    @property
    def verdict(self) -> str:
        """`failed` if any check failed, `not judged` if the rows do not tell for one, `incomplete` if something asked for was not run, else
        `passed`."""
        statuses = [check.status for check in self.checks]
        for status in (FAILED, NOT_JUDGED):
            if status in statuses:
                return status
        return PASSED if statuses and set(statuses) == {PASSED} else "incomplete"

    @property
    def ok(self) -> bool:
        """True only when every check that was asked for ran and passed."""
        return self.verdict == PASSED

    def as_dict(self) -> dict[str, object]:
        """JSON-able; numbers that JSON lacks (NaN, infinity) become None."""
        result: dict[str, object] = {
            "model": self.model, "against": self.against, "recipe": self.recipe, "problem": self.processor.name, "rows": self.rows,
            "length": self.length, "verdict": self.verdict, "ok": self.ok,
        }  # fmt: skip
        result |= {"tolerance": asdict(self.tolerance), "machine": dict(self.machine), "notes": list(self.notes)}
        result["checks"] = [check.as_dict() for check in self.checks]
        result["details"] = self.details.as_dict() if self.details else None
        return _finite(result)

    def json(self) -> str:
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False)

    def blocks(self) -> list[Block]:
        """The report as lines and a table, for `kerasbert.console.tables.render`."""
        head = f"{self.model} ({self.recipe}) against {self.against}: {self.verdict}"
        table = Table(check_columns(self.processor), [check_row(check) for check in self.checks])
        return [
            head, "", table, *certainty(self.checks), *devices(self.checks), *further_metrics(self.checks),
            *self._changed(), *self.notes,
        ]  # fmt: skip

    def _changed(self) -> list[str]:
        """A line about the examples that are answered otherwise."""
        if self.details is None or not self.details.changed_count:
            return []
        first = self.details.changed[0]
        return [
            f"{self.details.backend}: {self.details.changed_count:,} of the examples are answered otherwise, such as row {first.row}, "
            f"{first.reference!r} before, {first.model!r} now; an .html report names more"
        ]

    def table(self) -> str:
        """The report as plain text."""
        return render(self.blocks())


def check_columns(processor: Processor, wide: bool = False) -> tuple[str, ...]:
    """The headings of `check_row`; what counts as saying the same depends on the processor."""
    same = {"embedding": "cosine", "regression": "correlation"}.get(processor.compared_as, "agreement")
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
        f"{metric.share:.2%}" if metric and math.isfinite(metric.share) else "-",
        format_seconds(check.latency.p50 if check.latency else None),
        format_seconds(check.latency.p90 if check.latency else None),
        *(() if wide else ("-" if check.partitions is None else str(check.partitions),)),
        check.reason,
    )


def certainty(checks: Sequence[Check]) -> list[str]:
    """A line for each check with a judgement: how sure it is."""
    return [
        f"{check.name}, 95 % sure: {', '.join(judgement.describe() for judgement in check.judgements)}"
        for check in checks
        if check.judgements
    ]


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


def check_report_path(path: str | os.PathLike) -> None:
    """Raises KerasBertError unless `path` ends in .html, .htm or .json, and nothing but a report of ours is there."""
    if Path(path).suffix not in (".html", ".htm", ".json"):
        raise KerasBertError(f"expected a report name ending in .html or .json, received {os.fspath(path)!r}")
    check_own(path, REPORT, "a report")


def _finite(value):
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
