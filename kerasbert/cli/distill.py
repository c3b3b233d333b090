"""`kerasbert distill`."""

from pathlib import Path
from typing import Annotated

from typer import Option

from kerasbert.cli.common import options
from kerasbert.cli.common.results import Result
from kerasbert.cli.common.resuming import Resume, asked_options, run_folder

Teacher = Annotated[str, Option(metavar="FOLDER|HUB", help="The trained model that is learned from.")]
Student = Annotated[
    str | None, Option(metavar="FOLDER|HUB", help="Checkpoint that the student starts from; or use --layers.")
]
Layers = Annotated[str | None, Option(metavar="N|N,N,...", help="Number of teacher layers to copy, or their indices.")]
Strategy = Annotated[
    str, Option(metavar="NAME", help="How to pick teacher layers when --layers is a count: alternate, first or last.")
]
NoNorm = Annotated[
    bool, Option("--no-norm", help="Make the student one without layer norms and with ReLU, for integer processors.")
]
Objectives = Annotated[
    str,
    Option(
        metavar="NAME=WEIGHT,...",
        help="What is learned: soft-labels, cosine, hidden, patient, attention, relations, features.",
    ),
]
Temperature = Annotated[float, Option(metavar="T", help="Softens the teacher's probabilities.")]
Mapping = Annotated[str | None, Option(metavar="NAME", help="Which layers teach which: uniform, skip or last.")]
Cache = Annotated[
    Path | None, Option(metavar="FOLDER", help="Keep what the teacher says here; it is computed once then.")
]
SequenceLength = Annotated[
    int | None, Option(metavar="N", min=3, help="Tokens a row; by default as many as the teacher reads.")
]

_FITTED_ROWS = 512


