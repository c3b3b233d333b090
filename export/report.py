"""A validation as one page: HTML that needs nothing beside itself, or JSON."""

import os
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.benchmark import COLUMNS, Benchmark
from kerasbert.export.charts import SERIES, bar_chart, histogram, line_chart, scatter
from kerasbert.export.checks import Check, ValidationReport, check_columns, check_report_path, check_row
from kerasbert.export.inspect import Inspection, inspect
from kerasbert.export.page import PAGE, STYLE
from kerasbert.export.tables import format_bytes, format_seconds
from kerasbert.files import atomic_file
from kerasbert.own_files import REPORT, check_own, marked_json

_VERDICTS = {
    "passed": "Every check passed.",
    "failed": "At least one check failed.",
    "not judged": "Nothing failed, but the rows are too few, or too much alike, to tell.",
    "incomplete": "Nothing failed, but not everything that was asked for could run.",
}

_NAMED = 50  # rows of a check that the page lists


@dataclass(frozen=True)
class Table:
    """A table of its own on the page; cells are plain text."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    note: str = ""


@dataclass(frozen=True)
class Lines:
    """A line chart of its own, such as a training history: series name -> points (x, y)."""

    title: str
    series: Mapping[str, Sequence[tuple[float, float]]]
    x_label: str = "epoch"
    y_label: str = ""
    note: str = ""


@dataclass(frozen=True)
class Bars:
    """A bar chart of its own: (label, value); `unit` is one of `percent`, `bytes`, `seconds` or text written behind
    the number."""

    title: str
    bars: Sequence[tuple[str, float]]
    unit: str = ""
    note: str = ""


def write_html(
    path: str | os.PathLike,
    report: ValidationReport | None = None,
    *,
    title: str | None = None,
    inspection: Inspection | None = None,
    benchmark: Benchmark | None = None,
    sections: Sequence[Table | Lines | Bars] = (),
    command: str | None = None,
) -> Path:
    """Writes one self-contained page: no script, no font, no link to anywhere.

    Args:
        path: where to; written beside and renamed.
        report: a validation; its checks, agreement and latency are shown.
        title: headline; the model's name by default.
        inspection: sizes and operators of the file.
        benchmark: load, latency and memory.
        sections: further tables and charts, shown after the verdict.
        command: the command line that made it; None: this process's own.
    """
    check_own(path, REPORT, "a report")
    title = title or (report.model if report else inspection.path if inspection else "kerasbert report")
    body = [f"<header><p class='brand'>kerasbert</p><h1>{escape(title)}</h1>{_banner(report)}</header>"]
    body += [_section(section) for section in sections if isinstance(section, Table)]
    body.append(_grid(_section(section) for section in sections if not isinstance(section, Table)))
    body += _report_sections(report) if report else []
    body += _inspection_sections(inspection) if inspection else []
    if benchmark:
        body.append(_card("Benchmark", _table(COLUMNS, benchmark.rows()), _comparisons(benchmark)))
    machine = report.machine if report else benchmark.machine if benchmark else {}
    body.append(_card("Made by", _facts([*machine.items(), *_versions(), ("command", command or _command())])))
    page = PAGE.format(title=escape(title), style=STYLE, body="\n".join(part for part in body if part))
    with atomic_file(path) as partial:
        partial.write_text(page, encoding="utf-8")
    return Path(path)


def write_json(path: str | os.PathLike, report: ValidationReport) -> Path:
    """Writes the report's `as_dict` as JSON."""
    check_own(path, REPORT, "a report")
    with atomic_file(path) as partial:
        partial.write_text(marked_json(REPORT, report.as_dict()), encoding="utf-8")
    return Path(path)


def write_report(
    path: str | os.PathLike, report: ValidationReport, model_path: str | os.PathLike | None = None
) -> Path:
    """`.html` or `.json`, by the name. The HTML page inspects `model_path` as well, where that can be done.

    Raises:
        KerasBertError: another ending.
    """
    check_report_path(path)
    if Path(path).suffix == ".json":
        return write_json(path, report)
    inspection = None
    if model_path is not None:
        try:
            inspection = inspect(model_path)
        except KerasBertError:
            pass  # tflite-runtime alone cannot read the file's structure; the proof does not need it.
    return write_html(path, report, inspection=inspection)


def _banner(report: ValidationReport | None) -> str:
    if report is None:
        return ""
    what = f"{report.recipe} against {report.against}, {report.rows:,} rows"
    what += f" of length {report.length}" if report.length else ""
    said = f"{_VERDICTS[report.verdict]} {escape(what)}"
    return f'<div class="banner {report.verdict.replace(" ", "-")}"><strong>{report.verdict}</strong><span>{said}</span></div>'


def _report_sections(report: ValidationReport) -> list[str]:
    notes = "".join(f"<p class='note'>{escape(note)}</p>" for note in report.notes)
    cards = [
        _card(
            "Checks",
            _table(
                check_columns(report.problem, wide=True),
                [check_row(check, wide=True) for check in report.checks],
                status=1,
            ),
            notes,
        )
    ]
    metric = next((check for check in report.checks if check.metrics), None)
    charts = [_metric_chart(report, metric)] if metric else []
    charts += [_difference_chart(name, *sides) for name, sides in report.samples.items()]
    charts += [_scatter_chart(report)] if report.samples else []
    charts += [_latency_chart(report.checks)]
    cards.append(_grid(charts))
    cards += [_named_rows(check) for check in report.checks if check.named_rows]
    placed = [check for check in report.checks if check.device]
    if placed:
        cards.append(
            _card(
                "Who ran the operators",
                _table(("check", "device", "threads", "partitions", "operators"), map(_placement, placed)),
            )
        )
    return cards


