"""`kerasbert diagnose`."""

from pathlib import Path
from typing import Annotated

from typer import Option

from kerasbert.cli.common import options
from kerasbert.cli.common.results import Result

Data = Annotated[Path, Option(metavar="FILE", help="Examples to run, in a file as the task reads it.")]
Calibration = Annotated[
    Path | None, Option(metavar="FILE", help="Of a float model: examples that set its ranges; by default --data.")
]
CalibrationMethod = Annotated[
    str | None, Option(metavar="NAME", help="Of a float model: min-max, percentile, percentile:99.9 or mse.")
]
IntegerOnly = Annotated[bool, Option("--integer-only", help="Of a float model: leave no activation in float.")]
Rows = Annotated[int, Option(metavar="N", min=1, help="Run so many token rows.")]
Points = Annotated[
    int,
    Option(
        "--points",
        "--worst",
        metavar="N",
        min=1,
        help="Show the N worst tensors, and run the data once for each to see what it alone does to the output; --json holds all.",
    ),
]
Plot = Annotated[
    Path | None,
    Option(metavar="FILE", help="Draw signal-to-noise over all tensors, and the output error, .png or .svg."),
]

_CALIBRATION_ROWS = 256


def diagnose(
    model: options.Folder,
    data: Data,
    recipe: options.Recipe = None,
    integer_only: IntegerOnly = False,
    calibration: Calibration = None,
    calibration_method: CalibrationMethod = None,
    rows: Rows = 64,
    points: Points = 12,
    plot: Plot = None,
    text_column: options.TextColumn = None,
    pair_column: options.PairColumn = None,
    label_column: options.LabelColumn = None,
    delimiter: options.Delimiter = None,
    skip_bad_rows: options.SkipBadRows = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """Where a quantized model loses the signal: float and 8 bits side by side, tensor by tensor, and what each does to the output.

    Of a saved int8 folder, or of a float one as --recipe would make it.

    Example: kerasbert diagnose runs/mine --recipe static_wi8_ai8 --integer-only --data dev.tsv --plot loss.png
    """
    given = dict(locals())
    from dataclasses import replace

    from kerasbert.cli.common.data_files import file_options, read_described
    from kerasbert.cli.common.destinations import check_out_file
    from kerasbert.cli.common.loading import loading
    from kerasbert.cli.common.progress import progress
    from kerasbert.cli.common.training_data import saved_processor
    from kerasbert.compression import policy_named, range_estimator
    from kerasbert.errors import KerasBertError
    from kerasbert.files.own_files import PLOT

    if plot is not None:
        check_out_file(plot, "--plot", PLOT, ending=(".png", ".svg"))
    policy_named(recipe or "static_wi8_ai8", integer_only)
    range_estimator(calibration_method or "min-max")
    kind, how = type(saved_processor(model)), file_options(given)
    table = read_described(kind, data, how)
    texts = read_described(kind, calibration, replace(how, label_column=None)) if calibration else table
    with loading("the model"):
        from kerasbert import compression
        from kerasbert.cli.common.diagnosis_text import as_json, blocks
        from kerasbert.compression.quantization.diagnosis import worst_first
        from kerasbert.tasks.auto import load_task

        task = load_task(model)
    of_float = {
        "--recipe": recipe,
        "--integer-only": integer_only,
        "--calibration": calibration,
        "--calibration-method": calibration_method,
    }
    if task.policy and any(of_float.values()):
        asked = next(name for name, value in of_float.items() if value)
        raise KerasBertError(
            f"expected a float model for {asked}, received {model}, which is quantized for {task.policy.recipe!r}"
        )
    if not task.policy:
        with progress("calibrating"):
            task = compression.quantize(
                task, recipe or "static_wi8_ai8", _first(texts.x, _CALIBRATION_ROWS), integer_only=integer_only,
                ranges=calibration_method or "min-max",
            )  # fmt: skip
    examples = _first(table.x, rows)
    with progress("running float and 8 bits side by side"):
        losses = compression.diagnose(task, examples, rows)
    worst = worst_first(losses)[:points]
    with progress("one tensor at a time in 8 bits") as bar:
        labels = _labels(task, examples, table.y, rows)
        keys = [loss.key for loss in worst]
        effects = compression.measure_effects(task, examples, keys, labels, rows, bar.update)
    said = blocks(losses, worst, effects)
    if plot is not None:
        from kerasbert.compression.quantization.plots import plot_losses

        plot_losses(losses, plot, effects)
        said.append(f"plot: {plot}")
    found = {"model": model, "data": data, "rows": rows, **as_json(losses, effects), "plot": plot}
    return Result(found, said)


def _first(examples, count: int):
    """That many examples from the beginning; of pairs, of both sides."""
    if isinstance(examples, tuple):
        return tuple(_first(side, count) for side in examples)
    return list(examples)[:count]


def _labels(task, examples, labels, rows: int):
    """The labels of the examples that are run, where the task can be scored by them; else None, and why."""
    from kerasbert.cli.common.progress import note
    from kerasbert.errors import KerasBertError
    from kerasbert.processors.embedding import Embedding

    if labels is None or (isinstance(task.processor, Embedding) and not isinstance(examples, tuple)):
        return None
    labels = labels[:rows]
    try:
        task.processor.check_labels(labels, task.processor.examples(examples))
    except KerasBertError as error:
        note(f"no metric, for the labels are not the model's: {error}")
        return None
    return labels
