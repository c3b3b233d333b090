"""`kerasbert predict`."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from kerasbert.arguments import check_choice
from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import OptionGroup, with_options
from kerasbert.cli.inputs.texts import check_sources, read_text_lines
from kerasbert.cli.outputs.results import Result
from kerasbert.data.file_options import FileOptions
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
    Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Write the vectors of a sentence encoder, or of --layer, to a NumPy file (.npy; .npz for tokens).",
    ),
]
Layer = Annotated[
    int | None,
    Option(
        metavar="N",
        help="Write the hidden states of a layer of a folder: 0 for the embeddings, 1 for the first layer, -1 for the last.",
    ),
]
Vectors = Annotated[
    str | None,
    Option(
        metavar="NAME",
        help="With --layer: mean (of all tokens), cls (the first token) or tokens (each one). Default: mean.",
    ),
]
Overwrite = Annotated[bool, Option("--overwrite", help="Replace an existing --out file.")]

VECTORS = ("mean", "cls", "tokens")  # of --layer
_ROWS_OF_PART = 4096  # of a file that is predicted in parts
_DATA_SUFFIXES = (".tsv", ".csv", ".jsonl", ".json", ".gz", ".conll", ".conllu", ".iob", ".iob2", ".bio")


_READING = OptionGroup(FileOptions, without=("label_column", "label_separator"))


@with_options("folder_task", "head", "strict", answering=OptionGroup(AnswerConfig, without=("unit",)), reading=_READING)
def predict(
    model: options.Model,
    answering: AnswerConfig,
    reading: FileOptions,
    texts: Texts = None,
    pair: Pairs = None,
    choice: Choices = None,
    file: File = None,
    prompt_name: PromptName = None,
    prompt: Prompt = None,
    threads: options.Threads = 1,
    csv_safe: CsvSafe = False,
    layer: Layer = None,
    vectors: Vectors = None,
    out: OutVectors = None,
    overwrite: Overwrite = False,
) -> Result:
    """Print a model's predictions: labels, scores, entities, answers, tokens or vectors. A .tflite file needs no other files.

    Example: kerasbert predict model.tflite "a gripping film" "two hours too long"
    """
    from kerasbert.cli.inputs.models import open_model
    from kerasbert.cli.inputs.saved_model import read_processor
    from kerasbert.cli.outputs.predictions import PartPredictor
    from kerasbert.cli.outputs.vectors_file import check_has_vectors, write_vectors
    from kerasbert.console.output import terminal_width
    from kerasbert.processors.embedding import with_prompt

    _check_sources(texts or [], pair or [], choice or [], file)
    _check_out(layer, vectors, out, overwrite)
    # A table on a terminal and a file of vectors need all predictions.
    whole = out is not None or terminal_width(sys.__stdout__) is not None

    def read_parts(processor: "Processor") -> Iterator[Any]:
        """Yield the examples: in parts where they are lines of a file."""
        rows = sys.maxsize if whole else _ROWS_OF_PART
        if texts == ["-"] or (file is not None and _is_plain_text(file, reading)):
            for lines in read_text_lines(file, reading.encoding, reading.max_rows, rows):
                yield _examples(processor, lines, [], [])
        elif file is None:
            yield _examples(processor, texts or [], pair or [], choice or [])
        else:
            yield from _read_file(processor, file, reading, rows)

    if layer is not None and out is not None:
        from kerasbert.cli.runs.layer_states import predict_layer

        return predict_layer(model, read_parts, layer, vectors, out, (prompt_name, prompt))
    processor = read_processor(model)
    if processor:
        check_has_vectors(processor, out)
        with_prompt(processor, prompt_name, prompt)
    parts = processor and read_parts(processor)
    begun = [next(parts)] if parts else []  # before the model is loaded
    loaded = open_model(model, threads, answer_settings(answering))
    check_has_vectors(loaded.processor, out)
    parts = chain(begun, parts or read_parts(loaded.processor))
    predictor = PartPredictor(model, loaded, with_prompt(loaded.processor, prompt_name, prompt))
    if out is not None:
        return write_vectors(out, model, predictor.finite(next(parts)))
    results = predictor.results(parts, answering.answers, csv_safe)
    return replace(next(results), more=results)


def _is_plain_text(file: Path, reading: FileOptions) -> bool:
    """Tell whether a file has one text per line."""
    return reading.delimiter is None and file.suffix.lower() not in _DATA_SUFFIXES


def _read_file(processor: "Processor", file: Path, reading: FileOptions, rows: int) -> Iterator[Any]:
    """Yield the examples of a data file in parts."""
    from kerasbert.cli.inputs.data_files import note_bad_rows

    before = None
    for table in processor.read_parts(file, reading, rows):
        if before is not None:
            yield before.x
        before = table
    if before is not None:
        note_bad_rows(before)  # of the whole file
        yield before.x


def _check_sources(texts: Sequence[str], pairs: Sequence[str], choices: Sequence[str], file: Path | None) -> None:
    check_sources(texts, file)
    for name, values in (("--pair", pairs), ("--choice", choices)):
        if values and (file is not None or list(texts) == ["-"]):
            raise KerasBertError(
                f"expected {name} with texts on the command line, received it with a file or stdin; put it into a column of a data file"
            )
    if len(pairs) not in (0, 1, len(texts)):
        raise KerasBertError(
            f"expected one --pair for each text, received {len(pairs)} for {len(texts)} texts; repeat or remove it"
        )


def _check_out(layer: int | None, vectors: str | None, out: Path | None, overwrite: bool) -> None:
    """Check --layer, --vectors and --out before the work starts."""
    if layer is None and vectors is not None:
        raise KerasBertError(f"expected --layer with --vectors, received --vectors {vectors} alone; name a layer")
    if layer is not None and out is None:
        raise KerasBertError("expected --out with --layer, received none; name a file for the vectors")
    if vectors is not None:
        check_choice(vectors, "--vectors as one of", VECTORS)
    if out is not None:
        from kerasbert.cli.outputs.vectors_file import check_vectors_file

        check_vectors_file(out, overwrite, vectors)


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
