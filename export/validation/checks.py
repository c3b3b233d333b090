"""The results of a validation: a check, and the report of all checks."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kerasbert.console.numbers import format_number, format_seconds
from kerasbert.console.tables import Block, Table, render
from kerasbert.errors import KerasBertError
from kerasbert.export.validation.comparison import Calibration, Metric, OutputDifference
from kerasbert.export.validation.details import Details
from kerasbert.export.validation.judgements import Judgement, Tolerance
from kerasbert.export.validation.verdict import FAILED, NO_DIFFERENCE, NOT_JUDGED, NOT_RUN, PASSED
from kerasbert.files.own_files import REPORT, check_own
from kerasbert.processors import Processor

__all__ = [
    "FAILED", "NOT_JUDGED", "NOT_RUN", "NO_DIFFERENCE", "PASSED", "Check", "Judgement", "Latency", "Tolerance",
    "ValidationReport", "check_columns", "check_lines", "check_report_path", "check_row",
]  # fmt: skip


@dataclass(frozen=True)
class Latency:
    """Seconds for one row.

    Attributes:
        p50: The median.
        p90: The 90th percentile.
        p99: The 99th percentile.
        mean: The mean.
        runs: Measurements behind them.
    """

    p50: float
    p90: float
    p99: float
    mean: float
    runs: int

    @classmethod
    def of(cls, seconds: Sequence[float] | np.ndarray) -> "Latency":
        """Summarize measurements."""
        p50, p90, p99 = map(float, np.quantile(seconds, (0.5, 0.9, 0.99)))
        return cls(p50, p90, p99, float(np.mean(seconds)), len(seconds))


@dataclass(frozen=True)
class Check:
    """One check of a validation.

    Attributes:
        name: The check's name.
        status: `passed`, `failed`, `no difference found`, `not judged` or `not run`.
        reason: The reason; a remark where it passed.
        device: Where it ran.
        threads: CPU threads; None where they are not known.
        rows: The number of rows that ran.
        partitions: The pieces of the graph that the delegate took; None where they are not known.
        ops: Operator counts by backend, `{"xnnpack": {"ADD": 12}, "builtin": {...}}`.
        outputs: The differences to the reference, output by output.
        metrics: The task's, the judged one first.
        judgements: The measured values beside their limits.
        latency: The latency of one row; None where it was not measured.
        named_rows: The rows that the check is about, by their number in the data, with an escaped excerpt of each.
        arithmetic: The number formats it computes in, such as `fp32`, `int8 and fp32` or `fp16`; empty where nothing ran.
        calibration: The calibration of both models on labelled rows; None where it was not measured.
        required: Whether the report is incomplete where the check was not run. A check that cannot apply to these rows is not.
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
    arithmetic: str = ""
    calibration: Calibration | None = None
    required: bool = True

    def as_dict(self) -> dict[str, object]:
        """Return the check as a dict for JSON."""
        return {**asdict(self), "metrics": [metric.as_dict() for metric in self.metrics]}


