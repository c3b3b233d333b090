"""`kerasbert quantize`."""

from typing import Annotated

from typer import Option

from kerasbert.cli.common import options
from kerasbert.cli.common.results import Result
from kerasbert.cli.common.resuming import Resume, asked_options, run_folder
from kerasbert.errors import KerasBertError

Recipe = Annotated[
    str,
    Option(
        metavar="NAME",
        help="What to train for: static_wi8_ai8, static_wi8_ai16, dynamic_wi8_afp32, dynamic_wi4_afp32, weight_only_wi8.",
    ),
]
Epochs = Annotated[int, Option(metavar="N", min=0, help="Passes over the training data; 0 only calibrates.")]
IntegerOnly = Annotated[
    bool, Option("--integer-only", help="Leave no activation in float, for processors that have none.")
]
CalibrationMethod = Annotated[
    str, Option(metavar="NAME", help="How calibration finds ranges: min-max, percentile, percentile:99.9 or mse.")
]
Delay = Annotated[
    float, Option(metavar="SHARE", min=0.0, max=1.0, help="Quantize activations after this share of the steps.")
]
Freeze = Annotated[
    float, Option(metavar="SHARE", min=0.0, max=1.0, help="Let ranges move for this share of the steps only.")
]
Dropout = Annotated[float, Option(metavar="RATE", min=0.0, max=0.99, help="Dropout while training, everywhere.")]
LearnedRanges = Annotated[
    bool, Option("--learned-ranges", help="Train ranges by gradient, with the weights, and not by what is seen.")
]
TokenizeAs = Annotated[
    str | None,
    Option(metavar="CLIENT", help="Tokenize as this client will: mediapipe or task-library; saved with the model."),
]
CalibrationRows = Annotated[int, Option(metavar="N", min=1, help="Training rows that set the first activation ranges.")]


