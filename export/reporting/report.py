"""Writes a validation as one self-contained HTML page, or as JSON."""

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from kerasbert.console.numbers import format_bytes, format_seconds
from kerasbert.export.measurement.benchmarking import COLUMNS, Benchmark
from kerasbert.export.measurement.inspection import Inspection, inspect_file
from kerasbert.export.reporting import markup
from kerasbert.export.reporting.charts import SERIES, bar_chart, line_chart
from kerasbert.export.reporting.frontier import Point, frontier_chart
from kerasbert.export.reporting.html_page import PAGE, STYLE_FILE
from kerasbert.export.reporting.report_sections import report_sections
from kerasbert.export.tflite.graph_reader import has_schema
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.validation.checks import ValidationReport, check_report_path
from kerasbert.files.atomic import atomic_file
from kerasbert.files.own_files import REPORT, check_own, marked_json

_VERDICTS = {
    "passed": "Every check passed.",
    "failed": "At least one check failed.",
    "no difference found": "Nothing differs. The rows are too few to prove the limits; each check says what they prove.",
    "not judged": "Nothing failed, but the rows are too few, or too similar, for a verdict.",
    "incomplete": "Nothing failed, but some of the requested checks could not run.",
}


@dataclass(frozen=True)
class Table:
    """A section with a table. Cells are plain text.

    Attributes:
        title: The section's heading.
        columns: The headings of the columns.
        rows: The cells of each row.
        note: A text below the table.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    note: str = ""


@dataclass(frozen=True)
class Lines:
    """A section with a line chart, such as a training history.

    Attributes:
        title: The section's heading.
        series: The points (x, y) of each line by name.
        x_label: The label of the x axis.
        y_label: The label of the y axis.
        note: A text below the chart.
    """

    title: str
    series: Mapping[str, Sequence[tuple[float, float]]]
    x_label: str = "epoch"
    y_label: str = ""
    note: str = ""


@dataclass(frozen=True)
class Bars:
    """A section with a bar chart.

    Attributes:
        title: The section's heading.
        bars: The label and the value of each bar.
        unit: `percent`, `bytes`, `seconds`, or a text that follows the number.
        note: A text below the chart.
    """

    title: str
    bars: Sequence[tuple[str, float]]
    unit: str = ""
    note: str = ""


@dataclass(frozen=True)
class Points:
    """A section with points, of which the best ones, further to the left and higher, are joined.

    Attributes:
        title: The section's heading.
        points: The points.
        x_label: The label of the x axis.
        y_label: The label of the y axis.
        note: A text below the chart.
    """

    title: str
    points: Sequence[Point]
    x_label: str
    y_label: str
    note: str = ""


Section = Table | Lines | Bars | Points


def write_html(
    path: str | os.PathLike,
    report: ValidationReport | None = None,
    *,
    title: str | None = None,
    inspection: Inspection | None = None,
    benchmark: Benchmark | None = None,
    sections: Sequence[Section] = (),
    machine: Mapping[str, str] | None = None,
    command: str | None = None,
) -> Path:
    """Write one self-contained page, without scripts, fonts or links.

    Args:
        path: The page's path. It is replaced in one step.
        report: A validation with its checks, agreement and latency.
        title: The headline, by default the model's name.
        inspection: Sizes and operators of the file.
        benchmark: Load time, latency and memory.
        sections: Further tables and charts, which follow the verdict.
        machine: The processor and the versions, by default those of the validation or the benchmark.
        command: The command line that made the page, by default this process's own.

    Returns:
        The path.

    Raises:
        KerasBertError: When a file is there that kerasbert did not write.

    Example:
        ```python
        report = kb.export.validate("mine.tflite", against=int8, data=(texts, labels))
        kb.export.write_html("report.html", report, inspection=kb.export.inspect("mine.tflite"))
        ```
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
    if machine is None:
        machine = report.machine if report else benchmark.machine if benchmark else {}
    body.append(markup.card("Made by", markup.facts([*machine.items(), ("command", command or _command())])))
    style = STYLE_FILE.read_text("utf-8")
    page = PAGE.format(title=escape(title), style=style, body="\n".join(part for part in body if part))
    with atomic_file(path) as partial:
        partial.write_text(page, encoding="utf-8")
    return Path(path)


def write_json(path: str | os.PathLike, report: ValidationReport | Benchmark) -> Path:
    """Write the `as_dict` of a validation or a benchmark as JSON.

    Raises:
        KerasBertError: when a file is there that kerasbert did not write.
    """
    check_own(path, REPORT, "a report")
    with atomic_file(path) as partial:
        partial.write_text(marked_json(REPORT, report.as_dict()), encoding="utf-8")
    return Path(path)


def write_report(path: str | os.PathLike, report: ValidationReport, file: ModelFile | None = None) -> Path:
    """Write a validation by the path's suffix: `.html` or `.json`. The page includes an inspection of the file where possible.

    Raises:
        KerasBertError: when the path has another suffix, or a file is there that kerasbert did not write.
    """
    check_report_path(path)
    if Path(path).suffix == ".json":
        return write_json(path, report)
    # tflite-runtime alone cannot read a file, and the validation does not need it.
    inspection = inspect_file(file) if file is not None and has_schema() else None
    return write_html(path, report, inspection=inspection)


def _banner(report: ValidationReport | None) -> str:
    if report is None:
        return ""
    subject = f"{report.recipe} against {report.against}, {report.rows:,} rows"
    subject += f" of length {report.length}" if report.length else ""
    text = f"{_VERDICTS[report.verdict]} {escape(subject)}"
    return f'<div class="banner {report.verdict.replace(" ", "-")}"><strong>{report.verdict}</strong><span>{text}</span></div>'


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


def _section(section: Section) -> str:
    if isinstance(section, Table):
        content = markup.table(section.columns, section.rows)
    elif isinstance(section, Lines):
        content = line_chart(section.series, section.x_label, section.y_label)
    elif isinstance(section, Points):
        content = frontier_chart(section.points, section.x_label, section.y_label)
    else:
        content = bar_chart(section.bars, _formatter(section.unit), SERIES)
    return markup.card(section.title, content, f"<p class='note'>{escape(section.note)}</p>" if section.note else "")


def _formatter(unit: str) -> Callable[[float], str]:
    formatters = {"percent": lambda v: f"{v:.2%}", "bytes": format_bytes, "seconds": format_seconds}
    return formatters.get(unit, lambda v: f"{v:.4g} {unit}".rstrip())


def _comparisons(benchmark: Benchmark) -> str:
    return "".join(
        f"<p class='note'>In turn, {c.threads} thread(s): {escape(c.model)} is {c.ratio:.2f} times as fast as "
        f"{escape(c.against)}.</p>"
        for c in benchmark.comparisons
    )


def _command() -> str:
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