@dataclass(frozen=True)
class ValidationReport:
    """The result of a validation.

    Attributes:
        model: The file's name.
        against: The reference's name.
        recipe: The file's recipe.
        processor: The file's or the reference's processor.
        rows: The number of rows.
        length: Tokens in a row.
        tolerance: The limits.
        checks: All checks.
        machine: See `kerasbert.export.runtime.interpreters.describe_machine`.
        notes: Lines for the reader.
        samples: Output -> (reference, model), each (points,), for the plots; not in `as_dict`.
        details: Rows and classes; None where no backend ran all rows.

    Example:
        ```python
        report = kb.export.validate("mine.tflite", against="runs/mine-int8", data="dev.tsv")
        report.ok, report.verdict
        print(report.table())
        ```
    """

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
        """The status of all checks together.

        `failed` if any check failed, `not judged` if the rows do not decide one, `incomplete` if one was not run, `no difference found`
        if the rows of one are too few to prove its limit and nothing differs, else `passed`.
        """
        statuses = [check.status for check in self.checks if check.required or check.status != NOT_RUN]
        for status in (FAILED, NOT_JUDGED):
            if status in statuses:
                return status
        if not statuses or NOT_RUN in statuses:
            return "incomplete"
        return NO_DIFFERENCE if NO_DIFFERENCE in statuses else PASSED

    @property
    def ok(self) -> bool:
        """True where every check ran, and each passed or found no difference at all."""
        return self.verdict in (PASSED, NO_DIFFERENCE)

    def as_dict(self) -> dict[str, object]:
        """Return the report as a dict for JSON; numbers that JSON lacks (NaN, infinity) become None."""
        result: dict[str, object] = {
            "model": self.model, "against": self.against, "recipe": self.recipe, "problem": self.processor.name, "rows": self.rows,
            "length": self.length, "verdict": self.verdict, "ok": self.ok,
        }  # fmt: skip
        result |= {"tolerance": asdict(self.tolerance), "machine": dict(self.machine), "notes": list(self.notes)}
        result["checks"] = [check.as_dict() for check in self.checks]
        result["details"] = self.details.as_dict() if self.details else None
        return _finite(result)

    def json(self) -> str:
        """Return the report as JSON."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False)

    def blocks(self) -> list[Block]:
        """Return the report as lines and a table, for `kerasbert.console.tables.render`."""
        head = f"{self.model} ({self.recipe}) against {self.against}: {self.verdict}"
        table = Table(check_columns(self.processor), [check_row(check) for check in self.checks])
        return [head, "", table, *check_lines(self.checks), *self._changed_lines(), *self.notes]

    def _changed_lines(self) -> list[str]:
        """Write a line about the examples with another prediction."""
        if self.details is None or not self.details.changed_count:
            return []
        first = self.details.changed[0]
        return [
            f"{self.details.backend}: {self.details.changed_count:,} of the examples are answered otherwise, such as row {first.row}, "
            f"{first.reference!r} before, {first.model!r} now; an .html report names more"
        ]

    def table(self) -> str:
        """Return the report as plain text."""
        return render(self.blocks())


def check_columns(processor: Processor, wide: bool = False) -> tuple[str, ...]:
    """Return the headings of `check_row`; the measure of equal outputs depends on the processor.

    Args:
        processor: The model's.
        wide: Whether the table is for a page, see `check_row`.
    """
    equality = {"embedding": "cosine", "regression": "correlation"}.get(processor.compared_as, "agreement")
    more, last = (("mean error", "mean cosine"), ()) if wide else ((), ("partitions",))
    return ("check", "result", "rows", "max error", *more, equality, "metric", "share", "p50", "p90", *last, "remark")


def check_row(check: Check, wide: bool = False) -> tuple[str, ...]:
    """Return a check as the cells of a table row.

    Args:
        check: The check.
        wide: For a page, which has room for mean errors, and lists partitions beside the operators instead.
    """
    equalities = [o.agreement if o.agreement is not None else o.correlation for o in check.outputs]
    equalities = [value for value in equalities if value is not None] or [o.cosine for o in check.outputs]
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
        format_number(min(equalities, default=None)),
        f"{metric.name} {metric.model:.4f}" if metric else "-",
        f"{metric.share:.2%}" if metric and math.isfinite(metric.share) else "-",
        format_seconds(check.latency.p50 if check.latency else None),
        format_seconds(check.latency.p90 if check.latency else None),
        *(() if wide else ("-" if check.partitions is None else str(check.partitions),)),
        check.reason,
    )


def check_lines(checks: Sequence[Check]) -> list[str]:
    """Write the lines below the table: bounds, calibration, the checks of each device, and the metrics that are not judged."""
    lines = [
        f"{check.name}, 95 % sure: {', '.join(judgement.describe() for judgement in check.judgements)}"
        for check in checks
        if check.judgements
    ]
    lines += [
        f"{check.name}: expected calibration error {check.calibration.model:.4f} of {check.calibration.reference:.4f}"
        for check in checks
        if check.calibration
    ]
    names: dict[str, list[str]] = {}
    for check in checks:
        if check.device:
            place = f"on {check.device}" + (f", in {check.arithmetic}" if check.arithmetic else "")
            names.setdefault(place, []).append(check.name)
    lines += [f"{', '.join(place_names)}: {place}" for place, place_names in names.items()]
    return lines + [
        f"{check.name}: " + ", ".join(f"{m.name} {m.model:.4f} of {m.reference:.4f}" for m in check.metrics[1:])
        for check in checks
        if len(check.metrics) > 1
    ]


def check_report_path(path: str | os.PathLike) -> None:
    """Check where a report is to be written.

    Raises:
        KerasBertError: When the name does not end in .html, .htm or .json, or a file that is no report of ours is there.
    """
    if Path(path).suffix not in (".html", ".htm", ".json"):
        raise KerasBertError(
            f"expected a report name ending in .html or .json, received {os.fspath(path)!r}; give such a name"
        )
    check_own(path, REPORT, "a report")


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
