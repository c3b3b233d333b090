"""`kerasbert distill`."""

from dataclasses import replace
from typing import TYPE_CHECKING

from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import OptionGroup, with_options
from kerasbert.cli.outputs.results import Result
from kerasbert.cli.runs.distill_methods import make_distillation
from kerasbert.cli.runs.stages import run_stages
from kerasbert.cli.runs.training_run import TrainingRun, command_options, score
from kerasbert.errors import KerasBertError
from kerasbert.training.config import TrainConfig
from kerasbert.training.distill_config import METHODS, DistillConfig

if TYPE_CHECKING:
    from kerasbert.data.dataset import Dataset
    from kerasbert.processors import Processor
    from kerasbert.tasks.base import Task

_TRAINING = OptionGroup(
    TrainConfig,
    without=(*(name for name in options.NOT_FOR_SAVED_MODELS if name != "new_head"), "tokenize_as"),
    required=("train", "out"),
    help={
        "sequence_length": "Sequence length in tokens. Default: that of the teacher, or the student's longest if it is less.",
        "new_head": "Make a new head for a --student that has one already, such as for other labels.",
    },
)


@with_options("folder_task", "strict", config=OptionGroup(DistillConfig, required=("teacher",)), training=_TRAINING)
def distill(
    config: DistillConfig,
    training: TrainConfig,
    resume: options.Resume = False,
    overwrite: options.Overwrite = False,
) -> Result:
    """Train a small student model to match a large teacher model.

    Example: kerasbert distill --teacher runs/large --layers 4 --train train.tsv --dev dev.tsv --out runs/small
    """
    from kerasbert.cli.runs.distillation_data import add_rows

    run, data, dev, further = _prepare(config, training, resume, overwrite)
    made = make_distillation(config, run.config, data)
    from kerasbert.cli.inputs.training_data import label_dev_with_vectors
    from kerasbert.training.result import format_metrics

    teacher, student = made.teacher, made.training.student
    _check_labels(teacher.processor, data, dev, config.own_label_weight)
    data = add_rows(data, further, config, run, teacher.tokenizer)
    dev = label_dev_with_vectors(teacher, student, dev)
    teacher_metrics = score(teacher, dev, "the teacher")
    stages = run_stages(made.stages, run, student, data)
    result = run.fit(made.training, data, dev)
    record = run.record(
        result, data, dev, made.settings, method=config.method,
        teacher=config.teacher, student=config.student, layers=config.layers, strategy=config.strategy if config.layers else None,
        **made.facts, **({"stages": stages} if stages else {}), unlabelled=config.unlabelled, augment=config.augment,
        parameters={"teacher": _parameters(teacher), "student": _parameters(student)}, dev_teacher=teacher_metrics,
        dev_student=result.dev,
    )  # fmt: skip
    line = f"saved {run.out}"
    if result.dev and teacher_metrics:
        line += f": dev {format_metrics(result.dev)}; the teacher {format_metrics(teacher_metrics)}"
    return Result({"out": run.out, "dev": result.dev, **record}, line)


def _prepare(
    config: DistillConfig, training: TrainConfig, resume: bool, overwrite: bool
) -> "tuple[TrainingRun, Dataset, Dataset | None, Dataset | None]":
    """Check options and data before TensorFlow is loaded; return the run, its tables and the unlabelled one."""
    from pathlib import Path

    from kerasbert.checkpoints.layer_counts import check_layer_count
    from kerasbert.cli.inputs.data_files import read_train_and_dev, without_fallback
    from kerasbert.cli.inputs.training_data import load_processor
    from kerasbert.cli.outputs.destinations import check_cache_folder, check_out_folder
    from kerasbert.cli.runs.distillation_data import read_unlabelled
    from kerasbert.data.file_options import FileOptions
    from kerasbert.data.plain_text import open_text
    from kerasbert.processors import make_processor
    from kerasbert.training.objective_names import objective_weights

    check_out_folder(training.require("out"), config.teacher, config.student, resume=resume, overwrite=overwrite)
    if config.kept_layers is not None:
        check_layer_count(config.teacher, config.kept_layers)
    if config.cache is not None:
        check_cache_folder(Path(config.cache))
    objective_weights(config.objectives)
    objective_weights(config.intermediate_objectives)
    if config.method == "theseus" and training.epochs is not None:
        config.replacement_schedule.replacing_epochs(training.epochs)
    if training.new_head and config.student is None:
        raise KerasBertError("expected --student with --new-head, received --layers; their head is that of the teacher")
    training = replace(training, model=config.teacher)
    run = TrainingRun(training, resume, command_options(training=training, config=config))
    task = METHODS[config.method].task
    processor = load_processor(config.teacher) if task is None else make_processor(task)
    _, data, dev = read_train_and_dev(type(processor), training)
    data = without_fallback(data, getattr(processor, "fallback", None))
    _check_labels(processor, data, dev, config.own_label_weight)
    if config.text is not None:
        open_text(config.text, FileOptions(max_rows=1, encoding=training.encoding)).whole()  # it is there, and a text
    further = None if config.unlabelled is None else read_unlabelled(type(processor), config.unlabelled, training)
    return run, data, dev, further


def _check_labels(processor: "Processor", data: "Dataset", dev: "Dataset | None", label_weight: float | None) -> None:
    """Check the labels that the run uses.

    Raises:
        KerasBertError: When one cannot be used; the message names the file and the line.
    """
    from kerasbert.cli.inputs.data_files import check_known_labels

    for table in (data, dev):
        if table is not None and (table.y is not None or table is dev or label_weight != 0):
            check_known_labels(processor, table)


def _parameters(task: "Task") -> int:
    return sum(int(variable.shape.num_elements()) for variable in task.variables_by_path().values())
