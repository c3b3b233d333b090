"""A comparison as one self-contained page."""

from collections.abc import Callable
from pathlib import Path

from kerasbert.console.numbers import format_bytes, format_number, format_seconds
from kerasbert.export.comparison.results import ComparisonRecord, Estimate
from kerasbert.export.comparison.table import bounds, format_count, format_share, format_times, timing_lines
from kerasbert.export.reporting.frontier import Point
from kerasbert.export.reporting.report import Bars, Points, Section, Table, write_html

_BEST = "The line joins the models that no other one beats in both. Bars are bounds, each with 95 % confidence."


def write_page(path: Path, comparison: ComparisonRecord) -> Path:
    """Write the page.

    Args:
        path: The file, `.html`.
        comparison: The comparison.

    Raises:
        KerasBertError: When a file is there that kerasbert did not write.
    """
    title = f"{len(comparison.models)} models on {comparison.data}"
    return write_html(path, title=title, sections=_sections(comparison), machine=comparison.machine)


def cost_points(comparison: ComparisonRecord) -> dict[str, list[Point]]:
    """Return the points of each chart by the label of its x axis: score by size, and score by latency where it was measured."""
    sizes, latencies = [], []
    for model in comparison.models:
        if (score := model.score) is not None:
            sizes.append(Point(model.name, model.bytes / 1e6, score.value, score.low, score.high))
            if (latency := model.latency) is not None:
                latencies.append(Point(model.name, 1e3 * latency.p50, score.value, score.low, score.high))
    charts = {"megabytes": sizes, "milliseconds a row (median)": latencies}
    return {label: points for label, points in charts.items() if points}


def _sections(comparison: ComparisonRecord) -> list[Section]:
    charts = dict(zip(("Score and size", "Score and latency"), cost_points(comparison).items(), strict=False))
    sections: list[Section] = [_scores(comparison), _sizes(comparison)]
    if comparison.reference.latency is not None:
        sections.append(_times(comparison))
    sections += [Points(title, points, label, comparison.metric, _BEST) for title, (label, points) in charts.items()]
    kept = [(each.name, each.kept.value) for each in comparison.models if each.kept is not None]
    if kept:
        sections.append(
            Bars(f"{_capital(comparison.metric)} kept", kept, "percent", f"Share of the score of {comparison.against}.")
        )
    return sections


def _scores(comparison: ComparisonRecord) -> Table:
    others = [name for name in comparison.reference.metrics if name != comparison.metric]
    columns = [
        "model",
        comparison.metric,
        "95 % bounds",
        "kept",
        "95 % bounds",
        "agreement",
        "95 % bounds",
    ]
    rows = [
        (
            each.name,
            *_with_bounds(each.score, lambda v: f"{v:.4f}"),
            format_share(each.kept),
            bounds(each.kept, lambda v: f"{v:.2%}") or "-",
            *_with_bounds(each.agreement, lambda v: f"{v:.4f}"),
            *(format_number(each.metrics.get(name)) for name in others),
        )
        for each in comparison.models
    ]
    note = (
        f"{comparison.rows:,} examples of {comparison.data}. Kept and agreement: against {comparison.against}, example by example. "
        "Each bound holds with 95 % confidence."
    )
    return Table("Scores", [*columns, *others], rows, " ".join([note, *map(_sentence, comparison.notes)]))


def _sizes(comparison: ComparisonRecord) -> Table:
    rows = [
        (
            each.name,
            format_count(each.parameters),
            format_bytes(each.bytes),
            format_times(each.smaller),
            format_bytes(each.download_bytes),
        )
        for each in comparison.models
    ]
    note = "Size of all files, tokenizer included. Download: compressed with gzip."
    return Table("Sizes", ("model", "parameters", "size", "smaller", "download"), rows, note)


def _times(comparison: ComparisonRecord) -> Table:
    rows = []
    for each in comparison.models:
        latency, memory = each.latency, each.memory_bytes
        quartiles = "-" if latency is None else f"{format_seconds(latency.p25)} to {format_seconds(latency.p75)}"
        rows.append((
            each.name, format_seconds(latency and latency.p50), quartiles, format_times(each.faster and each.faster.value),
            bounds(each.faster, lambda v: f"{v:.2f} x") or "-", "-" if memory is None else format_bytes(memory),
        ))  # fmt: skip
    columns = ("model", "median", "quartiles", "faster", "95 % bounds", "memory")
    note = " ".join(_sentence(line) for line in timing_lines(comparison))
    return Table("Latency of one row", columns, rows, note)


def _with_bounds(estimate: Estimate | None, format_value: Callable[[float], str]) -> tuple[str, str]:
    if estimate is None:
        return "-", "-"
    return format_value(estimate.value), bounds(estimate, format_value) or "-"


def _sentence(line: str) -> str:
    return f"{_capital(line.removeprefix('note: ').removeprefix('warning: '))}."


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
