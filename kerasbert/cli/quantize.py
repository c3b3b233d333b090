"""`kerasbert quantize`."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kerasbert.cli.common import options
from kerasbert.cli.common.option_groups import OptionGroup, with_options
from kerasbert.cli.common.results import Result
from kerasbert.cli.common.training_run import TrainingRun, command_options, score
from kerasbert.errors import KerasBertError
from kerasbert.training.config import TrainConfig
from kerasbert.training.config_fields import check_fields, option

if TYPE_CHECKING:
    from kerasbert.tasks.base import Task


@dataclass(frozen=True)
class QuantizeConfig:
    """The settings of `kerasbert quantize` beside those of its training.

    Raises:
        KerasBertError: When a value is out of range, or needs a training where there is none.
    """

    recipe: str = option(
        "static_wi8_ai8",
        "Number format to train for: static_wi8_ai8, static_wi8_ai16, dynamic_wi8_afp32, dynamic_wi4_afp32, weight_only_wi8.",
        "NAME",
    )
    epochs: int = option(1, "Passes over the training data; 0 only calibrates.", at_least=0)
    integer_only: bool = option(False, "Leave no activation in float, for processors that have none.")
    calibration_rows: int = option(512, "Number of calibration examples, sampled evenly.", at_least=1)
    calibration_method: str = option(
        "min-max", "Range estimation of calibration: min-max, percentile, percentile:99.9 or mse.", "NAME"
    )
    learned_ranges: bool = option(
        False, "Train ranges by gradient, with the weights, in place of moving averages of what is observed."
    )
    quant_delay: float = option(
        0.0, "Fraction of the steps before activations are quantized.", "SHARE", at_least=0, at_most=1
    )
    freeze_ranges: float = option(
        1.0, "Fraction of the steps after which ranges are frozen.", "SHARE", at_least=0, at_most=1
    )
    objectives: str | None = option(None, options.OBJECTIVES_HELP, "NAME=WEIGHT,...")
    label_weight: float = option(0.5, options.LABEL_WEIGHT_HELP, "X", at_least=0)

    def __post_init__(self):
        check_fields(self)
        needs_training = {
            "--learned-ranges": self.learned_ranges, "--objectives": self.objectives, "--quant-delay": self.quant_delay > 0,
            "--freeze-ranges": self.freeze_ranges < 1,
        }  # fmt: skip
        for name, asked in needs_training.items():
            if asked and not self.epochs:
                raise KerasBertError(f"expected training for {name}, received --epochs 0")
        if self.quant_delay >= self.freeze_ranges:
            raise KerasBertError(
                f"expected ranges to be frozen after activations are quantized, received --quant-delay {self.quant_delay} and "
                f"--freeze-ranges {self.freeze_ranges}"
            )


_TRAINING = OptionGroup(
    TrainConfig,
    without=(*options.NOT_FOR_SAVED_MODELS, "sequence_length", "epochs"),
    required=("train", "out"),
    defaults={"learning_rate": 2e-5, "dropout": 0.0},
)


@with_options(config=OptionGroup(QuantizeConfig), training=_TRAINING)
def quantize(
    model: options.Folder,
    config: QuantizeConfig,
    training: TrainConfig,
    resume: options.Resume = False,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """Quantization-aware training of a saved model; --epochs 0 only calibrates.

    A sentence encoder needs no labels: it is trained towards its own float vectors.

    Example: kerasbert quantize runs/mine --recipe static_wi8_ai8 --train train.tsv --dev dev.tsv --out runs/mine-int8
    """
    run, tables = _checked(model, config, training, resume, overwrite)
    task = _load(model, run.config)
    from kerasbert.cli.common.training_data import checked_tables, spread
    from kerasbert.training.trainer import format_metrics

    data, dev = checked_tables(task, tables)
    before = score(task, dev, "the float model")
    calibration = spread(data.x, config.calibration_rows)
    quantized = _calibrated(task, config, run.config, calibration)
    result = _train(run, quantized, task, config, data, dev)
    after = result.dev or score(quantized, dev, "the quantized model")
    record = run.record(
        result, data, dev, {"epochs": config.epochs},
        model=model, recipe=config.recipe, integer_only=config.integer_only, ranges=config.calibration_method,
        learned_ranges=config.learned_ranges, objectives=config.objectives, calibration_rows=_count(calibration), dev_before=before,
        dev_after=after,
    )  # fmt: skip
    line = f"saved {run.out}"
    if before and after:
        line += f": dev {format_metrics(after)}; before quantization {format_metrics(before)}"
    return Result({"out": run.out, **record}, line)


def _checked(
    model: str, config: QuantizeConfig, training: TrainConfig, resume: bool, overwrite: bool
) -> tuple[TrainingRun, tuple]:
    """The run and its tables, checked before TensorFlow is loaded."""
    from kerasbert.cli.common.destinations import check_out_folder
    from kerasbert.cli.common.training_data import tables_for
    from kerasbert.compression import policy_named, range_estimator
    from kerasbert.training.objective_names import objective_weights

    check_out_folder(training.out, model, resume=resume, overwrite=overwrite)
    policy_named(config.recipe, config.integer_only, config.learned_ranges)
    range_estimator(config.calibration_method)
    objective_weights(config.objectives or "soft-labels")
    if resume and not config.epochs:
        raise KerasBertError("expected training for --resume, received --epochs 0")
    training = replace(training, model=model, epochs=max(config.epochs, 1))
    run = TrainingRun(training, resume, command_options(training=training, config=config))
    return run, tables_for(model, training)


def _load(model: str, training: TrainConfig) -> "Task":
    from kerasbert.cli.common.loading import loading

    with loading("the model"):
        import tf_keras as keras

        from kerasbert.tasks.auto import load_task

        keras.utils.set_random_seed(training.seed)
        task = load_task(model)
    if training.tokenize_as:
        task.tokenize_as(training.tokenize_as)
    if task.policy:
        raise KerasBertError(
            f"expected a float model, received {model}, which is quantized for {task.policy.recipe!r} already"
        )
    return task


def _calibrated(task: "Task", config: QuantizeConfig, training: TrainConfig, calibration: Any) -> "Task":
    from kerasbert import compression
    from kerasbert.cli.common.progress import progress

    with progress("calibrating"):
        return compression.quantize(
            task, config.recipe, calibration=calibration, integer_only=config.integer_only, ranges=config.calibration_method,
            learned_ranges=config.learned_ranges, dropout=training.dropout,
        )  # fmt: skip


def _train(run: TrainingRun, quantized: "Task", task: "Task", config: QuantizeConfig, data: Any, dev: Any) -> Any:
    """Trains the calibrated model, towards the float one if objectives ask for it; without epochs it is only saved."""
    from kerasbert import compression
    from kerasbert.training.distillation import Distiller, parse_objectives
    from kerasbert.training.trainer import TrainResult

    if not config.epochs:
        quantized.save_pretrained(run.out)
        run.folder.clear()
        return TrainResult()
    callbacks = []
    if (config.quant_delay, config.freeze_ranges) != (0.0, 1.0):
        callbacks.append(compression.QuantizationSchedule(quantized, config.quant_delay, config.freeze_ranges))
    if compression.pruned_kernels(quantized):  # it was pruned
        callbacks.append(compression.PreserveSparsity(quantized))
    objectives = parse_objectives(config.objectives) if config.objectives else None
    learner = Distiller(quantized, task, objectives, config.label_weight) if objectives else quantized
    return run.fit(learner, data, dev, callbacks)


def _count(examples: Any) -> int:
    return len(examples[0]) if isinstance(examples, tuple) else len(examples)
