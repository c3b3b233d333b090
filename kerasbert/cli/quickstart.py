"""`kerasbert quickstart`."""

from pathlib import Path
from typing import Annotated

from typer import Option

from kerasbert.cli.common import options
from kerasbert.cli.common.results import Result

Out = Annotated[Path, Option(metavar="FOLDER", help="Where models, files and the report go.")]
Epochs = Annotated[int | None, Option(metavar="N", min=1, help="Passes of both trainings; by default what works well.")]
Rows = Annotated[int | None, Option(metavar="N", min=1, help="Use only so many rows, for a quick look.")]


def quickstart(
    out: Out = Path("quickstart"),
    epochs: Epochs = None,
    rows: Rows = None,
    seed: options.Seed = 0,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """The whole way on the bundled data and model, offline: train, quantize, convert, validate, report.

    Example: kerasbert quickstart --out quickstart
    """
    from dataclasses import asdict

    from kerasbert.cli.common.destinations import check_results_folder
    from kerasbert.cli.common.interrupts import native_code
    from kerasbert.memory import keep_memory
    from kerasbert.zoo.quickstart import run

    check_results_folder(out)
    with native_code():
        keep_memory()
        summary = run(out, epochs=epochs, seed=seed, rows=rows)
    verdict = "every check passed" if summary.ok else "not every check passed"
    data = {**asdict(summary), "ok": summary.ok}
    return Result(data, [summary.table(), "", f"{verdict}, see {summary.report}"], exit_code=0 if summary.ok else 1)
