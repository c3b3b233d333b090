"""`kerasbert diagnose`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import OptionGroup, with_options
from kerasbert.cli.outputs.results import Result
from kerasbert.data.file_options import FileOptions
from kerasbert.errors import KerasBertError

if TYPE_CHECKING:
    from kerasbert.data.dataset import Dataset
    from kerasbert.tasks.base import Task

Data = Annotated[Path, Option(metavar="FILE", help="Examples to run: a data file of the task.")]
Calibration = Annotated[
    Path | None, Option(metavar="FILE", help="For a float model: calibration examples. Default: those of --data.")
]
CalibrationMethod = Annotated[
    str | None,
    Option(
        metavar="NAME",
        help="For a float model: range estimation, min-max, percentile, percentile:99.9 or mse. Default: min-max.",
    ),
]
IntegerOnly = Annotated[bool, Option("--integer-only", help="For a float model: quantize every activation.")]
Rows = Annotated[int, Option(metavar="N", min=1, help="Number of token sequences to run.")]
Points = Annotated[
    int,
    Option(
        "--points",
        "--worst",
        metavar="N",
        min=1,
        help="Number of worst tensors to show. Each costs one more run, to measure its effect on the output. --json has all.",
    ),
]
Plot = Annotated[
    Path | None,
    Option(metavar="FILE", help="Plot signal-to-noise ratio and output error of the tensors, .png or .svg."),
]

_RECIPE = "static_wi8_ai8"
_CALIBRATION_METHOD = "min-max"


_READING = OptionGroup(FileOptions, without=("max_rows",))


@with_options("folder_task", "head", "strict", reading=_READING)
def diagnose(
    model: options.Folder,
    data: Data,
    reading: FileOptions,
    recipe: options.Recipe = None,
    integer_only: IntegerOnly = False,
    calibration: Calibration = None,
    calibration_method: CalibrationMethod = None,
    rows: Rows = 64,
    points: Points = 12,
    plot: Plot = None,
) -> Result:
    """Find the tensors that lose precision in a quantized model, and their effects on the output.

    The model is a quantized folder, or a float folder that is calibrated as --recipe would quantize it.

    Example: kerasbert diagnose runs/mine --recipe static_wi8_ai8 --integer-only --data dev.tsv --plot loss.png
    """
    from kerasbert.cli.outputs.destinations import check_out_file
    from kerasbert.compression import policy_named, range_estimator
    from kerasbert.files.own_files import PLOT

    if plot is not None:
        check_out_file(plot, "--plot", PLOT, ending=(".png", ".svg"))
    policy_named(recipe or _RECIPE, integer_only)
    range_estimator(calibration_method or _CALIBRATION_METHOD)
    table, calibration_table = _read_tables(model, data, calibration, reading)
    task = _load_quantized(model, calibration_table, recipe, integer_only, calibration, calibration_method)
    from kerasbert import compression
    from kerasbert.cli.outputs.diagnosis_text import diagnosis_data, format_diagnosis
    from kerasbert.cli.process.progress import progress
    from kerasbert.compression.quantization.diagnosis import worst_first

    examples = _first(table.x, rows)
    with progress("comparing float and quantized tensors"):
        losses = compression.diagnose(task, examples, rows)
    worst = worst_first(losses)[:points]
    with progress("quantizing one tensor at a time") as bar:
        labels = _usable_labels(task, examples, table.y, rows)
        keys = [loss.key for loss in worst]
        effects = compression.measure_effects(task, examples, keys, labels, rows, bar.advance)
    blocks = format_diagnosis(losses, worst, effects)
    if plot is not None:
        from kerasbert.compression.quantization.plots import plot_losses

        plot_losses(losses, plot, effects)
        blocks.append(f"plot: {plot}")
    result = {"model": model, "data": data, "rows": rows, **diagnosis_data(losses, effects), "plot": plot}
    return Result(result, blocks)


def _read_tables(model: str, data: Path, calibration: Path | None, reading: FileOptions) -> "tuple[Dataset, Dataset]":
    """Read the examples to run and those for calibration."""
    from dataclasses import replace

    from kerasbert.cli.inputs.data_files import read_described
    from kerasbert.cli.inputs.training_data import load_processor

    kind, reading = type(load_processor(model)), reading
    table = read_described(kind, data, reading)
    return table, read_described(kind, calibration, replace(reading, label_column=None)) if calibration else table


def _load_quantized(
    model: str,
    calibration_table: "Dataset",
    recipe: str | None,
    integer_only: bool,
    calibration: Path | None,
    calibration_method: str | None,
) -> "Task":
    """Load a quantized model, or calibrate a float one."""
    from kerasbert.cli.process.progress import loading, progress

    with loading("the model"):
        from kerasbert import compression
        from kerasbert.tasks.auto import load_task

        task = load_task(model)
    float_options = {
        "--recipe": recipe,
        "--integer-only": integer_only,
        "--calibration": calibration,
        "--calibration-method": calibration_method,
    }
    if not task.policy:
        with progress("calibrating"):
            return compression.quantize(
                task, recipe or _RECIPE, calibration_table.x, integer_only=integer_only,
                ranges=calibration_method or _CALIBRATION_METHOD,
            )  # fmt: skip
    if given := [name for name, value in float_options.items() if value]:
        raise KerasBertError(
            f"expected a float model for {given[0]}, received {model}, which is quantized for {task.policy.recipe!r}; leave out {given[0]}"
        )
    return task


def _first(examples: Any, count: int) -> Any:
    """Return the first examples; of pairs, the first ones of both columns."""
    if isinstance(examples, tuple):
        return tuple(_first(column, count) for column in examples)
    return list(examples)[:count]


def _usable_labels(task: "Task", examples: Any, labels: Sequence | None, rows: int) -> Sequence | None:
    """Return the labels of the examples if the task can be evaluated with them; else None, after a note about the reason."""
    from kerasbert.cli.process.progress import note
    from kerasbert.processors.embedding import Embedding

    if labels is None or (isinstance(task.processor, Embedding) and not isinstance(examples, tuple)):
        return None
    labels = labels[:rows]
    try:
        task.processor.check_labels(labels, task.processor.examples(examples))
    except KerasBertError as error:
        note(f"no metric, because the labels are not the model's: {error}")
        return None
    return labels
