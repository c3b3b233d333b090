"""The data of a training run, checked before the run starts: tables, labels, tokenizer, sequence length. Needs no TensorFlow."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kerasbert.arguments import argument, check_choice
from kerasbert.checkpoints.hugging_face import max_sequence_length, read_config, resolve
from kerasbert.cli.inputs.data_files import (
    check_known_labels,
    check_labels,
    locate_errors,
    note_rare_labels,
    read_described,
    read_train_and_dev,
    require_labels,
    without_fallback,
)
from kerasbert.cli.inputs.saved_model import read_processor
from kerasbert.cli.process.progress import loading, note, progress
from kerasbert.data.dataset import Dataset
from kerasbert.data.records import is_tabular
from kerasbert.errors import KerasBertError
from kerasbert.processors import Processor, make_processor, processor_class
from kerasbert.processors.classification import MultiLabel
from kerasbert.processors.client_tasks import client_tokenizer
from kerasbert.processors.embedding import Embedding
from kerasbert.processors.known_texts import check_known_tokens
from kerasbert.processors.registry import train_tasks
from kerasbert.text import Tokenizer, tokenizer_from_folder
from kerasbert.text.cased_forms import cased_tokenizer, strings_of
from kerasbert.text.vocabulary_size import check_vocabulary_size
from kerasbert.training.answer_options import answer_settings
from kerasbert.training.config import TrainConfig
from kerasbert.training.sequence_length import choose_length

if TYPE_CHECKING:
    from kerasbert.tasks.base import Task


@dataclass(frozen=True)
class TrainingData:
    """The checked data of a training run.

    Attributes:
        folder: The checkpoint's folder.
        processor: The task's processor, with the labels of the training data.
        tokenizer: The checkpoint's tokenizer, or the one made from it.
        train: The training data.
        dev: The dev data, or None.
        length: The sequence length in tokens.
    """

    folder: Path
    processor: Processor
    tokenizer: Tokenizer
    train: Dataset
    dev: Dataset | None
    length: int


def read_data(training: TrainConfig) -> TrainingData:
    """Read and check all data that a config names, and print a line about each file.

    Args:
        training: The settings.

    Raises:
        KerasBertError: When data cannot be used; the message names the file and the line.
    """
    tasks = train_tasks()
    kind = processor_class(tasks[check_choice(training.task, "--task as one of", tasks)][1])
    read = _read_pairs if training.task == "next-sentence" else read_described
    whole, train, dev = read_train_and_dev(kind, training, read)
    if training.fallback is not None and dev is None and training.fallback_below is None:
        raise KerasBertError(
            f"expected {argument('dev')} or {argument('fallback_below')} with {argument('fallback')}, received neither; rows of --dev set "
            "the threshold"
        )
    is_whole = train is whole
    whole = without_fallback(whole, training.fallback)
    train = whole if is_whole else without_fallback(train, training.fallback)
    with locate_errors(whole):
        settings = {**kind.settings_of(whole.y), **answer_settings(training), **fallback_settings(training)}
    processor = make_processor(kind.name, label_names(kind, whole, training.labels), settings)
    note_rare_labels(processor, whole)
    for table in (train, dev):
        if table is not None:
            check_labels(processor, table)
    with progress("finding the model"):
        folder = resolve(training.require("model"))
    tokenizer, encoder = tokenizer_from_folder(folder), read_config(folder)
    check_vocabulary_size(tokenizer.vocabulary_size, encoder["vocab_size"], folder)
    if training.cased:
        uncased, tokenizer = tokenizer, cased_tokenizer(tokenizer, strings_of(train.x))
        note(
            f"cased: {tokenizer.vocabulary_size - uncased.vocabulary_size:,} tokens with capitals were added to {uncased.vocabulary_size:,}"
        )
    if training.tokenize_as:
        tokenizer = client_tokenizer(tokenizer, training.tokenize_as, processor)
    length = _choose_length(processor, tokenizer, train, training.sequence_length, max_sequence_length(encoder))
    return TrainingData(folder, processor, tokenizer, train, dev, length)


def _read_pairs(kind: type[Processor], path: str, training: TrainConfig) -> Dataset:
    """Read pairs from a table, or make them from running text: next-sentence pairs, or sentence-order pairs for ALBERT."""
    from kerasbert.data.plain_text import pairs_from_text, read_text

    if is_tabular(Path(path), training.delimiter):
        return read_described(kind, path, training)
    ordered = read_config(resolve(training.require("model"))).get("model_type") == "albert"
    table = pairs_from_text(
        read_text(path, max_rows=training.max_rows, encoding=training.encoding),
        "sentence_order" if ordered else "next_sentence",
        training.seed,
    )
    note(table.describe())
    return table


def fallback_settings(training: TrainConfig) -> dict[str, Any]:
    """Return the label of texts that belong to no class and its threshold, as far as a config names them.

    Args:
        training: The settings.
    """
    names = ("fallback", "fallback_below")
    return {name: getattr(training, name) for name in names if getattr(training, name) is not None}


def label_names(kind: type[Processor], table: Dataset, names: str | None) -> tuple[str, ...] | None:
    """Return the labels in the order of the outputs, or None for a processor without labels.

    Args:
        kind: The class of the processor.
        table: The training data. Its labels are used if no names are given.
        names: The names, separated by commas.

    Raises:
        KerasBertError: When there are fewer than two labels, one is repeated, the processor has none, or a column holds one label for a
            processor with one label a text.
    """
    if table.label_columns and kind is not MultiLabel:
        raise KerasBertError(
            f"{table.path}: expected one column of labels for this task, received {', '.join(table.label_columns)}; choose --task "
            "multi-label"
        )
    if names is None:
        with locate_errors(table):
            return table.label_columns or kind.label_names(require_labels(kind, table).y)
    if not kind.learns_labels:
        raise KerasBertError(f"expected no --labels for this task, received {names!r}; leave them out")
    labels = tuple(label.strip() for label in names.split(","))
    if len(set(labels)) < max(len(labels), 2) or "" in labels:
        raise KerasBertError(
            f"expected --labels as two or more different names separated by commas, received {names!r}"
        )
    return labels


def _choose_length(
    processor: Processor, tokenizer: Tokenizer, table: Dataset, length: int | None, max_length: int
) -> int:
    """Return the given length, or the one that suits the data, and print a line about it.

    Raises:
        KerasBertError: When the tokenizer knows no token of any text.
    """
    if length is not None and length > max_length:
        return length  # the task reports the error
    chosen = choose_length(table, processor, tokenizer, length, max_length)
    note(f"sequence length {chosen.tokens}: {chosen.reason}")
    check_known_tokens(table.features(processor, tokenizer, chosen.tokens)[1], tokenizer, str(table.path))
    return chosen.tokens


def read_model_tables(model: str, training: TrainConfig) -> tuple[Dataset, Dataset | None]:
    """Read the training and dev data for a saved model, and check them as far as the model's files allow.

    Args:
        model: A saved folder or a hub name.
        training: The settings.

    Raises:
        KerasBertError: When a label cannot be used; the message names the file and the line.
    """
    processor = load_processor(model)
    _, data, dev = read_train_and_dev(type(processor), training)
    data = without_fallback(data, getattr(processor, "fallback", None))
    for table in (data, dev):
        if table is not None and not isinstance(processor, Embedding):
            check_known_labels(processor, table)
    return data, dev


def load_processor(model: str) -> Processor:
    """Return the processor of a saved model. The model itself is loaded only if its files do not determine the processor.

    Args:
        model: A saved folder or a hub name.

    Raises:
        KerasBertError: When there is no such model.
    """
    if (processor := read_processor(model)) is not None:
        return processor
    with loading("the model"):
        from kerasbert.tasks.auto import load_task

        return load_task(model).processor


def prepare_tables(task: "Task", data: Dataset, dev: Dataset | None = None) -> tuple[Dataset, Dataset | None]:
    """Return the training and dev data of a saved task, with checked labels.

    A sentence encoder learns to keep its vectors: its data are single texts, and the labels are its own vectors.

    Args:
        task: The task.
        data: The training data.
        dev: The dev data, or None.

    Raises:
        KerasBertError: When a label cannot be used; the message names the file and the line.
    """
    if isinstance(task.processor, Embedding):
        with progress("computing the model's vectors"):
            data = _label_with_vectors(task, data)
            dev = dev and _label_with_vectors(task, dev)
    for table in (data, dev):
        if table is not None:
            check_labels(task.processor, table)
    return data, dev


def label_dev_with_vectors(teacher: "Task", student: "Task", dev: Dataset | None) -> Dataset | None:
    """Return dev data with the teacher's vectors as labels, if it is a sentence encoder and the data has no labels; else the data.

    Args:
        teacher: The task whose vectors the student learns.
        student: The student, whose metric is the cosine of its vectors and the teacher's.
        dev: The dev data, or None.

    Raises:
        KerasBertError: When vectors of both differ in width.
    """
    from kerasbert.tasks import SentenceEncoder

    if (
        dev is None
        or dev.y is not None
        or not (isinstance(teacher, SentenceEncoder) and isinstance(student, SentenceEncoder))
    ):
        return dev
    if student.width != teacher.width:
        raise KerasBertError(
            f"{dev.path}: expected pairs of texts with scores, as the student's vectors have {student.width} numbers and the teacher's "
            f"{teacher.width}, received texts alone; give such pairs, or no --dev"
        )
    with progress("computing the teacher's vectors"):
        return _label_with_vectors(teacher, dev)


def _label_with_vectors(task: "Task", table: Dataset) -> Dataset:
    from kerasbert.processors.texts import columns

    first, second = columns(task.processor.examples(table.x))
    texts = first + (second or [])
    return Dataset(table.path, texts, task.predict(texts))
