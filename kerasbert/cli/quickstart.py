"""`kerasbert quickstart`."""

from pathlib import Path
from typing import Annotated

from typer import Option

from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import with_options
from kerasbert.cli.outputs.results import Result

Out = Annotated[Path, Option(metavar="FOLDER", help="Output folder for models, files and the report.")]
Epochs = Annotated[
    int | None, Option(metavar="N", min=1, help="Number of epochs of both training runs. Default: tuned values.")
]
Rows = Annotated[
    int | None, Option(metavar="N", min=1, help="Maximum number of rows, for a quick trial. Default: all rows.")
]


@with_options()
def quickstart(
    out: Out = Path("quickstart"),
    epochs: Epochs = None,
    rows: Rows = None,
    seed: options.Seed = 0,
) -> Result:
    """Train, quantize, convert and validate the bundled model on the bundled data, offline, and write a report.

    Example: kerasbert quickstart --out quickstart
    """
    from dataclasses import asdict

    from kerasbert.cli.outputs.destinations import check_results_folder
    from kerasbert.cli.process.interrupts import native_code
    from kerasbert.memory import keep_memory
    from kerasbert.zoo.quickstart import run

    check_results_folder(out)
    with native_code():
        keep_memory()
        summary = run(out, epochs=epochs, seed=seed, rows=rows)
    verdict = "every check passed" if summary.ok else "not every check passed"
    data = {**asdict(summary), "ok": summary.ok}
    return Result(data, [summary.table(), "", f"{verdict}, see {summary.report}"], exit_code=0 if summary.ok else 1)
