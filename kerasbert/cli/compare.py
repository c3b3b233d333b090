"""`kerasbert compare`."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kerasbert.arguments import argument
from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import OptionGroup, with_options
from kerasbert.cli.outputs.results import Result
from kerasbert.data.file_options import FileOptions
from kerasbert.errors import KerasBertError

if TYPE_CHECKING:
    from kerasbert.data.dataset import Dataset

Models = Annotated[
    list[str],
    Argument(
        metavar="MODEL...",
        help="Two or more .tflite files, folders, or names in the zoo or on the hub, the reference first; or JSON files of earlier "
        "comparisons.",
    ),
]
Data = Annotated[Path | None, Option(metavar="FILE", help="Labelled data of the task, as for `kerasbert evaluate`.")]
Against = Annotated[
    str | None, Option(metavar="MODEL", help="Reference, by its name or path. Default: the first model.")
]
Names = Annotated[
    list[str] | None,
    Option("--name", metavar="NAME", help="Name of a model in the table, in the order of the models. Repeatable."),
]
NoLatency = Annotated[bool, Option("--no-latency", help="Measure neither latency nor memory.")]
Length = Annotated[
    int | None,
    Option(
        "--sequence-length", metavar="N", min=1, help="Time one row of so many tokens. Default: 64 texts of the data."
    ),
]
Runs = Annotated[int, Option(metavar="N", min=1, help="Least number of timed rows of each model.")]
Report = Annotated[
    Path | None, Option("--report", "--html", metavar="FILE", help="Also write a report, .html or .json.")
]
Plot = Annotated[Path | None, Option(metavar="FILE", help="Plot score against size and against latency, .png or .svg.")]
Csv = Annotated[Path | None, Option(metavar="FILE", help="Also write the table as .csv.")]
Overwrite = Annotated[bool, Option("--overwrite", help="Replace an existing --csv file.")]

_READING = OptionGroup(FileOptions, without=("max_rows",))
_RUNS = 192  # 3 rounds of 64 texts


@with_options("folder_task", "head", "strict", reading=_READING)
def compare(
    models: Models,
    reading: FileOptions,
    data: Data = None,
    against: Against = None,
    name: Names = None,
    rows: options.Rows = None,
    no_latency: NoLatency = False,
    sequence_length: Length = None,
    runs: Runs = _RUNS,
    threads: options.Threads = 1,
    report: Report = None,
    plot: Plot = None,
    csv: Csv = None,
    overwrite: Overwrite = False,
) -> Result:
    """Compare models on the same data: size, score, share of the reference's score, agreement, latency and memory.

    Each model uses its own tokenizer and settings. Folders run in Keras, .tflite files on LiteRT. JSON files of earlier comparisons are
    joined to one table with a column for each task.

    Example: kerasbert compare runs/mine mine.tflite small.tflite --data dev.tsv --html comparison.html
    """
    _check_outputs(report, plot, csv, overwrite)
    files = [report, plot, csv]
    earlier = [each for each in models if each.endswith(".json") and not os.path.isdir(each)]
    if len(earlier) == len(models):
        _check_only_joined(data, against, name, plot)
        from kerasbert.export.comparison.joined import join_comparisons

        joined = join_comparisons(models)
        written = [f"wrote {joined.save(each, overwrite)}" for each in files if each is not None]
        return Result(joined.as_dict(), [*joined.blocks(), *written])
    if earlier:
        raise KerasBertError(
            f"expected models, or JSON files of earlier comparisons, received both, such as {earlier[0]}; join them in a second command"
        )
    table = _read(models, data, against, reading)
    from kerasbert.cli.process.progress import progress
    from kerasbert.export.comparer import compare as run
    from kerasbert.memory import keep_memory

    keep_memory()
    with progress("loading the models") as bar:
        comparison = run(
            _named(models, name), table, against=against, rows=rows, latency=not no_latency, sequence_length=sequence_length, runs=runs,
            threads=threads, progress=bar, isolated=True,
        )  # fmt: skip
    written = [f"wrote {comparison.save(each, overwrite)}" for each in files if each is not None]
    outputs = {"report": report, "plot": plot, "csv": csv}
    return Result({**comparison.as_dict(), **outputs}, [*comparison.blocks(), *written])


def _check_outputs(report: Path | None, plot: Path | None, csv: Path | None, overwrite: bool) -> None:
    from kerasbert.cli.outputs.destinations import check_out_file
    from kerasbert.export.comparison.saving import check_csv
    from kerasbert.export.validation.checks import check_report_path
    from kerasbert.files.own_files import PLOT, REPORT

    if report is not None:
        check_report_path(report)
        check_out_file(report, "--report", REPORT)
    if plot is not None:
        check_out_file(plot, "--plot", PLOT, ending=(".png", ".svg"))
    if csv is not None:
        check_out_file(csv, "--csv", ending=".csv")
        check_csv(csv, overwrite)


def _check_only_joined(data: Path | None, against: str | None, name: list[str] | None, plot: Path | None) -> None:
    for option, value in {"data": data, "against": against, "name": name, "plot": plot}.items():
        if value:
            raise KerasBertError(
                f"expected no {argument(option)} for JSON files of earlier comparisons, received one; leave it out"
            )


def _named(models: Sequence[str], names: Sequence[str] | None) -> Sequence[str] | dict[str, str]:
    """Return the models by name, if there are names."""
    if not names:
        return models
    if len(names) != len(models) or len(set(names)) != len(names):
        raise KerasBertError(
            f"expected a different --name for each of the {len(models)} models, received {', '.join(names)}; name each once"
        )
    return dict(zip(names, models, strict=True))


def _read(models: Sequence[str], data: Path | None, against: str | None, reading: FileOptions) -> "Dataset":
    """Check models and data as far as that is possible before TensorFlow is loaded, and read the data."""
    from kerasbert.cli.inputs.data_files import check_known_labels, read_described
    from kerasbert.cli.inputs.saved_model import read_processor
    from kerasbert.export.comparison.models import check_same_task, named_models
    from kerasbert.export.comparison.results import ONNX_FILE
    from kerasbert.processors import make_processor

    if data is None:
        raise KerasBertError("expected --data to compare the models on, received none; name a labelled data file")
    named = named_models(list(models), against)
    known = [(each.name, read_processor(each.path)) for each in named if each.kind != ONNX_FILE]
    known = [(name, processor) for name, processor in known if processor is not None]
    for other in known[1:]:
        check_same_task(known[0], other)
    processor = known[0][1] if known else None
    table = read_described(type(processor or make_processor("single_label")), data, reading)
    if processor is not None:
        check_known_labels(processor, table)
    return table
