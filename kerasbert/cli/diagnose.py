"""`kerasbert diagnose`."""

from pathlib import Path
from typing import Annotated

from typer import Option

from kerasbert.cli import options
from kerasbert.cli.results import Result

Data = Annotated[Path, Option(metavar="FILE", help="Examples to run, in a file as the task reads it.")]
Calibration = Annotated[
    Path | None, Option(metavar="FILE", help="Of a float model: examples that set its ranges; by default --data.")
]
Ranges = Annotated[
    str | None, Option(metavar="NAME", help="Of a float model: min-max, percentile, percentile:99.9 or mse.")
]
IntegerOnly = Annotated[bool, Option("--integer-only", help="Of a float model: leave no activation in float.")]
Rows = Annotated[int, Option(metavar="N", min=1, help="Run so many token rows.")]
Worst = Annotated[int, Option(metavar="N", min=1, help="Show so many points, the worst first; --json holds all.")]
Plot = Annotated[Path | None, Option(metavar="FILE", help="Draw signal-to-noise over all points, .png or .svg.")]

_CALIBRATION_ROWS = 256


def diagnose(
    model: options.Folder,
    data: Data,
    recipe: options.Recipe = None,
    integer_only: IntegerOnly = False,
    calibration: Calibration = None,
    ranges: Ranges = None,
    rows: Rows = 64,
    worst: Worst = 12,
    plot: Plot = None,
    text_column: options.TextColumn = None,
    pair_column: options.PairColumn = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """Where a quantized model loses the signal: float and 8 bits side by side, tensor by tensor.

    Of a saved int8 folder, or of a float one as --recipe would make it.

    Example: kerasbert diagnose runs/mine --recipe static_wi8_ai8 --integer-only --data dev.tsv --plot loss.png
    """
    from dataclasses import asdict

    from kerasbert.cli.destinations import check_out_file
    from kerasbert.cli.loading import loading
    from kerasbert.cli.progress import note, progress
    from kerasbert.data.reading import read_for
    from kerasbert.errors import KerasBertError

    if plot is not None:
        check_out_file(plot, "--plot", ending=(".png", ".svg"))
    with loading("the model"):
        from kerasbert import compression
        from kerasbert.tasks.folders import load_task

        task = load_task(model)
    of_float = {"--recipe": recipe, "--integer-only": integer_only, "--calibration": calibration, "--ranges": ranges}
    if task.policy and any(of_float.values()):
        asked = next(name for name, value in of_float.items() if value)
        raise KerasBertError(
            f"expected a float model for {asked}, received {model}, which is quantized for {task.policy.recipe!r}"
        )
    columns = {"text": text_column, "pair": pair_column, "label": None}
    tables = [read_for(task.problem, path, **columns) for path in (data, calibration or data)]
    note(tables[0].describe())
    if not task.policy:
        with progress("calibrating"):
            task = compression.quantize(
                task, recipe or "static_wi8_ai8", _first(tables[1].x, _CALIBRATION_ROWS), integer_only=integer_only,
                ranges=ranges or "min-max",
            )  # fmt: skip
    with progress("running float and 8 bits side by side"):
        found = compression.diagnose(task, _first(tables[0].x, rows), rows)
    if plot is not None:
        from kerasbert.compression.plots import plot_losses

        plot_losses(found, plot)
    said = [*_blocks(found, worst), *([f"plot: {plot}"] if plot else [])]
    return Result(
        {"model": model, "data": data, "rows": rows, "points": [asdict(loss) for loss in found], "plot": plot},
        said,
    )


def _first(examples, count: int):
    """That many examples from the beginning; of pairs, of both sides."""
    if isinstance(examples, tuple):
        return tuple(_first(side, count) for side in examples)
    return list(examples)[:count]


def _blocks(found, worst: int) -> list:
    from kerasbert.compression.diagnosis import only_kernels, worst_first
    from kerasbert.console.tables import Table

    columns = (
        "point",
        "kind",
        "SNR dB",
        "own SNR",
        "cosine",
        "values",
        "8-bit range",
        "outliers",
        "channel peak",
        "clipped",
    )
    chosen = worst_first(found)[:worst]
    lines = [
        (
            loss.path if not loss.call else f"{loss.path} (call {loss.call})", loss.kind, f"{loss.signal_to_noise:.1f}",
            f"{loss.own_signal_to_noise:.1f}", f"{loss.cosine:.4f}", _bounds((loss.minimum, loss.maximum)), _eight_bits(loss),
            f"{loss.outlier_share:.3%}", f"{loss.channel_ratio:.0f}x median", f"{loss.clipped_share:.3%}",
        )
        for loss in chosen
    ]  # fmt: skip
    first = found[0]
    last = found[-1]
    which = "that lose most by themselves (own SNR)"
    if only_kernels(found):
        which = "that kernels and tables in few bits cost most, activations staying in float"
    said = (
        f"{len(found)} points; the {len(chosen)} {which}. Signal-to-noise at the first point "
        f"({first.path}) {first.signal_to_noise:.1f} dB, at the last ({last.path}) {last.signal_to_noise:.1f} dB"
    )
    return [said, "", Table(columns, lines)]


def _eight_bits(loss) -> str:
    return "-" if loss.kind == "float" else _bounds(loss.range)


def _bounds(bounds) -> str:
    return "at run time" if bounds is None else f"{bounds[0]:.3g} .. {bounds[1]:.3g}"
