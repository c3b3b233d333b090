"""A validation as one page: HTML that needs nothing beside itself, or JSON."""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from kerasbert.console.numbers import format_bytes, format_seconds
from kerasbert.errors import KerasBertError
from kerasbert.export.benchmarking import COLUMNS, Benchmark
from kerasbert.export.inspection import Inspection, inspect
from kerasbert.export.reporting import markup
from kerasbert.export.reporting.charts import SERIES, bar_chart, line_chart
from kerasbert.export.reporting.html_page import PAGE, STYLE
from kerasbert.export.reporting.report_sections import report_sections
from kerasbert.export.validation.checks import ValidationReport, check_report_path
from kerasbert.files.atomic import atomic_file
from kerasbert.files.own_files import REPORT, check_own, marked_json

_VERDICTS = {
    "passed": "Every check passed.",
    "failed": "At least one check failed.",
    "not judged": "Nothing failed, but the rows are too few, or too much alike, to tell.",
    "incomplete": "Nothing failed, but not everything that was asked for could run.",
}


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
    body.append(markup.grid(_section(section) for section in sections if not isinstance(section, Table)))
    body += report_sections(report) if report else []
    body += _inspection_sections(inspection) if inspection else []
    if benchmark:
        body.append(markup.card("Benchmark", markup.table(COLUMNS, benchmark.rows()), _comparisons(benchmark)))
    machine = report.machine if report else benchmark.machine if benchmark else {}
    body.append(markup.card("Made by", markup.facts([*machine.items(), ("command", command or _command())])))
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
    table = markup.table(("count", "operator", "version", "dtypes"), operators)
    return [
        markup.grid(
            [markup.card("The file", markup.facts(facts)), markup.card("Size by part", bar_chart(parts, format_bytes))]
        ),
        markup.card("Operators", f"<details>{summary}{table}</details>"),
    ]


def _section(section: Table | Lines | Bars) -> str:
    if isinstance(section, Table):
        content = markup.table(section.columns, section.rows)
    elif isinstance(section, Lines):
        content = line_chart(section.series, section.x_label, section.y_label)
    else:
        content = bar_chart(section.bars, _shower(section.unit), SERIES)
    return markup.card(section.title, content, f"<p class='note'>{escape(section.note)}</p>" if section.note else "")


def _shower(unit: str):
    known = {"percent": lambda v: f"{v:.2%}", "bytes": format_bytes, "seconds": format_seconds}
    return known.get(unit, lambda v: f"{v:.4g} {unit}".rstrip())


def _comparisons(benchmark: Benchmark) -> str:
    return "".join(
        f"<p class='note'>In turn, {c.threads} thread(s): {escape(c.model)} is {c.ratio:.2f} times as fast as "
        f"{escape(c.against)}.</p>"
        for c in benchmark.comparisons
    )


def _command() -> str:
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
