"""`kerasbert quantize`."""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import OptionGroup, with_options
from kerasbert.cli.outputs.results import Result
from kerasbert.cli.runs.training_run import TrainingRun, command_options, score
from kerasbert.compression.quantization.config import QuantizeConfig
from kerasbert.errors import KerasBertError
from kerasbert.training.config import DROPOUT_HELP, QUANTIZATION_SHARE, RATE_SHARE_HELP, TrainConfig
from kerasbert.training.exit_options import choose_threshold

if TYPE_CHECKING:
    from kerasbert.compression import BitChoice, QuantizationPolicy
    from kerasbert.data.dataset import Dataset
    from kerasbert.tasks.base import Task
    from kerasbert.training.result import TrainResult


_TRAINING = OptionGroup(
    TrainConfig,
    without=(
        *(name for name in options.NOT_FOR_SAVED_MODELS if name != "new_head"),
        "sequence_length",
        "epochs",
        "precision",
    ),
    required=("train", "out"),
    defaults={"dropout": 0.0},
    help={"dropout": DROPOUT_HELP, "learning_rate": RATE_SHARE_HELP.format(share=QUANTIZATION_SHARE)},
)


@with_options("folder_task", "strict", config=OptionGroup(QuantizeConfig), training=_TRAINING)
def quantize(
    model: options.Folder,
    config: QuantizeConfig,
    training: TrainConfig,
    resume: options.Resume = False,
    overwrite: options.Overwrite = False,
) -> Result:
    """Quantize a saved model with quantization-aware training; --epochs 0 only calibrates.

    A sentence encoder needs no labels: it learns to keep its float vectors.

    Example: kerasbert quantize runs/mine --recipe static_wi8_ai8 --train train.tsv --dev dev.tsv --out runs/mine-int8

    Example: kerasbert quantize runs/mine --recipe dynamic_wi4_afp32 --average-bits 6 --train train.tsv --dev dev.tsv --out runs/mine-6bits
    """
    run, tables = _prepare(model, config, training, resume, overwrite)
    task = _load(model, run.config)
    from kerasbert.cli.inputs.training_data import prepare_tables
    from kerasbert.training.result import format_metrics

    data, dev = prepare_tables(task, *tables)
    before = score(task, dev, "the float model")
    choice = _choose_bits(task, config, data)
    quantized = _calibrate(task, config, choice and choice.policy, run.config, data.x)
    result = _train(run, quantized, task, config, data, dev)
    after = result.dev or score(quantized, dev, "the quantized model")
    record = run.record(
        result, data, dev, {"epochs": config.epochs},
        model=model, recipe=config.recipe, integer_only=config.integer_only, ranges=config.calibration_method,
        learned_ranges=config.learned_ranges, objectives=config.objectives,
        calibration_rows=min(len(data), config.calibration_rows), dev_before=before, dev_after=after, **_bits_data(choice),
    )  # fmt: skip
    line = f"saved {run.out}"
    if before and after:
        line += f": dev {format_metrics(after)}; before quantization {format_metrics(before)}"
    return Result({"out": run.out, **record}, line)


def _bits_data(choice: "BitChoice | None") -> dict[str, Any]:
    """Return the bits of each kernel, JSON-able; nothing without a choice."""
    if choice is None:
        return {}
    return {"average_bits": choice.average_bits, "kernels": [asdict(kernel) for kernel in choice.kernels]}