def _named_rows(check: Check) -> str:
    """The first rows that a check names."""
    rows = list(check.named_rows.items())
    title = f"{check.name}: {len(rows):,} rows" + (f", the first {_NAMED}" if len(rows) > _NAMED else "")
    table = _table(("row", "where it differs"), [(f"{number}", excerpt) for number, excerpt in rows[:_NAMED]])
    return _card(title, f"<details><summary>rows</summary>{table}</details>")


def _metric_chart(report: ValidationReport, check: Check) -> str:
    bars = []
    for metric in check.metrics:
        sides = (
            (f"{metric.name}, theirs", f"{metric.name}, the file")
            if len(check.metrics) > 1
            else (report.against, report.model)
        )
        bars += zip(sides, (metric.reference, metric.model), strict=True)
    names = " and ".join(metric.name for metric in check.metrics)
    return _card(
        names[:1].upper() + names[1:],
        bar_chart(bars, lambda v: f"{v:.4f}", SERIES[:2]),
        f"<p class='note'>{check.metrics[0].share:.2%} kept</p>",
    )


def _difference_chart(name: str, expected: np.ndarray, actual: np.ndarray) -> str:
    return _card(f"Absolute error, {name}", histogram(np.abs(actual - expected), "absolute error"))


def _scatter_chart(report: ValidationReport) -> str:
    return _card(
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
        _card(
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


def _inspection_sections(inspection: Inspection) -> list[str]:
    parts = [(part, float(size)) for part, size in inspection.size_by_part.items() if size]
    facts = [
        ("size", f"{format_bytes(inspection.size)} ({inspection.size:,} bytes)"),
        ("parameters", f"{inspection.parameters:,}, {inspection.bytes_per_parameter:.3f} bytes each"),
        ("in 8 bits", f"{inspection.quantized_parameter_share:.1%} of the parameters in the graph"),
        ("multiply-accumulates", ", ".join(f"{share:.1%} {kind}" for kind, share in inspection.mac_shares.items())),
        ("minimum runtime", inspection.minimum_runtime),
        ("Flex and custom operators", ", ".join((*inspection.flex_operators, *inspection.custom_operators)) or "none"),
    ]
    operators = [(op.count, op.name, f"v{op.version}", op.dtypes) for op in inspection.operators]
    summary = f"<summary>{sum(op.count for op in inspection.operators)} operators of {len(operators)} kinds</summary>"
    table = _table(("count", "operator", "version", "dtypes"), operators)
    return [
        _grid([_card("The file", _facts(facts)), _card("Size by part", bar_chart(parts, format_bytes))]),
        _card("Operators", f"<details>{summary}{table}</details>"),
    ]


def _section(section: Table | Lines | Bars) -> str:
    if isinstance(section, Table):
        content = _table(section.columns, section.rows)
    elif isinstance(section, Lines):
        content = line_chart(section.series, section.x_label, section.y_label)
    else:
        content = bar_chart(section.bars, _shower(section.unit), SERIES)
    return _card(section.title, content, f"<p class='note'>{escape(section.note)}</p>" if section.note else "")


def _shower(unit: str):
    known = {"percent": lambda v: f"{v:.2%}", "bytes": format_bytes, "seconds": format_seconds}
    return known.get(unit, lambda v: f"{v:.4g} {unit}".rstrip())


def _comparisons(benchmark: Benchmark) -> str:
    return "".join(
        f"<p class='note'>In turn, {c.threads} thread(s): {escape(c.model)} is {c.ratio:.2f} times as fast as "
        f"{escape(c.against)}.</p>"
        for c in benchmark.comparisons
    )


def _card(title: str, *content: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{''.join(content)}</section>"


def _grid(cards: Iterable[str]) -> str:
    cards = [card for card in cards if card]
    return f'<div class="grid">{"".join(cards)}</div>' if cards else ""


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]], status: int | None = None) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    lines = []
    for row in rows:
        cells = []
        for number, cell in enumerate(row):
            text = escape(str(cell))
            cells.append(
                f'<td><span class="status {text.replace(" ", "-")}">{text}</span></td>'
                if number == status
                else f"<td>{text}</td>"
            )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def _facts(facts: Iterable[tuple[str, str]]) -> str:
    return f"<dl>{''.join(f'<dt>{escape(str(key))}</dt><dd>{escape(str(value))}</dd>' for key, value in facts)}</dl>"


def _listing(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items(), key=lambda item: -item[1]))


def _versions() -> list[tuple[str, str]]:
    """Versions of what is loaded; nothing is imported to find out."""
    loaded = {"numpy": sys.modules.get("numpy"), "tensorflow": sys.modules.get("tensorflow")}
    return [(name, module.__version__) for name, module in loaded.items() if hasattr(module, "__version__")]


def _command() -> str:
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
