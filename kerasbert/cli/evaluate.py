"""`kerasbert evaluate`."""

import time
from pathlib import Path
from typing import Annotated

from typer import Option

from kerasbert.cli import options
from kerasbert.cli.results import Result

Data = Annotated[
    Path, Option(metavar="FILE", help="Labelled data of the model's task: .tsv, .csv, .jsonl, CoNLL, SQuAD, text.")
]


def evaluate(
    model: options.Model,
    data: Data,
    text_column: options.TextColumn = None,
    pair_column: options.PairColumn = None,
    label_column: options.LabelColumn = None,
    threads: options.Threads = 1,
    max_rows: options.MaxRows = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """The task's metrics on labelled data, of a folder or of a .tflite file.

    Example: kerasbert evaluate model.tflite --data dev.tsv
    """
    from kerasbert.cli.models import open_predictor
    from kerasbert.cli.progress import note, progress
    from kerasbert.cli.training_data import check_labels
    from kerasbert.console.tables import Facts
    from kerasbert.data.reading import read_for
    from kerasbert.errors import KerasBertError

    predictor = open_predictor(model, threads)
    problem = predictor.problem
    table = read_for(problem.name, data, text=text_column, pair=pair_column, label=label_column, max_rows=max_rows)
    note(table.describe())
    check_labels(problem, table)
    if problem.name == "embedding" and not (isinstance(table.x, tuple) and table.y is not None):
        raise KerasBertError(
            f"{table.path}: expected pairs with scores for a sentence encoder, received "
            f"{'pairs without scores' if isinstance(table.x, tuple) else 'single texts'}; name the columns with --pair-column and "
            "--label-column"
        )
    started = time.monotonic()
    with progress("predicting") as bar:
        values = predictor.score(table.x, table.y, bar.rows)
    seconds = time.monotonic() - started
    metrics = Facts([(name, f"{value:.4f}") for name, value in values.items()])
    speed = f"{len(table):,} rows, {len(table) / seconds:,.0f} a second"
    found = {"model": model, "data": data, "rows": len(table), "metrics": values, "seconds": seconds}
    return Result(found, [metrics, speed])
