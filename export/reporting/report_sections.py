"""The sections of a validation's page: checks, charts, changed predictions, results of each class."""

from collections.abc import Iterable, Mapping
from html import escape

import numpy as np

from kerasbert.console.numbers import format_seconds
from kerasbert.export.reporting import markup
from kerasbert.export.reporting.charts import SERIES, bar_chart, histogram, legend, scatter
from kerasbert.export.validation.checks import Check, ValidationReport, check_columns, check_row
from kerasbert.export.validation.details import Details
from kerasbert.processors.class_metrics import ClassMetrics

_MAX_NAMED_ROWS = 50  # of a check, on the page


def report_sections(report: ValidationReport) -> list[str]:
    """Return the markup of a validation's results."""
    metric = next((check for check in report.checks if check.metrics), None)
    charts = [_metric_chart(report, metric)] if metric else []
    charts += [_difference_chart(name, *sides) for name, sides in report.samples.items()]
    charts += [_scatter_chart(report)] if report.samples else []
    charts += [_latency_chart(report.checks)]
    return [
        _checks(report),
        markup.grid(charts),
        *(_named_rows(check) for check in report.checks if check.named_rows),
        *(_details(report, report.details) if report.details else []),
        _placements(report.checks),
    ]


def _checks(report: ValidationReport) -> str:
    """Return a table with a row for each check, and its remark and confidence below the row."""
    rows = []
    for check in report.checks:
        confidence = "; ".join(judgement.describe() for judgement in check.judgements)
        rows.append((*check_row(check, wide=True), f"95 % sure: {confidence}" if confidence else ""))
    columns = (*check_columns(report.processor, wide=True), "how sure")
    notes = "".join(f"<p class='note'>{escape(note)}</p>" for note in report.notes)
    return markup.card("Checks", markup.table(columns, rows, status=1, notes=2), notes)


def _named_rows(check: Check) -> str:
    """Return a table of the first rows that a check names."""
    rows = list(check.named_rows.items())
    title = f"{check.name}: {len(rows):,} rows"
    if len(rows) > _MAX_NAMED_ROWS:
        title += f", the first {_MAX_NAMED_ROWS}"
    cells = [(f"{number}", excerpt) for number, excerpt in rows[:_MAX_NAMED_ROWS]]
    table = markup.table(("row", "where it differs"), cells)
    return markup.card(title, f"<details><summary>rows</summary>{table}</details>")


def _details(report: ValidationReport, details: Details) -> list[str]:
    sections = []
    if details.changed_count:
        sections.append(_changed_predictions(report, details))
    if details.classes:
        sections.append(_class_metrics(report, details.classes))
    if details.confusion is not None:
        note = f"<p class='note'>Rows: the label. Columns: the prediction of {escape(report.model)}.</p>"
        sections.append(markup.card("Confusion matrix", markup.matrix(details.labels, details.confusion), note))
    return sections


def _changed_predictions(report: ValidationReport, details: Details) -> str:
    labelled = any(each.label for each in details.changed)
    columns = ("row", "text", report.against, report.model, *(("label",) if labelled else ()))
    rows = [
        (each.row, each.text, each.reference, each.model, *((each.label,) if labelled else ()))
        for each in details.changed
    ]
    is_complete = len(rows) == details.changed_count
    count = f"{len(rows)}" if is_complete else f"the first {len(rows)} of {details.changed_count:,}"
    note = f"<p class='note'>Of {report.rows:,} rows, by {escape(details.backend)}. Rows count from 0 in the data.</p>"
    return markup.card(f"Answers that changed: {count}", markup.table(columns, rows), note)


def _class_metrics(report: ValidationReport, classes: Mapping[str, tuple[ClassMetrics, ClassMetrics]]) -> str:
    """Return a table of F1, precision and recall. `classes`: the metrics of the reference and of the model by class."""
    columns = ("class", "rows", f"F1, {report.against}", f"F1, {report.model}", "precision", "recall")
    rows = [
        (name, old.support, f"{old.f1:.4f}", f"{new.f1:.4f}", f"{new.precision:.4f}", f"{new.recall:.4f}")
        for name, (old, new) in classes.items()
    ]
    note = f"<p class='note'>Precision and recall of {escape(report.model)}.</p>"
    return markup.card("Each class", markup.table(columns, rows), note)


def _metric_chart(report: ValidationReport, check: Check) -> str:
    """Return a chart with a pair of bars for each metric, the reference first."""
    bars = [(metric.name, value) for metric in check.metrics for value in (metric.reference, metric.model)]
    names = " and ".join(metric.name for metric in check.metrics)
    share = check.metrics[0].share
    note = f"{share:.2%} of {escape(check.metrics[0].name)} kept, on {escape(check.name)}" if np.isfinite(share) else ""
    return markup.card(
        names[:1].upper() + names[1:],
        bar_chart(bars, lambda v: f"{v:.4f}", SERIES[:2]),
        legend((report.against, report.model)),
        f"<p class='note'>{note}</p>" if note else "",
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
    if not bars:
        return ""
    chart = bar_chart(bars, format_seconds, (SERIES[0], SERIES[3]))
    note = "<p class='note'>Timed while validating; see the benchmark for a quiet measurement.</p>"
    return markup.card("Latency of one row", chart, note)


def _placements(checks: Iterable[Check]) -> str:
    """Return a table of the operators that each device ran."""
    rows = [_placement(check) for check in checks if check.device]
    if not rows:
        return ""
    columns = ("check", "device", "threads", "partitions", "operators")
    return markup.card("Operators by backend", markup.table(columns, rows, notes=1))


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