def _prepare(
    model: str, config: QuantizeConfig, training: TrainConfig, resume: bool, overwrite: bool
) -> "tuple[TrainingRun, tuple[Dataset, Dataset | None]]":
    """Check options and data before TensorFlow is loaded; return the run and its tables."""
    from kerasbert.cli.inputs.training_data import read_model_tables
    from kerasbert.cli.outputs.destinations import check_out_folder
    from kerasbert.compression import policy_named, range_estimator
    from kerasbert.training.objective_names import objective_weights

    check_out_folder(training.require("out"), model, resume=resume, overwrite=overwrite)
    policy_named(config.recipe, config.integer_only, config.learned_ranges)
    range_estimator(config.calibration_method)
    if training.new_head and not config.epochs:
        raise KerasBertError(
            "expected --epochs of at least 1 with --new-head, received 0; a new head has to be trained"
        )
    objective_weights(config.objectives or "soft-labels")
    if resume and not config.epochs:
        raise KerasBertError(
            "expected --epochs of at least 1 with --resume, received 0; leave --resume out to calibrate only"
        )
    training = replace(training, model=model, epochs=max(config.epochs, 1))
    given = command_options(training=training, config=config)
    run = TrainingRun(training, resume, given, rate_share=QUANTIZATION_SHARE)
    return run, read_model_tables(model, training)


def _load(model: str, training: TrainConfig) -> "Task":
    from kerasbert.cli.process.progress import loading

    with loading("the model"):
        import tf_keras as keras

        from kerasbert.tasks.auto import load_task

        keras.utils.set_random_seed(training.seed)
        task = load_task(model, new_head=training.new_head)
    if training.tokenize_as:
        task.tokenize_as(training.tokenize_as)
    if task.policy:
        raise KerasBertError(
            f"expected a float model, received {model}, which is already quantized for {task.policy.recipe!r}; quantize the model before it"
        )
    return task


def _choose_bits(task: "Task", config: QuantizeConfig, data: "Dataset") -> "BitChoice | None":
    """Choose the bits of each kernel where a mean is given, and print how many have 8."""
    from kerasbert.cli.process.progress import note, progress

    if config.average_bits is None:
        return None
    from kerasbert.compression import choose_bits

    with progress("measuring the Hessian of the loss"):
        choice = choose_bits(task, data, config.average_bits, config.hessian, block=config.kernel_block)
    raised = [kernel.path for kernel in choice.kernels if kernel.bits == 8]
    note(
        f"{len(raised)} of {len(choice.kernels)} in 8 bits, {choice.average_bits:.2f} in the mean: {', '.join(raised)}"
    )
    return choice


def _calibrate(
    task: "Task", config: QuantizeConfig, policy: "QuantizationPolicy | None", training: TrainConfig, calibration: Any
) -> "Task":
    from kerasbert import compression
    from kerasbert.cli.process.progress import progress

    if policy is None and (config.kernel_block, config.table_bits) != (None, None):
        policy = replace(compression.POLICIES[config.recipe], kernel_block=config.kernel_block)
    if policy is not None and config.table_bits is not None:
        policy = replace(policy, table_bits=config.table_bits)
    with progress("calibrating"):
        return compression.quantize(
            task, policy or config.recipe, calibration=calibration, integer_only=config.integer_only, ranges=config.calibration_method,
            learned_ranges=config.learned_ranges, dropout=training.dropout, calibration_rows=config.calibration_rows,
        )  # fmt: skip


def _train(
    run: TrainingRun,
    quantized: "Task",
    task: "Task",
    config: QuantizeConfig,
    data: "Dataset",
    dev: "Dataset | None",
) -> "TrainResult":
    """Train the calibrated model, with the float model as the teacher of objectives. Without epochs, only save it."""
    from kerasbert import compression
    from kerasbert.cli.process.progress import note
    from kerasbert.training.distillation import Distiller, parse_objectives
    from kerasbert.training.result import TrainResult

    if not config.epochs:
        if line := choose_threshold(quantized, dev, run.config.keep):
            note(line)
        quantized.save_pretrained(run.out)
        run.folder.clear()
        return TrainResult()
    callbacks: list[Any] = []
    if (config.quant_delay, config.freeze_ranges) != (0.0, 1.0):
        callbacks.append(compression.QuantizationSchedule(quantized, config.quant_delay, config.freeze_ranges))
    if compression.pruned_kernels(quantized):  # of a pruned model
        callbacks.append(compression.PreserveSparsity(quantized))
    objectives = parse_objectives(config.objectives) if config.objectives else None
    learner = Distiller(quantized, task, objectives, config.label_weight) if objectives else quantized
    return run.fit(learner, data, dev, callbacks)
