"""`kerasbert benchmark`."""

from pathlib import Path
from typing import Annotated

from typer import Option

from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import OptionGroup, with_options
from kerasbert.cli.outputs.results import Result
from kerasbert.data.file_options import FileOptions

Lengths = Annotated[
    list[int] | None, Option("--length", metavar="N", min=1, help="Sequence length in tokens. Repeatable.")
]
ThreadCounts = Annotated[list[int], Option(metavar="N", min=1, help="Number of CPU threads. Repeatable.")]
Runs = Annotated[int, Option(metavar="N", min=1, help="Number of timed runs.")]
Versus = Annotated[
    Path | None, Option(metavar="FILE", help="A second model, .tflite or .onnx, run in alternation with the first.")
]
TimedTexts = Annotated[
    Path | None,
    Option(metavar="FILE", help="Texts to run, each at its own length. Default: one synthetic row of full length."),
]


_READING = OptionGroup(FileOptions, without=("label_column", "label_separator", "max_rows"))


@with_options("folder_task", "head", "strict", reading=_READING)
def benchmark(
    model: options.Model,
    reading: FileOptions,
    length: Lengths = None,
    threads: ThreadCounts = [1],  # noqa: B006 (typer copies it)
    runs: Runs = 50,
    against: Versus = None,
    data: TimedTexts = None,
    rows: options.Rows = None,
    report: options.Report = None,
) -> Result:
    """Measure latency, load time and memory on this machine with batch size 1. A folder is measured as a Keras model.

    Example: kerasbert benchmark model.tflite --data dev.tsv --against other.onnx --report latency.html
    """
    from kerasbert.cli.inputs.data_files import read_model_data
    from kerasbert.cli.outputs.destinations import check_out_file
    from kerasbert.cli.process.progress import progress
    from kerasbert.errors import KerasBertError
    from kerasbert.export.tflite.file_kind import is_tflite
    from kerasbert.export.validation.checks import check_report_path
    from kerasbert.files.own_files import REPORT

    if report is not None:
        check_report_path(report)
        check_out_file(report, "--report", REPORT)
    if not is_tflite(model):
        from kerasbert.cli.outputs.describe_folder import benchmark_folder

        if against is not None or data is not None or rows is not None:
            raise KerasBertError(
                "expected a .tflite file for --against, --data and --rows, received a folder; convert the model first"
            )
        with progress("measuring"):
            measured = benchmark_folder(model, length, threads, runs)
    else:
        from kerasbert.export.measurement.benchmarking import benchmark as run

        texts = None if data is None else read_model_data(model, data, reading)
        with progress("measuring"):
            measured = run(
                model, lengths=length or None, threads=threads, runs=runs, against=against, data=texts, rows=rows
            )
    if report is not None:
        from kerasbert.export.reporting.benchmark_report import write_benchmark

        write_benchmark(report, measured)
    written = [f"report: {report}"] if report else []
    return Result({**measured.as_dict(), "report": report}, [*measured.blocks(), *written])
