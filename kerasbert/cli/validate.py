"""`kerasbert validate`."""

from pathlib import Path
from typing import Annotated

from typer import Option

from kerasbert.cli.common import options
from kerasbert.cli.common.results import Result
from kerasbert.export.backends.registry import list_backends

Against = Annotated[
    str, Option(metavar="MODEL", help="What it came from: a folder, another .tflite file or an .npz archive.")
]
Data = Annotated[
    Path | None,
    Option(metavar="FILE", help="Examples in a file as the task reads it, such as .tsv; an archive brings its own."),
]
On = Annotated[
    list[str],
    Option(
        metavar="BACKEND",
        help=f"Where to run it, again for another, or with commas: {list_backends()}, or all.",
    ),
]
Report = Annotated[Path | None, Option(metavar="FILE", help="Write a report as well, .html or .json.")]
Rows = Annotated[int | None, Option(metavar="N", min=1, help="Use so many rows, spread evenly; by default all.")]
ReferenceRows = Annotated[
    int | None,
    Option(metavar="N", min=1, help="Rows for slow kernels and devices; by default those of --rows, or 64."),
]
MaxError = Annotated[
    float | None, Option(metavar="X", min=0.0, help="Largest absolute error allowed, in place of the recipe's limits.")
]


def validate(
    model: options.TFLite,
    against: Against,
    data: Data = None,
    on: On = ["cpu"],  # noqa: B006 (typer copies it)
    report: Report = None,
    rows: Rows = None,
    reference_rows: ReferenceRows = None,
    max_error: MaxError = None,
    text_column: options.TextColumn = None,
    pair_column: options.PairColumn = None,
    label_column: options.LabelColumn = None,
    delimiter: options.Delimiter = None,
    skip_bad_rows: options.SkipBadRows = False,
    threads: options.Threads = 1,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """Prove that a .tflite file still does what the model it came from does. Exit code 0 only if every check passed.

    Checks pass or fail with 95 % confidence; where rows are too few they are not judged. Without --data bundled sentences run, and only
    outputs are judged.

    Example: kerasbert validate model.tflite --against runs/mine --data dev.tsv --on cpu --report report.html
    """
    given = dict(locals())
    from kerasbert.cli.common.data_files import labelled_table
    from kerasbert.cli.common.destinations import check_out_file
    from kerasbert.cli.common.progress import progress
    from kerasbert.export.reporting.report import check_report_path
    from kerasbert.export.validation.validator import validate as run
    from kerasbert.files.own_files import REPORT

    if report is not None:
        check_report_path(report)
        check_out_file(report, "--report", REPORT)
    table = labelled_table(model, data, given) if data else None
    backends = [name for each in on for name in each.split(",")]
    with progress("loading the models") as bar:
        found = run(
            model, against=against, data=table, on=backends, rows=rows, reference_rows=reference_rows, tolerance=max_error, threads=threads,
            progress=lambda what, done, total: bar.update(done, total, stage=f"running {what}", unit="rows"), report=report, isolated=True,
        )  # fmt: skip
    written = [f"report: {report}"] if report else []
    return Result({**found.as_dict(), "report": report}, [*found.blocks(), *written], exit_code=0 if found.ok else 1)
