"""`kerasbert evaluate`."""

import time
from pathlib import Path
from typing import Annotated

from typer import Option

from kerasbert.cli import options
from kerasbert.cli.results import Result

Data = Annotated[Path, Option(metavar="FILE", help="Labelled texts: .tsv, .csv or .jsonl, also with .gz.")]


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
    """The task's metrics on labelled texts, of a folder or of a .tflite file.

    Example: kerasbert evaluate model.tflite --data dev.tsv
    """
    from kerasbert.cli import rows
    from kerasbert.cli.models import open_predictor

    table = rows.labelled(rows.read_rows(data, rows.Columns(text_column, pair_column, label_column), max_rows))
    predictor = open_predictor(model, threads)
    started = time.monotonic()
    values = _score(predictor, table)
    seconds = time.monotonic() - started
    lines = [f"{name:<12} {value:.4f}" for name, value in values.items()]
    lines.append(f"{len(table):,} rows, {len(table) / seconds:,.0f} a second")
    found = {"model": model, "data": data, "rows": len(table), "metrics": values, "seconds": seconds}
    return Result(found, "\n".join(lines))


def _score(predictor, table) -> dict[str, float]:
    from kerasbert.cli import rows
    from kerasbert.cli.models import predict
    from kerasbert.cli.scores import scores
    from kerasbert.errors import KerasBertError
    from kerasbert.export.metrics import pair_cosine

    if predictor.problem != "embedding":
        labels = rows.targets(table, predictor.problem, predictor.labels or ())
        return scores(predictor.problem, labels, predict(predictor, table.texts, table.pairs))
    if table.pairs is None:
        raise KerasBertError(
            f"{table.path}: expected pairs with scores for a sentence encoder, received single texts; "
            "name the second text with --pair-column"
        )
    vectors = predict(predictor, table.texts + table.pairs)
    similarity = pair_cosine(vectors[: len(table)], vectors[len(table) :])
    return scores("regression", rows.targets(table, "regression", ()), similarity)