def distill(
    teacher: Teacher,
    train: options.Train,
    out: options.OutFolder,
    student: Student = None,
    layers: Layers = None,
    strategy: Strategy = "alternate",
    no_norm: NoNorm = False,
    objectives: Objectives = "soft-labels=1",
    temperature: Temperature = 2.0,
    layer_map: Mapping = None,
    label_weight: options.LabelWeight = 0.5,
    cache: Cache = None,
    dev: options.Dev = None,
    text_column: options.TextColumn = None,
    pair_column: options.PairColumn = None,
    label_column: options.LabelColumn = None,
    delimiter: options.Delimiter = None,
    skip_bad_rows: options.SkipBadRows = False,
    sequence_length: SequenceLength = None,
    epochs: options.Epochs = 2,
    learning_rate: options.LearningRate = 5e-5,
    batch_size: options.BatchSize = 32,
    warmup: options.Warmup = 0.06,
    weight_decay: options.WeightDecay = 0.01,
    dropout: options.Dropout = None,
    seed: options.Seed = 1,
    max_rows: options.MaxRows = None,
    jit: options.Jit = False,
    resume: Resume = False,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """Train a small model to do as a large one does.

    Example: kerasbert distill --teacher runs/large --layers 4 --train train.tsv --dev dev.tsv --out runs/small
    """
    given = asked_options(locals())
    from types import SimpleNamespace

    from kerasbert.cli.common.data_files import read_train_and_dev
    from kerasbert.cli.common.destinations import check_cache_folder, check_out_folder
    from kerasbert.cli.common.layer_counts import check_layer_count
    from kerasbert.cli.common.loading import loading
    from kerasbert.cli.common.progress import note, progress
    from kerasbert.cli.common.training_data import saved_processor, spread
    from kerasbert.errors import KerasBertError
    from kerasbert.training.config import Recipe
    from kerasbert.training.objective_names import objective_weights

    if (student is None) == (layers is None):
        raise KerasBertError(
            f"expected either --student or --layers, received {'neither' if student is None else 'both'}"
        )
    if strategy != "alternate" and (layers is None or "," in layers):
        raise KerasBertError(f"expected --layers as a number with --strategy {strategy}, received {layers or 'none'}")
    check_out_folder(out, teacher, student, resume=resume, overwrite=overwrite)
    if layers is not None:
        check_layer_count(teacher, _numbers(layers))
    if cache is not None:
        check_cache_folder(cache)
    objective_weights(objectives)
    folder = run_folder(out, given, resume)
    asked = Recipe(
        model=teacher, train=str(train), dev=str(dev) if dev else None, out=str(out), epochs=epochs, batch_size=batch_size,
        learning_rate=learning_rate, warmup=warmup, weight_decay=weight_decay, dropout=dropout, seed=seed, jit=jit, max_rows=max_rows,
        text_column=text_column, pair_column=pair_column, label_column=label_column, sequence_length=sequence_length,
        delimiter=delimiter, skip_bad_rows=skip_bad_rows,
    )  # fmt: skip
    processor = saved_processor(teacher)
    _, *tables = read_train_and_dev(type(processor), train, dev, asked, seed)
    _check(processor, *tables, label_weight)

    with loading("the models"):
        import tf_keras as keras

        from kerasbert.cli.common import fitting
        from kerasbert.tasks.auto import load_task
        from kerasbert.training.distillation import Distiller, no_norm_student, parse_objectives
        from kerasbert.training.trainer import shown

        wanted = parse_objectives(objectives, temperature, layer_map)
        keras.utils.set_random_seed(seed)
        large = load_task(teacher)
        small = _student(large, student, layers, strategy, sequence_length)
    _check(large.processor, *tables, label_weight)
    if no_norm:
        with progress("fitting the student's scales and shifts"):
            texts = spread(tables[0].x, _FITTED_ROWS)
            small = no_norm_student(small, small.config.num_hidden_layers, texts)
    small = fitting.with_dropout(small, asked)
    distiller = Distiller(small, large, wanted, label_weight, cache)
    with progress("evaluating the teacher") as bar:
        taught = large.score(tables[1], report=bar.rows) if dev else None
    data = SimpleNamespace(train=tables[0], dev=tables[1])
    with fitting.training() as listener:
        fitted = fitting.fit(distiller, data, asked, folder, resume, listener, given)
    settings = {
        **fitting.settings_of(asked),
        "objectives": objectives,
        "temperature": temperature,
        "label_weight": label_weight,
    }
    record = fitting.write_record(
        out, fitted, settings, *tables,
        teacher=teacher, student=student, layers=layers, strategy=strategy if layers else None, no_norm=no_norm,
        layer_map=layer_map, cache=cache,
        parameters={"teacher": _parameters(large), "student": _parameters(small)}, dev_teacher=taught, dev_student=fitted.dev,
    )  # fmt: skip
    note(f"{fitted.seconds:.0f} s of training, {fitted.examples_per_second:,.0f} examples/s")
    said = f"saved {out}" + (f": dev {shown(fitted.dev)}; the teacher {shown(taught)}" if taught else "")
    return Result({"out": out, "dev": fitted.dev, **record}, said)


def _student(teacher, folder: str | None, layers: str | None, strategy: str, length: int | None):
    """A task of the teacher's kind: from a checkpoint, or from the teacher's layers."""
    from kerasbert.training.distillation import student_from

    if folder is None:
        return student_from(teacher, _numbers(layers), strategy, length)
    settings = {name: value for name, value in teacher.head_config().items() if value is not None}
    return type(teacher).from_pretrained(folder, **{**settings, "sequence_length": length or teacher.sequence_length})


def _numbers(text: str) -> int | list[int]:
    from kerasbert.errors import KerasBertError

    try:
        found = [int(word) for word in text.split(",")]
    except ValueError:
        raise KerasBertError(f"expected --layers as a number, or numbers with commas, received {text!r}") from None
    return found if "," in text else found[0]


def _check(processor, train, dev, label_weight: float) -> None:
    """Raises KerasBertError naming the file and the line for labels that cannot be used."""
    from kerasbert.cli.common.data_files import check_known

    for table in (train, dev):
        if table is not None and (table.y is not None or table is dev or label_weight > 0):
            check_known(processor, table)


def _parameters(task) -> int:
    return sum(int(variable.shape.num_elements()) for variable in task.variables_by_path().values())
