"""The quickstart's results as one self-contained HTML page."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kerasbert.export.benchmarking import Benchmark
from kerasbert.export.inspection import inspect
from kerasbert.export.reporting.report import Bars, Lines, Table, write_html
from kerasbert.export.validation.checks import ValidationReport

if TYPE_CHECKING:  # that module imports this one
    from kerasbert.zoo.quickstart import Summary

_PHASES = {"float": "float", "int8": "8-bit training"}


def write_report(
    summary: "Summary", reports: Mapping[str, ValidationReport], benchmarks: Mapping[str, Benchmark], int8_file: Path
) -> Path:
    """Write the report: a comparison of the models, their training curves, and the validation of the int8 file.

    Args:
        summary: the results; `summary.report` is the path of the page.
        reports: validation of each file, by recipe.
        benchmarks: latency of each file, by recipe.
        int8_file: the file whose inspection and validation are shown in full.

    Returns:
        The path of the page.
    """
    latencies = [(row.model, row.latency) for row in summary.models if row.latency is not None]
    file_sizes = [(row.model, row.size) for row in summary.models if row.latency is not None]
    sections = [
        Table(
            "Models",
            summary.table().columns,
            summary.cells(),
            "Most test texts were written unlike any text of the train split.",
        ),
        Table("Predictions of the int8 file", ("text", "intent", "probability"), _predictions(summary)),
        Table(
            "Validation of each file", ("file", "verdict", "checks"), [_verdict(report) for report in reports.values()]
        ),
        _curves("Loss", summary.history, "loss"),
        _curves("Accuracy", summary.history, "accuracy"),
        Bars("Test accuracy", [(_short_name(row.model), row.test_accuracy) for row in summary.models], "percent"),
        Bars("File size", [(_short_name(name), size) for name, size in file_sizes], "bytes"),
        Bars("Latency p50, one thread", [(_short_name(name), latency) for name, latency in latencies], "seconds"),
    ]
    all_files = Benchmark(
        tuple(m for benchmark in benchmarks.values() for m in benchmark.measurements),
        (),
        next(iter(benchmarks.values())).machine,
    )
    return write_html(
        summary.report,
        reports["static_wi8_ai8"],
        title="kerasbert quickstart: intents of assistant requests",
        inspection=inspect(int8_file),
        benchmark=all_files,
        sections=sections,
    )


def _curves(title: str, history: Mapping[str, Mapping[str, list[float]]], metric: str) -> Lines:
    series, start = {}, 0
    for phase, values in history.items():
        for part, name in (("train", metric), ("dev", f"val_{metric}")):
            series[f"{part}, {_PHASES[phase]}"] = [(start + i + 1, y) for i, y in enumerate(values[name])]
        start += len(values[metric])
    return Lines(title, series, y_label=metric, note="Quantization-aware training goes on where float training ended.")


def _verdict(report: ValidationReport) -> tuple[str, str, str]:
    return report.model, report.verdict, ", ".join(f"{check.name} {check.status}" for check in report.checks)


def _predictions(summary: "Summary") -> list[tuple[str, str, str]]:
    return [(text, intent, f"{probability:.1%}") for text, intent, probability in summary.predictions]


def _short_name(model: str) -> str:
    return model.removeprefix("assistant-").removesuffix(".tflite")
