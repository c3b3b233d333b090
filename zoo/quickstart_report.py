"""The quickstart's results, and their report: one self-contained HTML page."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kerasbert.console import tables
from kerasbert.console.numbers import format_bytes, format_seconds
from kerasbert.export.measurement.benchmarking import Benchmark
from kerasbert.export.measurement.inspection import inspect
from kerasbert.export.reporting.report import Bars, Lines, Table, write_html
from kerasbert.export.validation.checks import ValidationReport

COLUMNS = ("model", "size", "test accuracy", "agreement with Keras", "latency p50")
_PHASES = {"float": "float", "int8": "8-bit training"}


@dataclass(frozen=True)
class ModelRow:
    """One line of the result.

    Attributes:
        model: the model's name.
        size: bytes of its file.
        dev_accuracy: accuracy on the dev split; None for a file.
        test_accuracy: accuracy on the test split.
        agreement: fraction of test rows on which a file predicts the same class as its Keras model; None for a Keras model.
        latency: median seconds of a file for one text on one thread; None for a Keras model.
    """

    model: str
    size: int
    dev_accuracy: float | None
    test_accuracy: float
    agreement: float | None = None
    latency: float | None = None


@dataclass(frozen=True)
class Summary:
    """Results of the quickstart.

    Attributes:
        models: the Keras models, then the files.
        predictions: (text, intent, probability) of the int8 file.
        history: phase (`float`, `int8`) -> metric -> one value for each epoch.
        verdicts: recipe -> verdict of the file's validation.
        report: path of the HTML report.
        seconds: duration of the whole run.
    """

    models: tuple[ModelRow, ...]
    predictions: tuple[tuple[str, str, float], ...]
    history: dict[str, dict[str, list[float]]]
    verdicts: dict[str, str]
    report: str
    seconds: float

    @property
    def ok(self) -> bool:
        """True if every file passed its validation."""
        return set(self.verdicts.values()) == {"passed"}

    def cells(self) -> list[tuple[str, ...]]:
        """Return the models as table cells, in the order of `COLUMNS`."""
        return [
            (
                row.model,
                format_bytes(row.size),
                f"{row.test_accuracy:.1%}",
                "-" if row.agreement is None else f"{row.agreement:.1%}",
                format_seconds(row.latency),
            )
            for row in self.models
        ]

    def table(self) -> tables.Table:
        """Return the models as a table."""
        return tables.Table(COLUMNS, self.cells())


def write_report(
    summary: Summary, reports: Mapping[str, ValidationReport], benchmarks: Mapping[str, Benchmark], int8_file: Path
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


def _predictions(summary: Summary) -> list[tuple[str, str, str]]:
    return [(text, intent, f"{probability:.1%}") for text, intent, probability in summary.predictions]


def _short_name(model: str) -> str:
    return model.removeprefix("assistant-").removesuffix(".tflite")
