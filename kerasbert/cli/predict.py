"""`kerasbert predict`."""

import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from kerasbert.cli.common import options
from kerasbert.cli.common.option_groups import OptionGroup, with_options
from kerasbert.cli.common.results import Result
from kerasbert.errors import KerasBertError
from kerasbert.training.answer_options import AnswerConfig, answer_settings

if TYPE_CHECKING:
    from kerasbert.processors import Processor

Texts = Annotated[
    list[str] | None,
    Argument(metavar="TEXT...", help="Texts, questions or prompts; - reads them from stdin, one per line."),
]
Pairs = Annotated[
    list[str] | None,
    Option(
        "--pair",
        "--context",
        metavar="TEXT",
        help="Second text of a pair, or context of a question: one for each text, or one for all.",
    ),
]
Choices = Annotated[
    list[str] | None, Option("--choice", metavar="TEXT", help="Choice for a multiple-choice prompt. Repeatable.")
]
File = Annotated[
    Path | None,
    Option(
        metavar="FILE", help="Data file of the task, such as .tsv, .csv or .jsonl, or a file with one text per line."
    ),
]

CsvSafe = Annotated[
    bool,
    Option(
        "--csv-safe",
        help="In tab-separated output, put an apostrophe before cells that a spreadsheet would run as a formula.",
    ),
]

PromptName = Annotated[
    str | None,
    Option(metavar="NAME", help="Prompt of a sentence encoder that stands before each text; by default the model's."),
]
Prompt = Annotated[
    str | None, Option(metavar="TEXT", help='Text to put before each text instead of a named prompt; "" for none.')
]

OutVectors = Annotated[
    Path | None,
    Option("--out", "-o", metavar="FILE", help="Write the vectors of a sentence encoder to a NumPy file (.npy)."),
]
Overwrite = Annotated[bool, Option("--overwrite", help="Replace an existing --out file.")]

_DATA_SUFFIXES = (".tsv", ".csv", ".jsonl", ".json", ".gz", ".conll", ".conllu", ".iob", ".iob2", ".bio")


@with_options("folder_task", "strict", answering=OptionGroup(AnswerConfig, without=("unit",)))
def predict(
    model: options.Model,
    answering: AnswerConfig,
    texts: Texts = None,
    pair: Pairs = None,
    choice: Choices = None,
    file: File = None,
    text_column: options.TextColumn = None,
    pair_column: options.PairColumn = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    skip_bad_rows: options.SkipBadRows = False,
    max_rows: options.MaxRows = None,
    prompt_name: PromptName = None,
    prompt: Prompt = None,
    threads: options.Threads = 1,
    csv_safe: CsvSafe = False,
    out: OutVectors = None,
    overwrite: Overwrite = False,
) -> Result:
    """Print a model's predictions: labels, scores, entities, answers, tokens or vectors. A .tflite file needs no other files.

    Example: kerasbert predict model.tflite "a gripping film" "two hours too long"
    """
    arguments = dict(locals())
    from kerasbert.cli.common.models import open_model
    from kerasbert.cli.common.predictions import each_answer, format_predictions, prediction_records
    from kerasbert.cli.common.progress import note, progress
    from kerasbert.cli.common.saved_model import read_processor
    from kerasbert.cli.common.vectors_file import check_has_vectors, check_vectors_file, write_vectors
    from kerasbert.processors.embedding import with_prompt

    _check_sources(texts or [], pair or [], choice or [], file)
    if texts == ["-"] or (file is not None and delimiter is None and file.suffix.lower() not in _DATA_SUFFIXES):
        texts, file = _read_lines(file, encoding, max_rows), None

    def read_examples(processor: "Processor") -> Any:
        if file is None:
            return _examples(processor, texts or [], pair or [], choice or [])
        return _read_file(processor, file, arguments)

    if out is not None:
        check_vectors_file(out, overwrite)
    processor = read_processor(model)
    if processor:
        check_has_vectors(processor, out)
        with_prompt(processor, prompt_name, prompt)
    examples = processor and read_examples(processor)
    loaded = open_model(model, threads, answer_settings(answering))
    check_has_vectors(loaded.processor, out)
    examples = read_examples(loaded.processor) if processor is None else examples
    processor = loaded.processor
    prompted = with_prompt(processor, prompt_name, prompt)
    with progress("predicting") as bar:
        predictions = loaded.predictions(examples, report=bar.rows, processor=prompted)
    problem = _nonfinite_values(predictions)
    if out is not None:
        if problem:
            raise KerasBertError(f"expected finite vectors, received {problem}")
        return write_vectors(out, model, predictions)
    if problem:
        note(f"warning: the predictions contain {problem}")
    records = prediction_records(processor, processor.examples(examples), predictions)
    if answering.answers is not None:
        records = [{**record, "best": record["best"][: answering.answers]} for record in records]
    data = {"model": model, "problem": processor.name, "predictions": records}
    shown = records if answering.answers is None else each_answer(records)
    return Result(data, format_predictions(processor, shown, csv_safe), exit_code=1 if problem else 0)


