"""Magnitude pruning for `kerasbert prune`: the smallest weights become 0 during further training."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kerasbert.cli.outputs.results import Result
from kerasbert.cli.runs.training_run import TrainingRun, score
from kerasbert.errors import KerasBertError
from kerasbert.training.config import TrainConfig

if TYPE_CHECKING:
    from kerasbert.compression.pruning.config import MagnitudeConfig
    from kerasbert.tasks.base import Task


def prune_weights(model: str, config: "MagnitudeConfig", run: TrainingRun) -> Result:
    """Train a saved model while its smallest weights become 0, and save it.

    Args:
        model: A saved folder or a hub name.
        config: The weights and the schedule.
        run: The training run.

    Raises:
        KerasBertError: When the data or the model cannot be used.
    """
    from kerasbert.cli.inputs.training_data import prepare_tables, read_model_tables
    from kerasbert.training.objective_names import objective_weights

    objective_weights(config.objectives or "soft-labels")
    tables = read_model_tables(model, run.config)
    task, teacher = _load(model, config, run.config)
    from kerasbert.compression.pruning.masks import MagnitudePruning, PreserveSparsity
    from kerasbert.compression.pruning.sparsity_report import sparsity_report
    from kerasbert.training.distillation import Distiller, parse_objectives
    from kerasbert.training.result import format_metrics

    data, dev = prepare_tables(task, *tables)
    schedule = config.schedule()
    callbacks: list[Any] = [PreserveSparsity()] if config.keep_zeros else []
    if schedule:
        run.settle(task, len(data))
        steps = -(-len(task.features(data)[1]) // run.config.batch_size) * (run.config.epochs or 1)
        schedule.check(task, steps)
        callbacks.append(MagnitudePruning(schedule))
    before = score(task, dev, "the original model")
    objectives = parse_objectives(config.objectives) if config.objectives else None
    learner = Distiller(task, teacher, objectives, config.label_weight) if objectives else task
    # Without dev data, because the best epochs are often those before the model is fully pruned.
    result = run.fit(learner, data, None, callbacks)
    after = score(task, dev, "the pruned model")
    zeros = asdict(sparsity_report(task))
    record = run.record(
        result, data, dev, {},
        model=model, sparsity=asdict(schedule) if schedule else None, keep_zeros=config.keep_zeros, objectives=config.objectives,
        label_weight=learner.label_weight if isinstance(learner, Distiller) else None, zeros=zeros, dev_before=before, dev_after=after,
    )  # fmt: skip
    line = (
        f"saved {run.out}: {zeros['dense']:.1%} of the kernels' weights are 0, and {zeros['total']:.1%} of all weights"
    )
    if before and after:
        line += f"; dev {format_metrics(after)}; before pruning {format_metrics(before)}"
    return Result({"out": run.out, **record}, line)


def _load(model: str, config: "MagnitudeConfig", training: TrainConfig) -> "tuple[Task, Task | None]":
    """Load the model to prune, and a second copy as the teacher for objectives."""
    from kerasbert.cli.process.progress import loading

    with loading("the model"):
        import tf_keras as keras

        from kerasbert.compression.pruning.sparsity_report import pruned_kernels
        from kerasbert.tasks.auto import load_task

        keras.utils.set_random_seed(training.seed)
        task = load_task(model)
        if training.dropout is not None:
            task = task.with_dropout(training.dropout)
    if task.policy:
        raise KerasBertError(
            f"expected a float model, received {model}, which is quantized; prune first, then quantize"
        )
    if config.keep_zeros and not pruned_kernels(task):
        raise KerasBertError(
            f"expected a pruned model for --keep-zeros, received {model}, which has no zeros; prune it with --sparsity"
        )
    return task, load_task(model) if config.objectives else None
