"""Magnitude pruning for `kerasbert prune`: the smallest weights become 0 during further training."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kerasbert.cli.common import options
from kerasbert.cli.common.results import Result
from kerasbert.cli.common.training_run import TrainingRun, score
from kerasbert.errors import KerasBertError
from kerasbert.files.record import Options, setting
from kerasbert.training.config import TrainConfig

if TYPE_CHECKING:
    from kerasbert.compression.pruning.magnitude import Sparsity
    from kerasbert.tasks.base import Task


@dataclass(frozen=True)
class MagnitudeConfig(Options):
    """The weights that become 0, and the schedule.

    Raises:
        KerasBertError: When a value is out of range, or an option needs another one.
    """

    sparsity: float | None = setting(
        None, "Fraction of the weights of each kernel that become 0. Default: 0.5 for --pattern 2:4.", "FRACTION"
    )
    pattern: str = setting(
        "unstructured",
        "Sparsity pattern: unstructured, blocks such as 4x1 (inputs x outputs), or 2:4.",
        "NAME",
    )
    part: dict[str, float] = setting(
        dict,
        "Another sparsity for Dense layers by path, such as layers.*.feed_forward.*=0.9. Repeatable.",
        "PATH=FRACTION",
    )
    keep_zeros: bool = setting(
        False, "Keep the zeros of a pruned model. Without --sparsity, training continues with them."
    )
    prune_from: float = setting(
        0.0, "Fraction of the steps at which pruning starts.", "FRACTION", at_least=0, at_most=1
    )
    prune_until: float = setting(0.5, "Fraction of the steps at which pruning ends.", "FRACTION", at_least=0, at_most=1)
    updates: int = setting(20, "Number of mask updates.", at_least=1)
    objectives: str | None = setting(None, options.OBJECTIVES_HELP, "NAME=WEIGHT,...")
    label_weight: float = setting(0.5, options.LABEL_WEIGHT_HELP, "X", at_least=0)

    def check(self) -> None:
        if self.target is None and (self.part or self.pattern != "unstructured"):
            raise KerasBertError("expected --sparsity with --part and --pattern, received none; add it")

    @property
    def target(self) -> float | None:
        """The fraction of zeros, or None if the model only keeps its zeros."""
        return 0.5 if self.sparsity is None and self.pattern == "2:4" else self.sparsity

    def schedule(self) -> "Sparsity | None":
        """Return the pruning schedule, or None if the model only keeps its zeros.

        Raises:
            KerasBertError: When pattern, fractions and steps do not fit together.
        """
        from kerasbert.compression.pruning.magnitude import Sparsity

        if self.target is None:
            return None
        return Sparsity(self.target, self.pattern, self.part, self.prune_from, self.prune_until, self.updates)


def prune_weights(model: str, config: MagnitudeConfig, run: TrainingRun) -> Result:
    """Train a saved model while its smallest weights become 0, and save it.

    Args:
        model: A saved folder or a hub name.
        config: The weights and the schedule.
        run: The training run.

    Raises:
        KerasBertError: When the data or the model cannot be used.
    """
    from kerasbert.cli.common.training_data import prepare_tables, read_model_tables
    from kerasbert.training.objective_names import objective_weights

    objective_weights(config.objectives or "soft-labels")
    tables = read_model_tables(model, run.config)
    task, teacher = _load(model, config, run.config)
    from kerasbert.compression.pruning.masks import MagnitudePruning, PreserveSparsity
    from kerasbert.compression.pruning.sparsity_report import sparsity_report
    from kerasbert.training.distillation import Distiller, parse_objectives
    from kerasbert.training.trainer import format_metrics

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
        label_weight=config.label_weight if objectives else None, zeros=zeros, dev_before=before, dev_after=after,
    )  # fmt: skip
    line = (
        f"saved {run.out}: {zeros['dense']:.1%} of the kernels' weights are 0, and {zeros['total']:.1%} of all weights"
    )
    if before and after:
        line += f"; dev {format_metrics(after)}; before pruning {format_metrics(before)}"
    return Result({"out": run.out, **record}, line)


def _load(model: str, config: MagnitudeConfig, training: TrainConfig) -> "tuple[Task, Task | None]":
    """Load the model to prune, and a second copy as the teacher for objectives."""
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
        raise KerasBertError(
            f"expected a pruned model for --keep-zeros, received {model}, which has no zeros; prune it with --sparsity"
        )
    return task, load_task(model) if config.objectives else None
