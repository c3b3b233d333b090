"""`kerasbert evaluate`."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from kerasbert.arguments import argument
from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import OptionGroup, with_options
from kerasbert.cli.outputs.results import Result
from kerasbert.data.file_options import FileOptions
from kerasbert.training.answer_options import AnswerConfig, answer_settings

if TYPE_CHECKING:
    from kerasbert.data.dataset import Dataset
    from kerasbert.processors import Processor

Data = Annotated[
    Path, Option(metavar="FILE", help="Labelled data of the task: .tsv, .csv, .jsonl, CoNLL, SQuAD or plain text.")
]


_READING = OptionGroup(FileOptions)


@with_options(
    "folder_task", "head", "strict", answering=OptionGroup(AnswerConfig, without=("answers",)), reading=_READING
)
def evaluate(
    model: options.Model,
    data: Data,
    answering: AnswerConfig,
    reading: FileOptions,
    threads: options.Threads = 1,
) -> Result:
    """Compute the metrics of a folder or a .tflite file on labelled data.

    Example: kerasbert evaluate model.tflite --data dev.tsv
    """
    from kerasbert.cli.inputs.data_files import check_labels
    from kerasbert.cli.inputs.models import open_model
    from kerasbert.cli.inputs.saved_model import read_processor
    from kerasbert.cli.process.progress import progress
    from kerasbert.console.tables import Facts

    processor = read_processor(model)
    table = processor and _read(processor, data, reading)
    loaded = open_model(model, threads, answer_settings(answering))
    if table is None:
        table = _read(loaded.processor, data, reading)
    check_labels(loaded.processor, table)
    started = time.monotonic()
    with progress("predicting", "rows") as bar:
        values = loaded.score(table.x, table.y, report=bar.advance)
    seconds = time.monotonic() - started
    metrics = Facts([(name, f"{value:.4f}") for name, value in values.items()])
    speed = f"{len(table):,} rows, {len(table) / seconds:,.0f} rows/s"
    result = {"model": model, "data": data, "rows": len(table), "metrics": values, "seconds": seconds}
    return Result(result, [metrics, speed])


def _read(processor: "Processor", path: Path, reading: FileOptions) -> "Dataset":
    """Read a table, and check that it has the labels for an evaluation.

    Raises:
        KerasBertError: When it does not.
    """
    from kerasbert.cli.inputs.data_files import check_known_labels, read_described
    from kerasbert.errors import KerasBertError
    from kerasbert.processors.embedding import Embedding

    table = read_described(type(processor), path, reading)
    if isinstance(processor, Embedding) and not (isinstance(table.x, tuple) and table.y is not None):
        raise KerasBertError(
            f"{table.path}: expected pairs with scores for a sentence encoder, received "
            f"{'pairs without scores' if isinstance(table.x, tuple) else 'single texts'}; "
            f"name the columns with {argument('pair')} and {argument('label')}"
        )
    check_known_labels(processor, table)
    return table
