"""`kerasbert evaluate`."""

import time
from pathlib import Path
from typing import Annotated

from typer import Option

from kerasbert.cli.common import options
from kerasbert.cli.common.results import Result

Data = Annotated[
    Path, Option(metavar="FILE", help="Labelled data of the model's task: .tsv, .csv, .jsonl, CoNLL, SQuAD, text.")
]


def evaluate(
    model: options.Model,
    data: Data,
    text_column: options.TextColumn = None,
    pair_column: options.PairColumn = None,
    label_column: options.LabelColumn = None,
    delimiter: options.Delimiter = None,
    skip_bad_rows: options.SkipBadRows = False,
    threads: options.Threads = 1,
    max_rows: options.MaxRows = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """The task's metrics on labelled data, of a folder or of a .tflite file.

    Example: kerasbert evaluate model.tflite --data dev.tsv
    """
    given = dict(locals())
    from kerasbert.cli.common.data_files import check_labels, file_options
    from kerasbert.cli.common.models import open_predictor
    from kerasbert.cli.common.progress import progress
    from kerasbert.cli.common.saved_model import processor_of
    from kerasbert.console.tables import Facts

    how, told = file_options(given), processor_of(model)
    table = told and _read(told, data, how)
    predictor = open_predictor(model, threads)
    if table is None:
        table = _read(predictor.processor, data, how)
    check_labels(predictor.processor, table)
    started = time.monotonic()
    with progress("predicting") as bar:
        values = predictor.score(table.x, table.y, bar.rows)
    seconds = time.monotonic() - started
    metrics = Facts([(name, f"{value:.4f}") for name, value in values.items()])
    speed = f"{len(table):,} rows, {len(table) / seconds:,.0f} a second"
    found = {"model": model, "data": data, "rows": len(table), "metrics": values, "seconds": seconds}
    return Result(found, [metrics, speed])


def _read(processor, path: Path, how):
    """The table that a processor can be scored on. Raises KerasBertError for another."""
    from kerasbert.cli.common.data_files import check_known, read_described
    from kerasbert.errors import KerasBertError
    from kerasbert.processors.embedding import Embedding

    table = read_described(type(processor), path, how)
    if isinstance(processor, Embedding) and not (isinstance(table.x, tuple) and table.y is not None):
        raise KerasBertError(
            f"{table.path}: expected pairs with scores for a sentence encoder, received "
            f"{'pairs without scores' if isinstance(table.x, tuple) else 'single texts'}; name the columns with `pair=` and `label=`"
        )
    check_known(processor, table)
    return table
