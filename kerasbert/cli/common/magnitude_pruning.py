"""Magnitude pruning as a part of `kerasbert prune`: the smallest weights become 0 while the model is trained on."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kerasbert.cli.common import options
from kerasbert.cli.common.results import Result
from kerasbert.cli.common.training_run import TrainingRun, score
from kerasbert.errors import KerasBertError
from kerasbert.training.config import TrainConfig
from kerasbert.training.config_fields import check_fields, option

if TYPE_CHECKING:
    from kerasbert.compression.pruning.magnitude import Sparsity
    from kerasbert.tasks.base import Task


@dataclass(frozen=True)
class MagnitudeConfig:
    """Which weights become 0, and when.

    Raises:
        KerasBertError: When a value is out of range, or an option lacks another that it belongs to.
    """

    sparsity: float | None = option(
        None, "Share of each kernel that becomes 0. Default: 0.5 for 2:4, else required.", "SHARE"
    )
    pattern: str = option(
        "unstructured",
        "Which weights become 0 together: unstructured, blocks such as 4x1 (inputs x outputs), 2:4.",
        "NAME",
    )
    part: dict[str, float] = option(
        dict, "Another share for Dense layers by path, such as layers.*.feed_forward.*=0.9; repeatable.", "PATH=SHARE"
    )
    keep_zeros: bool = option(False, "Keep the model's zeros; without --sparsity it is only trained on.")
    prune_from: float = option(0.0, "Fraction of the steps at which pruning starts.", "SHARE", at_least=0, at_most=1)
    prune_until: float = option(0.5, "Fraction of the steps at which pruning ends.", "SHARE", at_least=0, at_most=1)
    updates: int = option(20, "Number of times that the masks are computed.", at_least=1)
    objectives: str | None = option(None, options.OBJECTIVES_HELP, "NAME=WEIGHT,...")
    label_weight: float = option(0.5, options.LABEL_WEIGHT_HELP, "X", at_least=0)

    def __post_init__(self):
        check_fields(self)
        if self.target is None and (self.part or self.pattern != "unstructured"):
            raise KerasBertError("expected --sparsity beside --part and --pattern, received none")

    @property
    def target(self) -> float | None:
        """The share of zeros, None where the model keeps those that it has."""
        return 0.5 if self.sparsity is None and self.pattern == "2:4" else self.sparsity

    def schedule(self) -> "Sparsity | None":
        """The schedule of pruning; None where the model keeps its zeros.

        Raises:
            KerasBertError: When pattern, shares and steps do not fit.
        """
        from kerasbert.compression.pruning.magnitude import Sparsity

        if self.target is None:
            return None
        return Sparsity(self.target, self.pattern, self.part, self.prune_from, self.prune_until, self.updates)


def prune_weights(model: str, config: MagnitudeConfig, run: TrainingRun) -> Result:
    """Trains a saved model on while its smallest weights become 0, and saves it.

    Args:
        model: A saved folder or a hub name.
        config: Which weights, and when.
        run: The training.

    Raises:
        KerasBertError: When the data or the model cannot be used.
    """
    from kerasbert.cli.common.training_data import checked_tables, tables_for
    from kerasbert.training.objective_names import objective_weights

    objective_weights(config.objectives or "soft-labels")
    tables = tables_for(model, run.config)
    task, teacher = _load(model, config, run.config)
    from kerasbert.compression.pruning.masks import MagnitudePruning, PreserveSparsity
    from kerasbert.compression.pruning.sparsity_report import sparsity_report
    from kerasbert.training.distillation import Distiller, parse_objectives
    from kerasbert.training.trainer import format_metrics

    data, dev = checked_tables(task, tables)
    schedule = config.schedule()
    callbacks: list[Any] = [PreserveSparsity()] if config.keep_zeros else []
    if schedule:
        steps = -(-len(task.features(data.x)[1]) // run.config.batch_size) * run.config.epochs
        schedule.check(task, steps)
        callbacks.append(MagnitudePruning(schedule))
    before = score(task, dev, "the model as it is")
    objectives = parse_objectives(config.objectives) if config.objectives else None
    learner = Distiller(task, teacher, objectives, config.label_weight) if objectives else task
    # Without dev: a run keeps the epoch that is best on it, and the best ones are those before all is pruned.
    result = run.fit(learner, data, None, callbacks)
    after = score(task, dev, "the pruned model")
    zeros = asdict(sparsity_report(task))
    record = run.record(
        result, data, dev, {},
        model=model, sparsity=asdict(schedule) if schedule else None, keep_zeros=config.keep_zeros, objectives=config.objectives,
        label_weight=config.label_weight if objectives else None, zeros=zeros, dev_before=before, dev_after=after,
    )  # fmt: skip
    line = f"saved {run.out}: {zeros['dense']:.1%} of the kernels' weights are 0, {zeros['total']:.1%} of all weights"
    if before and after:
        line += f"; dev {format_metrics(after)}; before pruning {format_metrics(before)}"
    return Result({"out": run.out, **record}, line)


def _load(model: str, config: MagnitudeConfig, training: TrainConfig) -> "tuple[Task, Task | None]":
    """The model to prune, and a second copy as its teacher where objectives ask for one."""
    from kerasbert.cli.common.loading import loading

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
        raise KerasBertError(f"expected a pruned model for --keep-zeros, received {model}, which has no zeros")
    return task, load_task(model) if config.objectives else None
