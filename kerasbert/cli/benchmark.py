"""`kerasbert benchmark`."""

from pathlib import Path
from typing import Annotated

from typer import Option

from kerasbert.cli.common import options
from kerasbert.cli.common.results import Result

Report = Annotated[Path | None, Option(metavar="FILE", help="Write a report as well, .html or .json.")]
Rows = Annotated[int | None, Option(metavar="N", min=1, help="Use so many rows, spread evenly; by default all.")]
Lengths = Annotated[
    list[int] | None, Option("--length", metavar="N", min=1, help="Sequence length; again for another.")
]
ThreadCounts = Annotated[list[int], Option(metavar="N", min=1, help="CPU threads; again for another count.")]
Runs = Annotated[int, Option(metavar="N", min=1, help="Timed runs.")]
Versus = Annotated[
    Path | None, Option(metavar="FILE", help="A second .tflite file, or an .onnx file, run in turn with the first.")
]
TimedTexts = Annotated[
    Path | None, Option(metavar="FILE", help="Texts to run, each at the length it needs, instead of one made-up row.")
]


def benchmark(
    model: options.Model,
    length: Lengths = None,
    threads: ThreadCounts = [1],  # noqa: B006 (typer copies it)
    runs: Runs = 50,
    against: Versus = None,
    data: TimedTexts = None,
    rows: Rows = None,
    report: Report = None,
    text_column: options.TextColumn = None,
    pair_column: options.PairColumn = None,
    delimiter: options.Delimiter = None,
    skip_bad_rows: options.SkipBadRows = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """Latency, load time and memory on this machine, one row at a time; of a folder, those of the Keras model.

    Example: kerasbert benchmark model.tflite --data dev.tsv --against other.onnx --report latency.html
    """
    given = dict(locals())
    from kerasbert.cli.common.data_files import labelled_table
    from kerasbert.cli.common.destinations import check_out_file
    from kerasbert.cli.common.models import is_tflite
    from kerasbert.cli.common.progress import progress
    from kerasbert.errors import KerasBertError
    from kerasbert.export.validation.checks import check_report_path
    from kerasbert.files.own_files import REPORT

    if report is not None:
        check_report_path(report)
        check_out_file(report, "--report", REPORT)
    if not is_tflite(model):
        from kerasbert.cli.common.describe_folder import benchmark_folder

        if against is not None or data is not None:
            raise KerasBertError("expected a .tflite file for --against and --data, received a folder")
        with progress("measuring"):
            found = benchmark_folder(model, length, threads, runs)
    else:
        from kerasbert.export.benchmarking import benchmark as run

        texts = None if data is None else labelled_table(model, data, given)
        with progress("measuring"):
            found = run(
                model, lengths=length or None, threads=threads, runs=runs, against=against, data=texts, rows=rows
            )
    if report is not None:
        from kerasbert.export.reporting.benchmark_report import write_benchmark

        write_benchmark(report, found)
    written = [f"report: {report}"] if report else []
    return Result({**found.as_dict(), "report": report}, [*found.blocks(), *written])
