"""A benchmark as a page or as JSON."""

import os
from pathlib import Path

from kerasbert.export.benchmarking import Benchmark, Measurement
from kerasbert.export.reporting.report import Bars, Lines, write_html
from kerasbert.files.atomic import atomic_file
from kerasbert.files.own_files import REPORT, check_own, marked_json

_QUANTILES = ("p50", "p90", "p99", "mean")


def write_benchmark(path: str | os.PathLike, found: Benchmark) -> Path:
    """`.html`, with latencies drawn, or `.json`, by the name."""
    if Path(path).suffix == ".json":
        check_own(path, REPORT, "a report")
        with atomic_file(path) as partial:
            partial.write_text(marked_json(REPORT, found.as_dict()), encoding="utf-8")
        return Path(path)
    several = len(found.measurements) > 1
    bars = [
        (f"{_label(m, found)}, {name}" if several else name, getattr(m.latency, name))
        for m in found.measurements
        for name in _QUANTILES
    ]
    whose = "" if several else f"Of {_label(found.measurements[0], found)}."
    lines = {
        _label(m, found): [(tokens, 1e3 * seconds) for tokens, seconds in sorted(m.by_tokens.items())]
        for m in found.measurements
        if m.by_tokens
    }
    drawn = [Lines("By the tokens of a text", lines, "tokens", "median milliseconds")] if lines else []
    return write_html(
        path, title="Latency", benchmark=found, sections=[Bars("Latency of one row", bars, "seconds", whose), *drawn]
    )


def _label(measurement: Measurement, found: Benchmark) -> str:
    """The model, with what else tells it from the others."""
    same = [m for m in found.measurements if m.model == measurement.model]
    parts = [measurement.model]
    if len({m.length for m in same}) > 1:
        parts.append(str(measurement.length))
    if len({m.threads for m in same}) > 1:
        parts.append(f"{measurement.threads} threads")
    return ", ".join(parts)
