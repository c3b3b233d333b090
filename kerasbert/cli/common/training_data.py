"""What a training reads, checked before anything long starts: tables, labels, tokenizer, length. Without TensorFlow."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kerasbert.checkpoints.hugging_face import max_sequence_length, read_config, resolve
from kerasbert.cli.common.data_files import (
    check_known,
    check_labels,
    naming,
    note_rare_labels,
    read_described,
    read_train_and_dev,
    required_labels,
)
from kerasbert.cli.common.loading import loading
from kerasbert.cli.common.progress import note, progress
from kerasbert.cli.common.saved_model import processor_of
from kerasbert.data.records import is_tabular
from kerasbert.data.table import Table
from kerasbert.errors import KerasBertError
from kerasbert.export.validation.examples import spread as spread_rows
from kerasbert.processors import Features, Processor, make_processor, processor_class
from kerasbert.processors.client_tasks import client_tokenizer
from kerasbert.processors.embedding import Embedding
from kerasbert.processors.registry import train_tasks
from kerasbert.text import Tokenizer, tokenizer_from_folder
from kerasbert.text.vocabulary_size import check_vocabulary_size
from kerasbert.training.config import TrainConfig

if TYPE_CHECKING:
    from kerasbert.tasks.base import Task

LENGTH_STEP = 16


@dataclass(frozen=True)
class TrainingData:
    """The data of a fine-tuning, read and checked.

    Attributes:
        folder: The checkpoint.
        processor: The task's processor, with the labels of the training data.
        tokenizer: The checkpoint's tokenizer.
        train: The training data.
        dev: The dev data, or None.
        length: Tokens a row.
    """

    folder: Path
    processor: Processor
    tokenizer: Tokenizer
    train: Table
    dev: Table | None
    length: int


def read_data(training: TrainConfig) -> TrainingData:
    """Reads and checks all data that a config names, and notes what they are.

    Raises:
        KerasBertError: When something cannot be used; it names the file, the row and what was expected.
    """
    tasks = train_tasks()
    if training.task not in tasks:
        raise KerasBertError(f"expected a task of {', '.join(tasks)}, received {training.task!r}")
    kind = processor_class(tasks[training.task][1])
    read = _read_pairs if training.task == "next-sentence" else read_described
    whole, train, dev = read_train_and_dev(kind, training, read)
    processor = make_processor(kind.name, label_names(kind, whole, training.labels))
    note_rare_labels(processor, whole)
    for table in (train, dev):
        if table is not None:
            check_labels(processor, table)
    with progress("finding the model"):
        folder = resolve(training.model)
    tokenizer, encoder = tokenizer_from_folder(folder), read_config(folder)
    check_vocabulary_size(tokenizer.vocabulary_size, encoder["vocab_size"], folder)
    if training.tokenize_as:
        tokenizer = client_tokenizer(tokenizer, training.tokenize_as, processor)
    length = choose_length(processor, tokenizer, train, training.sequence_length, max_sequence_length(encoder))
    return TrainingData(folder, processor, tokenizer, train, dev, length)


def _read_pairs(kind: type[Processor], path: str, training: TrainConfig) -> Table:
    """Pairs of a table, or made of running text: the second follows or not, for an ALBERT in order or swapped."""
    from kerasbert.data.plain_text import pairs_from_text, read_text

    if is_tabular(Path(path), training.delimiter):
        return read_described(kind, path, training)
    ordered = read_config(resolve(training.model)).get("model_type") == "albert"
    table = pairs_from_text(
        read_text(path, max_rows=training.max_rows), "sentence_order" if ordered else "next_sentence", training.seed
    )
    note(table.describe())
    return table


def label_names(kind: type[Processor], table: Table, names: str | None) -> tuple[str, ...] | None:
    """Labels in the order of the outputs; None for a processor without labels.

    Args:
        kind: The class of the processor.
        table: The training data, whose labels are taken where no names are given.
        names: The names, with commas.

    Raises:
        KerasBertError: When the labels are fewer than two or repeated, or the processor has none.
    """
    if names is None:
        with naming(table):
            return kind.label_names(required_labels(kind, table).y)
    if not kind.learns_labels:
        raise KerasBertError(f"expected no --labels for this task, received {names!r}")
    labels = tuple(label.strip() for label in names.split(","))
    if len(set(labels)) < max(len(labels), 2) or "" in labels:
        raise KerasBertError(f"expected --labels as two or more different names with commas, received {names!r}")
    return labels


def choose_length(
    processor: Processor, tokenizer: Tokenizer, table: Table, length: int | None, longest_possible: int
) -> int:
    """Tokens a row: the given length, or the longest row's, rounded up to a multiple of 16, at most the processor's default.

    Args:
        processor: The task's processor.
        tokenizer: The tokenizer.
        table: The training data.
        length: The length, where it is given.
        longest_possible: The positions of the encoder.

    Raises:
        KerasBertError: When no text has a word that the tokenizer knows.
    """
    limit = length or min(processor.default_length, longest_possible)
    if limit > longest_possible:
        return limit  # the task names what is possible
    features = processor.features(processor.examples(table.x), tokenizer, limit)
    longest = int(features.lengths.max())
    chosen = length or min(-(-longest // LENGTH_STEP) * LENGTH_STEP, limit)
    reason = f"the longest of {len(table):,} training texts has {longest} tokens"
    if features.truncated:
        reason = f"{features.truncated:,} of {len(table):,} training texts are longer and were cut"
    elif len(features) > len(table):
        reason = f"{len(table):,} training texts make {len(features):,} windows"
    note(f"sequence length {chosen}: {reason}")
    _check_known_words(features, tokenizer, table)
    return chosen


def _check_known_words(features: Features, tokenizer: Tokenizer, table: Table) -> None:
    """Notes texts without a token that the tokenizer knows. Raises KerasBertError where no text has one."""
    special = {tokenizer.cls_id, tokenizer.sep_id, tokenizer.pad_id}
    tokens = [set(ids) - special for ids in features.token_lists.input_ids]
    empty, unknown = tokens.count(set()), tokens.count({tokenizer.unk_id})
    counts = [f"{empty:,} empty"] * bool(empty) + [f"{unknown:,} of nothing but unknown characters"] * bool(unknown)
    if empty + unknown == len(tokens):
        raise KerasBertError(
            f"{table.path}: expected texts in words that the model's tokenizer knows, received {' and '.join(counts)}"
        )
    if counts:
        note(f"{' and '.join(counts)} among {len(tokens):,} texts")


def tables_for(model: str, training: TrainConfig) -> tuple[Table, Table | None]:
    """The tables that a saved model is trained on and scored on, checked as far as its files tell.

    Raises:
        KerasBertError: When a label cannot be used; it names the file and the line.
    """
    processor = saved_processor(model)
    _, data, dev = read_train_and_dev(type(processor), training)
    for table in (data, dev):
        if table is not None and not isinstance(processor, Embedding):
            check_known(processor, table)
    return data, dev


def saved_processor(model: str) -> Processor:
    """The processor of a saved model, by its files; where they do not tell, by the model itself."""
    if (processor := processor_of(model)) is not None:
        return processor
    with loading("the model"):
        from kerasbert.tasks.auto import load_task

        return load_task(model).processor


def checked_tables(task: "Task", tables: Sequence[Table | None]) -> list:
    """The tables that a saved task is trained on and scored on, with labels that it knows.

    A sentence encoder's are single texts with its own vectors as labels: the quantized or pruned encoder is to keep them.

    Raises:
        KerasBertError: When a label cannot be used; it names the file and the line.
    """
    checked = list(tables)
    if isinstance(task.processor, Embedding):
        with progress("computing the model's vectors"):
            checked = [table and _with_own_vectors(task, table) for table in checked]
    for table in checked:
        if table is not None:
            check_labels(task.processor, table)
    return checked


def _with_own_vectors(task: "Task", table: Table) -> Table:
    from kerasbert.processors.texts import columns

    first, second = columns(task.processor.examples(table.x))
    texts = first + (second or [])
    return Table(table.path, texts, task.predict(texts))


def spread(examples: Any, count: int) -> Any:
    """`count` examples, or pairs of columns, spread evenly over all; all where there are no more."""
    if isinstance(examples, tuple):
        return tuple(spread(side, count) for side in examples)
    examples = list(examples)
    return [examples[row] for row in spread_rows(len(examples), count)]
