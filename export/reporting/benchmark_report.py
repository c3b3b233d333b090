"""Writes a benchmark as an HTML page or as JSON."""

import os
from pathlib import Path

from kerasbert.export.measurement.benchmarking import Benchmark, Measurement
from kerasbert.export.reporting.report import Bars, Lines, write_html, write_json

_QUANTILES = ("p50", "p90", "p99", "mean")


def write_benchmark(path: str | os.PathLike, benchmark: Benchmark) -> Path:
    """Write a benchmark by the path's suffix: `.json`, or `.html` with charts.

    Returns:
        The path.

    Raises:
        KerasBertError: when a file is there that kerasbert did not write.
    """
    if Path(path).suffix == ".json":
        return write_json(path, benchmark)
    sections = [_latency_bars(benchmark), *_latency_by_tokens(benchmark)]
    return write_html(path, title="Latency", benchmark=benchmark, sections=sections)


def _latency_bars(benchmark: Benchmark) -> Bars:
    measurements = benchmark.measurements
    several = len(measurements) > 1
    bars = [
        (f"{_label(m, benchmark)}, {quantile}" if several else quantile, getattr(m.latency, quantile))
        for m in measurements
        for quantile in _QUANTILES
    ]
    note = "" if several else "".join(f"Of {_label(m, benchmark)}." for m in measurements)
    return Bars("Latency of one row", bars, "seconds", note)


def _latency_by_tokens(benchmark: Benchmark) -> list[Lines]:
    """Return a line chart, or nothing if no texts were measured."""
    lines = {
        _label(m, benchmark): [(tokens, 1e3 * seconds) for tokens, seconds in sorted(m.by_tokens.items())]
        for m in benchmark.measurements
        if m.by_tokens
    }
    return [Lines("By the tokens of a text", lines, "tokens", "median milliseconds")] if lines else []


def _label(measurement: Measurement, benchmark: Benchmark) -> str:
    """Return the model's name, with length and threads where these tell measurements of one model apart."""
    same_model = [m for m in benchmark.measurements if m.model == measurement.model]
    parts = [measurement.model]
    if len({m.length for m in same_model}) > 1:
        parts.append(str(measurement.length))
    if len({m.threads for m in same_model}) > 1:
        parts.append(f"{measurement.threads} threads")
    return ", ".join(parts)
