"""`kerasbert quantize`."""

from typing import Annotated

from typer import Option

from kerasbert.cli import options
from kerasbert.cli.results import Result

Recipe = Annotated[str, Option(metavar="NAME", help="What to train for: static_wi8_ai8 or dynamic_wi8_afp32.")]
Epochs = Annotated[int, Option(metavar="N", min=0, help="Passes over the training data; 0 only calibrates.")]
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
    epochs: Epochs = 1,
    learning_rate: options.LearningRate = 2e-5,
    batch_size: options.BatchSize = 32,
    warmup: options.Warmup = 0.06,
    weight_decay: options.WeightDecay = 0.01,
    calibration_rows: CalibrationRows = 512,
    seed: options.Seed = 1,
    max_rows: options.MaxRows = None,
    jit: options.Jit = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """Quantization-aware training of a saved model; --epochs 0 only calibrates.

    A sentence encoder needs no labels: it is trained towards its own float vectors.

    Example: kerasbert quantize runs/mine --recipe static_wi8_ai8 --train train.tsv --dev dev.tsv --out runs/mine-int8
    """
    from kerasbert.cli import rows
    from kerasbert.cli.destinations import check_out_folder
    from kerasbert.cli.progress import note, progress
    from kerasbert.cli.scores import shown
    from kerasbert.errors import KerasBertError

    check_out_folder(out, source=model)
    columns = rows.Columns(text_column, pair_column, label_column)
    tables = [rows.read_rows(path, columns, max_rows) if path else None for path in (train, dev)]

    with progress("loading TensorFlow and the model"):
        import tf_keras as keras

        from kerasbert import compression
        from kerasbert.cli import fitting
        from kerasbert.tasks.folders import load_task

        keras.utils.set_random_seed(seed)
        task = load_task(model)
    if recipe not in compression.POLICIES:
        raise KerasBertError(
            f"expected a recipe to train for of {', '.join(compression.POLICIES)}, received {recipe!r}"
        )
    if task.policy:
        raise KerasBertError(
            f"expected a float model, received {model}, which is quantized for {task.policy.recipe!r} already"
        )
    with progress("reading the texts"):
        packed, dev_packed = _packed_rows(task, tables)
    with progress("evaluating the float model"):
        before = fitting.score(task, dev_packed) if dev_packed else None
    with progress("calibrating"):
        quantized = compression.quantize(task, recipe, calibration=packed.some(calibration_rows))
    settings = fitting.Settings(epochs, learning_rate, batch_size, warmup, weight_decay, seed, jit)
    fitted = fitting.fit(quantized, packed, dev_packed, settings)
    after = fitted.dev or (fitting.score(quantized, dev_packed) if dev_packed else None)
    quantized.save_pretrained(out)
    record = fitting.write_record(
        out, fitted, settings, packed, dev_packed,
        model=model, recipe=recipe, calibration_rows=min(calibration_rows, len(packed)), dev_before=before, dev_after=after,
    )  # fmt: skip
    if fitted.seconds:
        note(f"{fitted.seconds:.0f} s of training, {fitted.examples_per_second:,.0f} examples/s")
    said = f"saved {out}" + (f": dev {shown(after)}; before quantization {shown(before)}" if after else "")
    return Result({"out": out, **record}, said)


def _packed_rows(task, tables) -> list:
    """Packed rows of each table that there is, with labels; for a sentence encoder single texts, with its own vectors as targets."""
    from dataclasses import replace

    from kerasbert.cli import rows

    if task.problem != "embedding":
        numbers = [rows.targets(table, task.problem, task.labels) if table else None for table in tables]
        return [
            rows.pack_rows(task.tokenizer, task.sequence_length, table, values) if table else None
            for table, values in zip(tables, numbers, strict=True)
        ]
    single = [
        replace(table, texts=table.texts + (table.pairs or []), pairs=None) if table else None for table in tables
    ]
    packed = [rows.pack_rows(task.tokenizer, task.sequence_length, table, None) if table else None for table in single]
    return [replace(found, targets=task.predict(found.inputs)) if found else None for found in packed]
