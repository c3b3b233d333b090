"""`kerasbert predict`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kerasbert.cli.common import options
from kerasbert.cli.common.results import Result

if TYPE_CHECKING:
    from kerasbert.processors import Processor

Texts = Annotated[
    list[str] | None,
    Argument(metavar="TEXT...", help="Texts, questions or prompts; - reads them from stdin, one a line."),
]
Pairs = Annotated[
    list[str] | None,
    Option(
        "--pair",
        "--context",
        metavar="TEXT",
        help="Second text of a pair, or a question's context; once for each text, or one.",
    ),
]
Choices = Annotated[
    list[str] | None, Option("--choice", metavar="TEXT", help="A choice for the prompt; again for another.")
]
File = Annotated[
    Path | None,
    Option(metavar="FILE", help="A data file of the model's task: .tsv, .csv, .jsonl, ..., or one text a line."),
]

CsvSafe = Annotated[
    bool,
    Option(
        "--csv-safe",
        help="In lines between tabs, put an apostrophe before cells that a spreadsheet would run as a formula.",
    ),
]

OutVectors = Annotated[
    Path | None,
    Option("--out", "-o", metavar="FILE", help="Write a sentence encoder's vectors there, as a NumPy file (.npy)."),
]
Overwrite = Annotated[bool, Option("--overwrite", help="Replace the file of --out.")]

_TABLES = (".tsv", ".csv", ".jsonl", ".json", ".gz", ".conll")


def predict(
    model: options.Model,
    texts: Texts = None,
    pair: Pairs = None,
    choice: Choices = None,
    file: File = None,
    text_column: options.TextColumn = None,
    pair_column: options.PairColumn = None,
    delimiter: options.Delimiter = None,
    skip_bad_rows: options.SkipBadRows = False,
    threads: options.Threads = 1,
    max_rows: options.MaxRows = None,
    csv_safe: CsvSafe = False,
    out: OutVectors = None,
    overwrite: Overwrite = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """What a model answers: labels, scores, entities, answers, words or vectors. A .tflite file needs nothing beside it.

    Example: kerasbert predict model.tflite "a gripping film" "two hours too long"
    """
    given = dict(locals())
    from kerasbert.cli.common.models import open_predictor
    from kerasbert.cli.common.predictions import format_predictions, is_finite, records
    from kerasbert.cli.common.progress import note, progress
    from kerasbert.cli.common.saved_model import processor_of
    from kerasbert.cli.common.vectors_file import check_has_vectors, check_vectors_file, written_vectors
    from kerasbert.errors import KerasBertError

    _check_sources(texts or [], pair or [], choice or [], file)
    if texts == ["-"] or (file is not None and delimiter is None and file.suffix.lower() not in _TABLES):
        texts, file = _lines(file)[:max_rows], None
    told = processor_of(model)

    def asked(processor):
        return _examples(processor, texts, pair or [], choice or []) if file is None else _rows(processor, file, given)

    if out is not None:
        check_vectors_file(out, overwrite)
    if told:
        check_has_vectors(told, out)
    x = told and asked(told)
    predictor = open_predictor(model, threads)
    processor = predictor.processor
    check_has_vectors(processor, out)
    x = asked(processor) if told is None else x
    with progress("predicting") as bar:
        answers = predictor.predictions(x, bar.rows)
    broken = [number for number, answer in enumerate(answers) if not is_finite(answer)]
    said = (
        f"NaN or infinity for {len(broken):,} of {len(answers):,} texts, the first is number {broken[0]}"
        if broken
        else ""
    )
    if out is not None:
        if broken:
            raise KerasBertError(
                f"expected finite vectors, received {said}; the model is damaged, or its training diverged"
            )
        return written_vectors(out, model, answers)
    if broken:
        note(f"warning: the model gave {said}: these are no answers; the model is damaged, or its training diverged")
    found = records(processor, processor.examples(x), answers)
    data = {"model": model, "problem": processor.name, "predictions": found}
    return Result(data, format_predictions(processor, found, csv_safe), exit_code=1 if broken else 0)


def _rows(processor, file: Path, given: dict):
    """The examples of a data file."""
    from kerasbert.cli.common.data_files import file_options, note_bad_rows

    table = processor.read(file, file_options(given))
    note_bad_rows(table)
    return table.x


def _check_sources(texts: list[str], pairs: list[str], choices: list[str], file: Path | None) -> None:
    from kerasbert.errors import KerasBertError

    if bool(texts) == (file is not None):
        received = "both" if texts else "neither"
        raise KerasBertError(
            f"expected texts or --file, received {received}; give one of them, or - to read texts from stdin"
        )
    for name, given in (("--pair", pairs), ("--choice", choices)):
        if given and (file is not None or texts == ["-"]):
            raise KerasBertError(
                f"expected {name} with texts on the command line, received it with a file or stdin; a file has them in its columns"
            )
    if len(pairs) not in (0, 1, len(texts)):
        raise KerasBertError(f"expected one --pair for each text, received {len(pairs)} for {len(texts)} texts")


def _examples(processor: "Processor", texts: list[str], pairs: list[str], choices: list[str]):
    """Words of the command line as the processor's examples."""
    from kerasbert.errors import KerasBertError

    if processor.second_input == "choices":
        if len(choices) < 2:
            raise KerasBertError(f"expected two or more --choice for a prompt, received {len(choices)}")
        return [(text, list(choices)) for text in texts]
    if choices:
        raise KerasBertError(
            f"expected --choice for a multiple-choice model only, received it for a model of {processor.name!r}"
        )
    if processor.second_input == "context" and not pairs:
        raise KerasBertError("expected the --context in which the answer is, received none")
    if not pairs:
        return texts
    if processor.second_input == "none":
        raise KerasBertError(f"expected single texts for a model of {processor.name!r}, received --pair")
    if len(pairs) == 1 < len(texts) and processor.second_input != "context":
        raise KerasBertError(f"expected one --pair for each text, received 1 for {len(texts)} texts")
    return texts, pairs * (len(texts) if len(pairs) == 1 else 1)


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
