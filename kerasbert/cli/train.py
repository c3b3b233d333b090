"""`kerasbert train`."""

from typing import Annotated

from typer import Option

from kerasbert.cli import options
from kerasbert.cli.results import Result

PROBLEMS = {"classification": "single_label", "multi-label": "multi_label", "regression": "regression"}

Task = Annotated[str, Option(metavar="NAME", help="classification, multi-label or regression.")]
Model = Annotated[
    str, Option(metavar="FOLDER|HUB", help="Checkpoint to start from: a folder or a hub name such as org/name.")
]
Labels = Annotated[
    str | None,
    Option(metavar="A,B,...", help="Labels in the order of the outputs; by default those of the training data."),
]
Length = Annotated[
    int | None, Option(metavar="N", min=3, help="Tokens a text; by default the longest training text's, at most 128.")
]


def train(
    model: Model,
    train: options.Train,
    out: options.OutFolder,
    task: Task = "classification",
    dev: options.Dev = None,
    text_column: options.TextColumn = None,
    pair_column: options.PairColumn = None,
    label_column: options.LabelColumn = None,
    labels: Labels = None,
    epochs: options.Epochs = 2,
    learning_rate: options.LearningRate = 5e-5,
    batch_size: options.BatchSize = 32,
    warmup: options.Warmup = 0.06,
    weight_decay: options.WeightDecay = 0.01,
    sequence_length: Length = None,
    seed: options.Seed = 1,
    max_rows: options.MaxRows = None,
    jit: options.Jit = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """Fine-tune a checkpoint on labelled texts.

    Example: kerasbert train --task classification --model FOLDER --train train.tsv --dev dev.tsv --out runs/mine
    """
    from kerasbert.checkpoints.hugging_face import longest_row, read_config, resolve
    from kerasbert.cli import rows
    from kerasbert.cli.destinations import check_out_folder
    from kerasbert.cli.progress import note, progress
    from kerasbert.cli.scores import shown
    from kerasbert.errors import KerasBertError
    from kerasbert.text import tokenizer_from_folder

    if task not in PROBLEMS:
        raise KerasBertError(f"expected a task of {', '.join(PROBLEMS)}, received {task!r}")
    problem = PROBLEMS[task]
    check_out_folder(out, source=model)
    columns = rows.Columns(text_column, pair_column, label_column)
    train_table = rows.labelled(rows.read_rows(train, columns, max_rows))
    dev_table = rows.labelled(rows.read_rows(dev, columns, max_rows)) if dev else None
    names = rows.label_names(train_table, problem, labels)
    numbers = [rows.targets(table, problem, names) if table else None for table in (train_table, dev_table)]

    with progress("finding the model"):
        folder = resolve(model)
    tokenizer, config = tokenizer_from_folder(folder), read_config(folder)
    length = rows.choose_length(tokenizer, train_table, sequence_length, longest_row(config))

    with progress("loading TensorFlow and the model"):
        import tf_keras as keras

        from kerasbert.cli import fitting
        from kerasbert.tasks import TextClassifier

        keras.utils.set_random_seed(seed)
        classifier = TextClassifier.from_pretrained(
            folder, labels=names or None, sequence_length=length, problem=problem
        )
    packed = rows.pack_rows(tokenizer, length, train_table, numbers[0])
    dev_packed = rows.pack_rows(tokenizer, length, dev_table, numbers[1]) if dev_table else None
    settings = fitting.Settings(epochs, learning_rate, batch_size, warmup, weight_decay, seed, jit)
    fitted = fitting.fit(classifier, packed, dev_packed, settings)
    classifier.save_pretrained(out)
    record = fitting.write_record(
        out, fitted, settings, packed, dev_packed,
        task=task, model=model, labels=classifier.labels, sequence_length=length,
    )  # fmt: skip
    note(f"{fitted.seconds:.0f} s of training, {fitted.examples_per_second:,.0f} examples/s")
    said = f"saved {out}" + (f": dev {shown(fitted.dev)}" if fitted.dev else "")
    return Result({"out": out, "dev": fitted.dev, **record}, said)
