"""`kerasbert predict`."""

import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from kerasbert.cli import options
from kerasbert.cli.results import Result, plain

Texts = Annotated[list[str] | None, Argument(metavar="TEXT...", help="Texts; - reads them from stdin, one a line.")]
Pairs = Annotated[list[str] | None, Option("--pair", metavar="TEXT", help="Second text of a pair; once for each text.")]
File = Annotated[
    Path | None, Option(metavar="FILE", help="A file of texts: .tsv, .csv, .jsonl, also with .gz, or one text a line.")
]

_TABLES = (".tsv", ".csv", ".jsonl", ".gz")


def predict(
    model: options.Model,
    texts: Texts = None,
    pair: Pairs = None,
    file: File = None,
    text_column: options.TextColumn = None,
    pair_column: options.PairColumn = None,
    threads: options.Threads = 1,
    max_rows: options.MaxRows = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """Labels, scores or vectors for texts. A .tflite file needs nothing beside it.

    Example: kerasbert predict model.tflite "a gripping film" "two hours too long"
    """
    from kerasbert.cli.models import open_predictor
    from kerasbert.cli.models import predict as run

    texts, pairs = _texts(texts or [], pair or [], file, text_column, pair_column, max_rows)
    predictor = open_predictor(model, threads)
    outputs = run(predictor, texts, pairs)
    records = [_record(predictor, row, text) for row, text in zip(outputs, texts, strict=True)]
    if pairs is not None:
        records = [
            {"text": record.pop("text"), "pair": second, **record}
            for record, second in zip(records, pairs, strict=True)
        ]
    return Result(
        {"model": model, "problem": predictor.problem, "predictions": records}, _shown(predictor.problem, records)
    )


def _texts(texts: list[str], pairs: list[str], file: Path | None, text_column, pair_column, max_rows):
    from kerasbert.errors import KerasBertError

    if bool(texts) == (file is not None):
        received = "both" if texts else "neither"
        raise KerasBertError(
            f"expected texts or --file, received {received}; give one of them, or - to read texts from stdin"
        )
    if (file is not None or texts == ["-"]) and pairs:
        raise KerasBertError(
            "expected --pair with texts on the command line, received it with a file or stdin; a file has its pairs in a column"
        )
    if file is not None and file.suffix.lower() in _TABLES:
        from kerasbert.data.tables import read_table

        table = read_table(file, text=text_column, pair=pair_column, max_rows=max_rows)
        return table.texts, table.pairs
    if file is not None or texts == ["-"]:
        texts = _lines(file)[:max_rows]
    if pairs and len(pairs) != len(texts):
        raise KerasBertError(f"expected one --pair for each text, received {len(pairs)} for {len(texts)} texts")
    return texts, pairs or None


def _lines(file: Path | None) -> list[str]:
    from kerasbert.errors import KerasBertError

    name = "stdin" if file is None else str(file)
    data = sys.stdin.buffer.read() if file is None else file.read_bytes()
    try:
        lines = [line.removesuffix("\r") for line in data.decode("utf-8-sig").split("\n")]
    except UnicodeDecodeError as error:
        raise KerasBertError(
            f"expected UTF-8 in {name}, received byte 0x{data[error.start]:02x} at offset {error.start}"
        ) from None
    texts = [line for line in lines if line.strip()]
    if not texts:
        raise KerasBertError(f"expected texts in {name}, one a line, received none")
    return texts


def _record(predictor, row, text: str) -> dict:
    """One prediction: text, label or labels, score, and every label's probability; or a vector."""
    if predictor.problem == "embedding":
        return {"text": text, "vector": row}
    if predictor.problem == "regression":
        return {"text": text, "score": float(row[0])}
    labels = predictor.labels or tuple(map(str, range(len(row))))
    probabilities = dict(zip(labels, map(float, row), strict=True))
    if predictor.problem == "multi_label":
        return {
            "text": text,
            "labels": [label for label, p in probabilities.items() if p >= 0.5],
            "probabilities": probabilities,
        }
    label = labels[int(row.argmax())]
    return {"text": text, "label": label, "score": probabilities[label], "probabilities": probabilities}


def _shown(problem: str, records: list[dict]):
    """JSON lines for vectors; a table on a terminal, else `label<TAB>score<TAB>text` lines."""
    if problem == "embedding":
        import json

        return "\n".join(json.dumps(plain(record), ensure_ascii=False) for record in records)
    cells = [_cells(record) for record in records]
    if not sys.__stdout__.isatty():
        return "\n".join("\t".join(" ".join(cell.split()) for cell in line) for line in cells)
    from rich.table import Table
    from rich.text import Text

    table = Table("label", "score", "text", *(["second text"] if "pair" in records[0] else []))
    for line in cells:
        table.add_row(*map(Text, line))
    return table


def _cells(record: dict) -> list[str]:
    if "labels" in record:
        label = "|".join(record["labels"])
        score = "|".join(f"{record['probabilities'][name]:.4f}" for name in record["labels"])
    else:
        label, score = record.get("label", "score"), f"{record['score']:.4f}"
    return [label, score, record["text"], *([record["pair"]] if "pair" in record else [])]
