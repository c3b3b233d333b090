"""A comparison as text: a table and lines, for `kerasbert.console.tables.render`; and as CSV."""

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path

from kerasbert.console.numbers import format_bytes, format_number, format_seconds
from kerasbert.console.tables import Block, Table
from kerasbert.export.comparison.results import ComparedModel, ComparisonRecord, Estimate

# Columns that a narrow terminal does without, the least important first.
SPARE = ("memory", "download", "parameters", "agreement", "size", "latency")


def format_share(estimate: Estimate | None) -> str:
    """Format a share in percent, such as 98.90%."""
    return "-" if estimate is None else f"{estimate.value:.2%}"


def format_times(value: float | None) -> str:
    """Format a ratio, such as 3.9 x."""
    if value is None:
        return "-"
    return f"{value:.2f} x" if value < 0.95 else f"{value:.1f} x" if value < 100 else f"{value:.0f} x"


def format_count(count: int | None) -> str:
    """Format a number of parameters, such as 28.8 M."""
    if count is None:
        return "-"
    return f"{count / 1e6:.1f} M" if count >= 1e6 else f"{count:,}"


def bounds(estimate: Estimate | None, format_value: Callable[[float], str]) -> str:
    """Format the bounds of a value, such as `0.9021 to 0.9313`; empty where they are not known."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return ""
    return f"{format_value(estimate.low)} to {format_value(estimate.high)}"


def model_table(comparison: ComparisonRecord) -> Table:
    """Return a row for each model, the reference first."""
    cells = [
        (
            each.name,
            format_bytes(each.bytes),
            format_times(each.smaller),
            format_number(each.score and each.score.value),
            format_share(each.kept),
            format_number(each.agreement and each.agreement.value),
            format_seconds(each.latency and each.latency.p50),
            format_times(each.faster and each.faster.value),
            format_count(each.parameters),
            format_bytes(each.download_bytes),
            "-" if each.memory_bytes is None else format_bytes(each.memory_bytes),
        )
        for each in comparison.models
    ]
    columns = ["model", "size", "smaller", comparison.metric, "kept", "agreement", "latency", "faster"]
    columns += ["parameters", "download", "memory"]
    unknown = {place for place in range(1, len(columns)) if all(row[place] == "-" for row in cells)}
    keep = [place for place in range(len(columns)) if place not in unknown]
    rows = [[row[place] for place in keep] for row in cells]
    return Table([columns[place] for place in keep], rows, spare=SPARE)


def comparison_blocks(comparison: ComparisonRecord) -> list[Block]:
    """Return the comparison as lines and a table."""
    head = f"{comparison.data}, {comparison.rows:,} examples, against {comparison.against}"
    lines = [f"{each.name}, 95 % sure: {_bound_line(each, comparison.metric)}" for each in comparison.models[1:]]
    machine = ", ".join(f"{key} {value}" for key, value in comparison.machine.items())
    return [head, "", model_table(comparison), *lines, *timing_lines(comparison), *comparison.notes, machine]


def timing_lines(comparison: ComparisonRecord) -> list[str]:
    """Return a line that says how latency was measured; none where it was not."""
    timed = comparison.reference.latency
    if timed is None:
        return []
    length = comparison.sequence_length
    rows = f"a row of {length} tokens" if length else "each text at the shortest length that it fits"
    return [
        f"latency: median of {timed.runs} rows, one at a time, {comparison.threads} thread(s), all models in turn, {rows}; the bounds of "
        "faster hold for these rows on this machine as it was loaded"
    ]


def _bound_line(model: ComparedModel, metric: str) -> str:
    parts = [
        (metric, bounds(model.score, lambda v: f"{v:.4f}")),
        ("kept", bounds(model.kept, lambda v: f"{v:.2%}")),
        ("agreement", bounds(model.agreement, lambda v: f"{v:.4f}")),
        ("faster", bounds(model.faster, lambda v: f"{v:.2f} x")),
    ]
    return ", ".join(f"{name} {text}" for name, text in parts if text) or "nothing, as no spread is known"


_CSV_COLUMNS = (
    "model", "path", "kind", "parameters", "bytes", "download_bytes", "smaller", "metric", "score", "score_low", "score_high", "kept",
    "kept_low", "kept_high", "agreement", "agreement_low", "agreement_high", "latency_p25", "latency_p50", "latency_p75", "faster",
    "faster_low", "faster_high", "memory_bytes",
)  # fmt: skip


def comparison_csv(comparison: ComparisonRecord) -> str:
    """Return a CSV table with a row for each model: numbers in bytes and seconds, empty where one is not known."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_CSV_COLUMNS)
    for each in comparison.models:
        quartiles = each.latency
        times = (None,) * 3 if quartiles is None else (quartiles.p25, quartiles.p50, quartiles.p75)
        writer.writerow([
            each.name, each.path, each.kind, each.parameters, each.bytes, each.download_bytes, each.smaller, comparison.metric,
            *_values(each.score), *_values(each.kept), *_values(each.agreement), *times, *_values(each.faster), each.memory_bytes,
        ])  # fmt: skip
    return text.getvalue()


def _values(estimate: Estimate | None) -> Sequence[float | None]:
    return (None, None, None) if estimate is None else (estimate.value, estimate.low, estimate.high)


def data_name(data: object) -> str:
    """Return the name of data in a table: a file's, or `data` for examples in memory."""
    path = getattr(data, "path", data)
    return Path(path).name or "data" if isinstance(path, str | Path) else "data"
