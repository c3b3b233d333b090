"""`kerasbert prune`."""

from pathlib import Path
from typing import Annotated

from typer import Option

from kerasbert.cli.common import options
from kerasbert.cli.common.results import Result
from kerasbert.cli.common.resuming import Resume, asked_options, run_folder
from kerasbert.cli.common.train_options import numbers_by_part

Target = Annotated[
    float | None,
    Option(metavar="SHARE", help="Share of each kernel that becomes 0. Default: 0.5 for 2:4, else needed."),
]
Pattern = Annotated[
    str,
    Option(metavar="NAME", help="Which weights go together: unstructured, blocks such as 4x1 (inputs x outputs), 2:4."),
]
Part = Annotated[
    list[str] | None,
    Option(
        metavar="PATH=SHARE",
        help="Another share for Dense layers by path, such as layers.*.feed_forward.*=0.9; repeatable.",
    ),
]
Keep = Annotated[
    bool, Option("--keep-zeros", help="Keep the zeros that the model has; without --sparsity it is only trained on.")
]
From = Annotated[float, Option(metavar="SHARE", min=0.0, max=1.0, help="Begin to prune after this share of the steps.")]
Until = Annotated[
    float, Option(metavar="SHARE", min=0.0, max=1.0, help="Have pruned all after this share of the steps.")
]
Updates = Annotated[int, Option(metavar="N", min=1, help="How often it is decided anew which weights are 0.")]
Dev = Annotated[
    Path | None,
    Option(
        metavar="FILE|SHARE",
        help="Development data, or a share of the training rows such as 0.1; scored before and after.",
    ),
]


def prune(
    model: options.Folder,
    train: options.Train,
    out: options.OutFolder,
    sparsity: Target = None,
    pattern: Pattern = "unstructured",
    part: Part = None,
    keep_zeros: Keep = False,
    prune_from: From = 0.0,
    prune_until: Until = 0.5,
    updates: Updates = 20,
    objectives: options.Objectives = None,
    label_weight: options.LabelWeight = 0.5,
    dev: Dev = None,
    text_column: options.TextColumn = None,
    pair_column: options.PairColumn = None,
    label_column: options.LabelColumn = None,
    delimiter: options.Delimiter = None,
    skip_bad_rows: options.SkipBadRows = False,
    epochs: options.Epochs = 3,
    learning_rate: options.LearningRate = 3e-5,
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
    """Set the smallest weights of a saved model to 0 while it is trained on.

    The last epoch's model is saved: an earlier one may be better because less of it is pruned.

    Example: kerasbert prune runs/mine --sparsity 0.8 --train train.tsv --dev dev.tsv --out runs/mine-sparse
    """
    given = asked_options(locals())
    from dataclasses import asdict
    from types import SimpleNamespace

    from kerasbert.cli.common.destinations import check_out_folder
    from kerasbert.cli.common.loading import loading
    from kerasbert.cli.common.progress import note, progress
    from kerasbert.cli.common.training_data import checked_tables, tables_for
    from kerasbert.errors import KerasBertError
    from kerasbert.training.config import Recipe
    from kerasbert.training.objective_names import objective_weights

    check_out_folder(out, model, resume=resume, overwrite=overwrite)
    parts = numbers_by_part("part", part or [], "layers.*.feed_forward.*=0.9")
    if sparsity is None and pattern == "2:4":
        sparsity = 0.5
    if sparsity is None and not keep_zeros:
        raise KerasBertError("expected --sparsity, such as 0.8, or --keep-zeros, received neither")
    if sparsity is None and (parts or pattern != "unstructured"):
        raise KerasBertError("expected --sparsity beside --part and --pattern, received none")
    objective_weights(objectives or "soft-labels")
    folder = run_folder(out, given, resume)
    asked = Recipe(
        model=model, train=str(train), dev=str(dev) if dev else None, out=str(out), epochs=epochs, batch_size=batch_size,
        learning_rate=learning_rate, warmup=warmup, weight_decay=weight_decay, dropout=dropout, seed=seed, jit=jit, max_rows=max_rows,
        text_column=text_column, pair_column=pair_column, label_column=label_column, delimiter=delimiter, skip_bad_rows=skip_bad_rows,
    )  # fmt: skip
    tables = tables_for(model, train, dev, asked, seed)

    with loading("the model"):
        import tf_keras as keras

        from kerasbert.cli.common import fitting
        from kerasbert.compression.pruning.magnitude import Sparsity
        from kerasbert.compression.pruning.masks import MagnitudePruning, PreserveSparsity
        from kerasbert.compression.pruning.sparsity_report import pruned_kernels, sparsity_report
        from kerasbert.tasks.auto import load_task
        from kerasbert.training.distillation import Distiller, parse_objectives
        from kerasbert.training.trainer import shown

        keras.utils.set_random_seed(seed)
        learned = parse_objectives(objectives) if objectives else None
        wanted = None
        if sparsity is not None:
            wanted = Sparsity(sparsity, pattern, parts, prune_from, prune_until, updates)
        task = fitting.with_dropout(load_task(model), asked)
    if task.policy:
        raise KerasBertError(
            f"expected a float model, received {model}, which is quantized; prune first, then quantize"
        )
    if keep_zeros and not pruned_kernels(task):
        raise KerasBertError(f"expected a pruned model for --keep-zeros, received {model}, which has no zeros")
    tables = checked_tables(task, tables)
    callbacks = [PreserveSparsity()] if keep_zeros else []
    if wanted:
        wanted.check(task, -(-len(task.features(tables[0].x)[1]) // batch_size) * epochs)
        callbacks.append(MagnitudePruning(wanted))
    with progress("evaluating the model as it is") as bar:
        before = task.score(tables[1], report=bar.rows) if dev else None
    learner = Distiller(task, load_task(model), learned, label_weight) if learned else task
    # Without dev: a run keeps the epoch that is best on it, and the best ones are those before all is pruned.
    data = SimpleNamespace(train=tables[0], dev=None)
    with fitting.training() as listener:
        fitted = fitting.fit(learner, data, asked, folder, resume, listener, given, callbacks=tuple(callbacks))
    with progress("evaluating the pruned model") as bar:
        after = task.score(tables[1], report=bar.rows) if dev else None
    zeros = asdict(sparsity_report(task))
    record = fitting.write_record(
        out, fitted, fitting.settings_of(asked), *tables,
        model=model, sparsity=asdict(wanted) if wanted else None, keep_zeros=keep_zeros, objectives=objectives,
        label_weight=label_weight if objectives else None, zeros=zeros,
        dev_before=before, dev_after=after,
    )  # fmt: skip
    note(f"{fitted.seconds:.0f} s of training, {fitted.examples_per_second:,.0f} examples/s")
    said = f"saved {out}: {zeros['dense']:.1%} of the kernels' weights are 0, {zeros['total']:.1%} of all weights"
    said += f"; dev {shown(after)}; before pruning {shown(before)}" if after else ""
    return Result({"out": out, **record}, said)
