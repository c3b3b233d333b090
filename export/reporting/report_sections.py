"""The sections of a validation's page: checks, charts, what changed, each class."""

from collections.abc import Iterable, Mapping
from html import escape

import numpy as np

from kerasbert.console.numbers import format_seconds
from kerasbert.export.reporting import markup
from kerasbert.export.reporting.charts import SERIES, bar_chart, histogram, legend, scatter
from kerasbert.export.validation.checks import Check, ValidationReport, check_columns, check_row
from kerasbert.export.validation.details import Details

_NAMED = 50  # rows of a check that the page lists


def report_sections(report: ValidationReport) -> list[str]:
    """Markup of everything that a validation found."""
    metric = next((check for check in report.checks if check.metrics), None)
    charts = [_metric_chart(report, metric)] if metric else []
    charts += [_difference_chart(name, *sides) for name, sides in report.samples.items()]
    charts += [_scatter_chart(report)] if report.samples else []
    charts += [_latency_chart(report.checks)]
    placed = [check for check in report.checks if check.device]
    operators = markup.table(
        ("check", "device", "threads", "partitions", "operators"), map(_placement, placed), notes=1
    )
    return [
        _checks(report),
        markup.grid(charts),
        *(_named_rows(check) for check in report.checks if check.named_rows),
        *(_details(report, report.details) if report.details else []),
        markup.card("Who ran the operators", operators) if placed else "",
    ]


def _checks(report: ValidationReport) -> str:
    """A row a check, with its remark and how sure it is below it."""
    rows = []
    for check in report.checks:
        sure = "; ".join(judgement.describe() for judgement in check.judgements)
        rows.append((*check_row(check, wide=True), f"95 % sure: {sure}" if sure else ""))
    columns = (*check_columns(report.processor, wide=True), "how sure")
    notes = "".join(f"<p class='note'>{escape(note)}</p>" for note in report.notes)
    return markup.card("Checks", markup.table(columns, rows, status=1, notes=2), notes)


def _named_rows(check: Check) -> str:
    """The first rows that a check names."""
    rows = list(check.named_rows.items())
    title = f"{check.name}: {len(rows):,} rows" + (f", the first {_NAMED}" if len(rows) > _NAMED else "")
    table = markup.table(("row", "where it differs"), [(f"{number}", excerpt) for number, excerpt in rows[:_NAMED]])
    return markup.card(title, f"<details><summary>rows</summary>{table}</details>")


def _details(report: ValidationReport, details: Details) -> list[str]:
    parts = []
    if details.changed_count:
        labelled = any(each.label for each in details.changed)
        columns = ("row", "text", report.against, report.model, *(("label",) if labelled else ()))
        rows = [
            (each.row, each.text, each.reference, each.model, *((each.label,) if labelled else ()))
            for each in details.changed
        ]
        shown = (
            len(rows) if len(rows) == details.changed_count else f"the first {len(rows)} of {details.changed_count:,}"
        )
        note = (
            f"<p class='note'>Of {report.rows:,} rows, by {escape(details.backend)}. Rows count from 0 in the data.</p>"
        )
        parts.append(markup.card(f"Answers that changed: {shown}", markup.table(columns, rows), note))
    if details.classes:
        columns = ("class", "rows", f"F1, {report.against}", f"F1, {report.model}", "precision", "recall")
        rows = [
            (name, old.support, f"{old.f1:.4f}", f"{new.f1:.4f}", f"{new.precision:.4f}", f"{new.recall:.4f}")
            for name, (old, new) in details.classes.items()
        ]
        note = f"<p class='note'>Precision and recall of {escape(report.model)}.</p>"
        parts.append(markup.card("Each class", markup.table(columns, rows), note))
    if details.confusion is not None:
        note = f"<p class='note'>Rows: the label. Columns: what {escape(report.model)} found.</p>"
        parts.append(markup.card("Confusion matrix", markup.matrix(details.labels, details.confusion), note))
    return parts


def _metric_chart(report: ValidationReport, check: Check) -> str:
    """A pair of bars a metric, the side that it is compared with first."""
    bars = [(metric.name, value) for metric in check.metrics for value in (metric.reference, metric.model)]
    names = " and ".join(metric.name for metric in check.metrics)
    share = check.metrics[0].share
    kept = f"{share:.2%} of {escape(check.metrics[0].name)} kept, on {escape(check.name)}" if np.isfinite(share) else ""
    return markup.card(
        names[:1].upper() + names[1:],
        bar_chart(bars, lambda v: f"{v:.4f}", SERIES[:2]),
        legend((report.against, report.model)),
        f"<p class='note'>{kept}</p>" if kept else "",
    )


def _difference_chart(name: str, expected: np.ndarray, actual: np.ndarray) -> str:
    return markup.card(f"Absolute error, {name}", histogram(np.abs(actual - expected), "absolute error"))


def _scatter_chart(report: ValidationReport) -> str:
    return markup.card(
        "Agreement",
        scatter(report.samples, report.against, report.model),
        "<p class='note'>On the line both sides agree.</p>",
    )


def _latency_chart(checks: Iterable[Check]) -> str:
    bars = []
    for check in checks:
        if check.latency:
            bars += [(f"{check.name} p50", check.latency.p50), (f"{check.name} p90", check.latency.p90)]
    chart = bar_chart(bars, format_seconds, (SERIES[0], SERIES[3]))
    return (
        markup.card(
            "Latency of one row",
            chart,
            "<p class='note'>Timed while validating; see the benchmark for a quiet measurement.</p>",
        )
        if bars
        else ""
    )


def _placement(check: Check) -> tuple[str, ...]:
    operators = "; ".join(
        f"{backend} {sum(counts.values())}"
        + (f" ({_listing(counts)})" if backend != "xnnpack" and "xnnpack" in check.ops else "")
        for backend, counts in check.ops.items()
    )
    return (
        check.name,
        check.device,
        str(check.threads or "-"),
        "-" if check.partitions is None else str(check.partitions),
        operators or "-",
    )


def _listing(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items(), key=lambda item: -item[1]))
