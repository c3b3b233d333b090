"""What a training reads, checked before anything long starts: tables, labels, tokenizer, length. Without TensorFlow."""

from dataclasses import dataclass
from pathlib import Path

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
from kerasbert.cli.common.saved_model import problem_of
from kerasbert.data.records import is_tabular
from kerasbert.data.table import Table
from kerasbert.errors import KerasBertError
from kerasbert.export.validation.examples import spread as spread_rows
from kerasbert.processors import Processor, Rows, processor_class, processor_named
from kerasbert.processors.client_tasks import client_tokenizer
from kerasbert.text import Tokenizer, tokenizer_from_folder
from kerasbert.text.vocabulary_size import check_vocabulary_size
from kerasbert.training.config import Recipe

LENGTH_STEP = 16
LONGEST_BY_DEFAULT = {"question_answering": 384}  # tokens; of the others 128

# --task -> class, problem
TASKS = {
    "classification": ("TextClassifier", "single_label"),
    "multi-label": ("TextClassifier", "multi_label"),
    "regression": ("TextClassifier", "regression"),
    "tagging": ("TokenTagger", "tagging"),
    "question-answering": ("QuestionAnswerer", "question_answering"),
    "multiple-choice": ("MultipleChoice", "multiple_choice"),
    "masked-lm": ("MaskedLM", "masked_lm"),
    "sentence-pairs": ("SentenceEncoder", "embedding"),
    "next-sentence": ("NextSentencePredictor", "single_label"),
}


@dataclass(frozen=True)
class TrainingData:
    """folder: the checkpoint. problem: with the labels of the training data. length: tokens a row."""

    folder: Path
    problem: Processor
    tokenizer: Tokenizer
    train: Table
    dev: Table | None
    length: int


def read_data(recipe: Recipe) -> TrainingData:
    """Reads and checks all that a recipe names, and says what was found.

    Raises KerasBertError naming file, row and what was expected.
    """
    if recipe.task not in TASKS:
        raise KerasBertError(f"expected a task of {', '.join(TASKS)}, received {recipe.task!r}")
    kind = processor_class(TASKS[recipe.task][1])
    read = _read_pairs if recipe.task == "next-sentence" else read_described
    whole, train, dev = read_train_and_dev(kind, recipe.train, recipe.dev, recipe, recipe.seed, read)
    names = label_names(kind, whole, recipe.labels)
    problem = processor_named(kind.name, names)
    note_rare_labels(problem, whole)
    for table in (train, dev):
        if table is not None:
            check_labels(problem, table)
    with progress("finding the model"):
        folder = resolve(recipe.model)
    tokenizer, config = tokenizer_from_folder(folder), read_config(folder)
    check_vocabulary_size(tokenizer.vocabulary_size, config["vocab_size"], folder)
    if recipe.tokenize_as:
        tokenizer = client_tokenizer(tokenizer, recipe.tokenize_as, problem.name)
    length = choose_length(problem, tokenizer, train, recipe.sequence_length, max_sequence_length(config))
    return TrainingData(folder, problem, tokenizer, train, dev, length)


def _read_pairs(kind: type[Processor], path, recipe: Recipe) -> Table:
    """Pairs of a table, or made of running text: the second follows or not, for an ALBERT in order or swapped."""
    from kerasbert.data.plain_text import pairs_from_text, read_text

    if is_tabular(Path(path), recipe.delimiter):
        return read_described(kind, path, recipe)
    ordered = read_config(resolve(recipe.model)).get("model_type") == "albert"
    table = pairs_from_text(
        read_text(path, max_rows=recipe.max_rows), "sentence_order" if ordered else "next_sentence", recipe.seed
    )
    note(table.describe())
    return table


def label_names(kind: type[Processor], table: Table, given: str | None) -> tuple[str, ...] | None:
    """Labels in the order of the outputs: those given, comma-separated, or those of the training data; None where there are none."""
    if given is None:
        with naming(table):
            return kind.label_names(required_labels(kind, table).y)
    names = tuple(label.strip() for label in given.split(","))
    if kind.label_names.__func__ is Processor.label_names.__func__:  # it has none
        raise KerasBertError(f"expected no --labels for this task, received {given!r}")
    if len(set(names)) < max(len(names), 2) or "" in names:
        raise KerasBertError(f"expected --labels as two or more different names with commas, received {given!r}")
    return names


