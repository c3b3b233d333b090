"""`kerasbert validate`."""

from pathlib import Path
from typing import Annotated, Any

from typer import Option

from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import OptionGroup, with_options
from kerasbert.cli.outputs.results import Result
from kerasbert.data.file_options import FileOptions
from kerasbert.errors import KerasBertError
from kerasbert.export.backends.registry import list_backends
from kerasbert.training.answer_options import AnswerConfig, answer_settings, check_answers_questions

Against = Annotated[
    str,
    Option(
        metavar="MODEL",
        help="Reference: the folder it was converted from, another .tflite file, or an .npz archive of outputs.",
    ),
]
Data = Annotated[
    Path | None,
    Option(
        metavar="FILE",
        help="Examples: a data file of the task. Default: bundled sentences, or those of an .npz archive.",
    ),
]
On = Annotated[
    list[str],
    Option(
        metavar="BACKEND",
        help=f"Backends: {list_backends()}, or all. Repeatable, or separated by commas.",
    ),
]
ReferenceRows = Annotated[
    int | None,
    Option(metavar="N", min=1, help="Number of rows for slow kernels and devices. Default: that of --rows, or 64."),
]
MaxError = Annotated[
    float | None, Option(metavar="X", min=0.0, help="Maximum absolute error. Default: the limits of the recipe.")
]


_READING = OptionGroup(FileOptions, without=("max_rows",))


@with_options("folder_task", "head", "strict", answering=OptionGroup(AnswerConfig), reading=_READING)
def validate(
    model: options.TFLite,
    against: Against,
    answering: AnswerConfig,
    reading: FileOptions,
    data: Data = None,
    on: On = ["cpu"],  # noqa: B006 (typer copies it)
    report: options.Report = None,
    rows: options.Rows = None,
    reference_rows: ReferenceRows = None,
    max_error: MaxError = None,
    threads: options.Threads = 1,
) -> Result:
    """Compare a .tflite file with its reference model on each backend. The exit code is 0 only if every check passed.

    Settings are compared, and texts run through the file's own tokenizer and processor. Checks pass or fail with 95 % confidence. With too
    few rows, equal predictions end as "no difference found", with exit code 0, and others are not judged. Without --data, bundled
    sentences are used and only the outputs are compared.

    Example: kerasbert validate model.tflite --against runs/mine --data dev.tsv --on cpu --report report.html
    """
    from kerasbert.cli.inputs.data_files import read_model_data
    from kerasbert.cli.outputs.destinations import check_out_file
    from kerasbert.cli.process.progress import progress
    from kerasbert.export.reporting.report import check_report_path
    from kerasbert.export.validator import validate as run
    from kerasbert.files.own_files import REPORT
    from kerasbert.processors.requested import requesting_answers

    if report is not None:
        check_report_path(report)
        check_out_file(report, "--report", REPORT)
    table = read_model_data(model, data, reading) if data else None
    backends = [name for each in on for name in each.split(",")]
    replaced = _check_answers(model, against, answering)
    with progress("loading the models") as bar, requesting_answers(replaced):
        validation = run(
            model, against=against, data=table, on=backends, rows=rows, reference_rows=reference_rows, tolerance=max_error, threads=threads,
            progress=bar, report=report, isolated=True,
        )  # fmt: skip
    written = [f"report: {report}"] if report else []
    return Result(
        {**validation.as_dict(), "report": report},
        [*validation.blocks(), *written],
        exit_code=0 if validation.ok else 1,
    )


def _check_answers(model: Path, against: str | Path, answering: AnswerConfig) -> dict[str, Any]:
    """Return the settings with which the file was converted, in place of those of the reference."""
    from kerasbert.cli.inputs.saved_model import read_processor
    from kerasbert.export.tflite.file_kind import is_tflite

    settings = answer_settings(answering)
    if settings and (is_tflite(against) or str(against).endswith(".npz")):
        raise KerasBertError(
            f"expected a folder to compare with for settings of question answering, received {against}; leave them out"
        )
    if settings and (processor := read_processor(model)) is not None:
        check_answers_questions(settings, processor.name)
    return settings