def _nonfinite_values(predictions: Sequence[Any]) -> str:
    """Return a description of predictions with NaN or infinity, or "" if there are none."""
    from kerasbert.cli.common.predictions import is_finite

    numbers = [number for number, prediction in enumerate(predictions) if not is_finite(prediction)]
    if not numbers:
        return ""
    count = f"{len(numbers):,} of {len(predictions):,} texts, the first is number {numbers[0]}"
    return f"NaN or infinity for {count}; the model is damaged, or its training diverged"


def _read_file(processor: "Processor", file: Path, arguments: dict[str, Any]) -> Any:
    """Return the examples of a data file."""
    from kerasbert.cli.common.data_files import file_options, note_bad_rows

    table = processor.read(file, file_options(arguments))
    note_bad_rows(table)
    return table.x


def _check_sources(texts: Sequence[str], pairs: Sequence[str], choices: Sequence[str], file: Path | None) -> None:
    if bool(texts) == (file is not None):
        received = "both" if texts else "neither"
        raise KerasBertError(
            f"expected texts or --file, received {received}; give one of them, or - to read texts from stdin"
        )
    for name, values in (("--pair", pairs), ("--choice", choices)):
        if values and (file is not None or list(texts) == ["-"]):
            raise KerasBertError(
                f"expected {name} with texts on the command line, received it with a file or stdin; put it into a column of a data file"
            )
    if len(pairs) not in (0, 1, len(texts)):
        raise KerasBertError(
            f"expected one --pair for each text, received {len(pairs)} for {len(texts)} texts; repeat or remove it"
        )


def _examples(processor: "Processor", texts: Sequence[str], pairs: Sequence[str], choices: Sequence[str]) -> Any:
    """Return the texts of the command line as examples for the processor."""
    if processor.second_input == "choices":
        if len(choices) < 2:
            raise KerasBertError(
                f"expected two or more choices for a prompt, received {len(choices)}; give each with --choice"
            )
        return [(text, list(choices)) for text in texts]
    if choices:
        raise KerasBertError(
            f"expected --choice for a multiple-choice model only, received it for the task type {processor.name!r}; leave it out"
        )
    if processor.second_input == "context" and not pairs:
        raise KerasBertError("expected a text with the answer, received none; give it with --context")
    if not pairs:
        return list(texts)
    if processor.second_input == "none":
        raise KerasBertError(
            f"expected single texts for the task type {processor.name!r}, received --pair; leave it out"
        )
    if len(pairs) == 1 < len(texts) and processor.second_input != "context":
        raise KerasBertError(f"expected one --pair for each text, received 1 for {len(texts)} texts; repeat it")
    return list(texts), list(pairs) * (len(texts) if len(pairs) == 1 else 1)


def _read_lines(file: Path | None, encoding: str | None, max_rows: int | None) -> list[str]:
    """Return the first lines of a file, or of stdin, that are not empty."""
    from kerasbert.data.lines import read_lines, read_stream_lines

    name = "stdin" if file is None else str(file)
    lines = read_stream_lines(sys.stdin.buffer, name, encoding) if file is None else read_lines(file, encoding)
    texts = (line for line in (line.removesuffix("\n").removesuffix("\r") for _, line in lines) if line.strip())
    found = list(islice(texts, max_rows))
    if not found and max_rows != 0:
        raise KerasBertError(f"expected texts in {name}, one per line, received none")
    return found