def choose_length(problem: Processor, tokenizer, table: Table, asked: int | None, longest_possible: int) -> int:
    """The asked length, or the longest row's in tokens, rounded up to a multiple of 16 and at most the usual; says what was chosen."""
    limit = asked or min(LONGEST_BY_DEFAULT.get(problem.name, 128), longest_possible)
    if limit > longest_possible:
        return limit  # the task says what is possible
    rows = problem.rows(problem.examples(table.x), tokenizer, limit)
    longest = int(rows.lengths.max())
    length = asked or min(-(-longest // LENGTH_STEP) * LENGTH_STEP, limit)
    told = f"sequence length {length}: the longest of {len(table):,} training texts has {longest} tokens"
    if rows.truncated:
        told = f"sequence length {length}: {rows.truncated:,} of {len(table):,} training texts are longer and were cut"
    elif len(rows) > len(table):
        told = f"sequence length {length}: {len(table):,} training texts make {len(rows):,} windows"
    note(told)
    _check_known(rows, tokenizer, table)
    return length


def _check_known(rows: Rows, tokenizer, table: Table) -> None:
    """Says how many texts are empty or hold nothing that the tokenizer knows. Raises KerasBertError where all of them do."""
    frame = {tokenizer.cls_id, tokenizer.sep_id, tokenizer.pad_id}
    pieces = [set(ids) - frame for ids in rows.tokens.input_ids]
    empty, unknown = pieces.count(set()), pieces.count({tokenizer.unk_id})
    told = [f"{empty:,} empty"] * bool(empty) + [f"{unknown:,} of nothing but unknown characters"] * bool(unknown)
    if empty + unknown == len(pieces):
        raise KerasBertError(
            f"{table.path}: expected texts in words that the model's tokenizer knows, received {' and '.join(told)}"
        )
    if told:
        note(f"{' and '.join(told)} among {len(pieces):,} texts")


def tables_for(model: str, train, dev, options, seed: int) -> tuple[Table, Table | None]:
    """What a saved model is trained on further and scored on, checked as far as its files tell; see `read_train_and_dev`.

    Raises KerasBertError naming the file and the line.
    """
    problem = saved_problem(model)
    _, *tables = read_train_and_dev(type(problem), train, dev, options, seed)
    for table in tables:
        if table is not None and problem.name != "embedding":
            check_known(problem, table)
    return tuple(tables)


def saved_problem(model: str) -> Processor:
    """The problem of a saved model, by its files; where they do not tell, by the model itself."""
    if (problem := problem_of(model)) is not None:
        return problem
    with loading("the model"):
        from kerasbert.tasks.auto import load_task

        return load_task(model).processor


def checked_tables(task, tables) -> list[Table | None]:
    """What a saved task is trained on further, a table each or None: a sentence encoder's texts with its own vectors, which what becomes
    of it is to give, others with labels that it knows.

    Raises KerasBertError naming the file and the line.
    """
    tables = list(tables)
    if task.problem == "embedding":
        with progress("computing the model's vectors"):
            tables = [table and _own_vectors(task, table) for table in tables]
    for table in tables:
        if table is not None:
            check_labels(task.processor, table)
    return tables


def _own_vectors(task, table):
    """The table's texts as single ones, with the vectors that the task gives now as what a smaller one is to give."""
    from kerasbert.processors.texts import columns

    first, second = columns(task.processor.examples(table.x))
    texts = first + (second or [])
    return Table(table.path, texts, task.predict(texts))


def spread(examples, wanted: int):
    """`wanted` examples, or pairs of columns, spread evenly over all; all where there are no more."""
    if isinstance(examples, tuple):
        return tuple(spread(side, wanted) for side in examples)
    examples = list(examples)
    return [examples[row] for row in spread_rows(len(examples), wanted)]