def quantize(
    model: options.Folder,
    train: options.Train,
    out: options.OutFolder,
    recipe: Recipe = "static_wi8_ai8",
    dev: options.Dev = None,
    text_column: options.TextColumn = None,
    pair_column: options.PairColumn = None,
    label_column: options.LabelColumn = None,
    delimiter: options.Delimiter = None,
    skip_bad_rows: options.SkipBadRows = False,
    tokenize_as: TokenizeAs = None,
    epochs: Epochs = 1,
    learning_rate: options.LearningRate = 2e-5,
    batch_size: options.BatchSize = 32,
    warmup: options.Warmup = 0.06,
    weight_decay: options.WeightDecay = 0.01,
    dropout: Dropout = 0.0,
    integer_only: IntegerOnly = False,
    calibration_rows: CalibrationRows = 512,
    calibration_method: CalibrationMethod = "min-max",
    learned_ranges: LearnedRanges = False,
    quant_delay: Delay = 0.0,
    freeze_ranges: Freeze = 1.0,
    objectives: options.Objectives = None,
    label_weight: options.LabelWeight = 0.5,
    seed: options.Seed = 1,
    max_rows: options.MaxRows = None,
    jit: options.Jit = False,
    resume: Resume = False,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """Quantization-aware training of a saved model; --epochs 0 only calibrates.

    A sentence encoder needs no labels: it is trained towards its own float vectors.

    Example: kerasbert quantize runs/mine --recipe static_wi8_ai8 --train train.tsv --dev dev.tsv --out runs/mine-int8
    """
    given = asked_options(locals())
    from types import SimpleNamespace

    from kerasbert.cli.common.destinations import check_out_folder
    from kerasbert.cli.common.loading import loading
    from kerasbert.cli.common.progress import note, progress
    from kerasbert.cli.common.training_data import checked_tables, spread, tables_for
    from kerasbert.compression import policy_named, range_estimator
    from kerasbert.training.config import Recipe
    from kerasbert.training.objective_names import objective_weights

    check_out_folder(out, model, resume=resume, overwrite=overwrite)
    policy_named(recipe, integer_only, learned_ranges)
    range_estimator(calibration_method)
    objective_weights(objectives or "soft-labels")
    _check_asked(epochs, quant_delay, freeze_ranges, learned_ranges, objectives, resume)
    folder = run_folder(out, given, resume)
    asked = Recipe(
        model=model, train=str(train), dev=str(dev) if dev else None, out=str(out), epochs=max(epochs, 1), batch_size=batch_size,
        learning_rate=learning_rate, warmup=warmup, weight_decay=weight_decay, dropout=dropout, seed=seed, jit=jit, max_rows=max_rows,
        text_column=text_column, pair_column=pair_column, label_column=label_column, delimiter=delimiter, skip_bad_rows=skip_bad_rows,
        tokenize_as=tokenize_as,
    )  # fmt: skip
    tables = tables_for(model, train, dev, asked, seed)

    with loading("the model"):
        import tf_keras as keras

        from kerasbert import compression
        from kerasbert.cli.common import fitting
        from kerasbert.tasks.auto import load_task
        from kerasbert.training.distillation import Distiller, parse_objectives
        from kerasbert.training.trainer import Fitted, shown

        keras.utils.set_random_seed(seed)
        task = load_task(model)
    if tokenize_as:
        task.tokenize_as(tokenize_as)
    wanted = parse_objectives(objectives) if objectives else None
    if task.policy:
        raise KerasBertError(
            f"expected a float model, received {model}, which is quantized for {task.policy.recipe!r} already"
        )
    tables = checked_tables(task, tables)
    with progress("evaluating the float model") as bar:
        before = task.score(tables[1], report=bar.rows) if dev else None
    with progress("calibrating"):
        texts = spread(tables[0].x, calibration_rows)
        quantized = compression.quantize(
            task, recipe, calibration=texts, integer_only=integer_only, ranges=calibration_method, learned_ranges=learned_ranges,
            dropout=dropout,
        )  # fmt: skip
    fitted = Fitted()
    if epochs:
        data = SimpleNamespace(train=tables[0], dev=tables[1])
        phases = (quant_delay, freeze_ranges) != (0.0, 1.0)
        callbacks = (compression.QuantizationSchedule(quantized, quant_delay, freeze_ranges),) if phases else ()
        if compression.pruned_kernels(quantized):  # it was pruned
            callbacks = (*callbacks, compression.PreserveSparsity(quantized))
        learner = Distiller(quantized, task, wanted, label_weight) if wanted else quantized
        with fitting.training() as listener:
            fitted = fitting.fit(learner, data, asked, folder, resume, listener, given, callbacks=callbacks)
    else:
        quantized.save_pretrained(out)
        folder.clear()
    after = fitted.dev
    if dev and after is None:
        with progress("evaluating the quantized model") as bar:
            after = quantized.score(tables[1], report=bar.rows)
    settings = {**fitting.settings_of(asked), "epochs": epochs}
    record = fitting.write_record(
        out, fitted, settings, *tables,
        model=model, recipe=recipe, integer_only=integer_only, ranges=calibration_method, learned_ranges=learned_ranges,
        objectives=objectives, calibration_rows=_count(texts), dev_before=before, dev_after=after,
    )  # fmt: skip
    if fitted.seconds:
        note(f"{fitted.seconds:.0f} s of training, {fitted.examples_per_second:,.0f} examples/s")
    said = f"saved {out}" + (f": dev {shown(after)}; before quantization {shown(before)}" if after else "")
    return Result({"out": out, **record}, said)


def _check_asked(epochs, quant_delay, freeze_ranges, learned_ranges, objectives, resume) -> None:
    """Raises KerasBertError for what only training does where none is asked for, and for phases in the wrong order."""
    only_trained = {
        "--learned-ranges": learned_ranges, "--objectives": objectives, "--quant-delay": quant_delay > 0,
        "--freeze-ranges": freeze_ranges < 1, "--resume": resume,
    }  # fmt: skip
    for option, wanted in only_trained.items():
        if wanted and not epochs:
            raise KerasBertError(f"expected training for {option}, received --epochs 0")
    if quant_delay >= freeze_ranges:
        raise KerasBertError(
            "expected ranges to be frozen after activations are quantized, received --quant-delay "
            f"{quant_delay} and --freeze-ranges {freeze_ranges}"
        )


def _count(examples) -> int:
    return len(examples[0]) if isinstance(examples, tuple) else len(examples)
