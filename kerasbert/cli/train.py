"""`kerasbert train`."""

from pathlib import Path
from typing import Annotated, Any

from typer import Argument

from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import OptionGroup, with_options
from kerasbert.cli.outputs.results import Result
from kerasbert.cli.runs.new_task import new_task
from kerasbert.cli.runs.training_run import TrainingRun
from kerasbert.cli.runs.worker_output import output_folder
from kerasbert.training.config import TrainConfig

ConfigFile = Annotated[
    Path | None,
    Argument(
        metavar="[CONFIG.TOML]",
        help="Settings in a TOML file, such as run/config.toml of a model. Options override them.",
    ),
]


@with_options("strict", settings=OptionGroup(TrainConfig, given_only=True))
def train(
    settings: dict[str, Any],
    config: ConfigFile = None,
    resume: options.Resume = False,
    overwrite: options.Overwrite = False,
) -> Result:
    """Fine-tune a checkpoint for a task.

    --model, --train and --out are required, as options or in CONFIG.TOML.

    Example: kerasbert train --task classification --model FOLDER --train train.tsv --dev dev.tsv --out runs/mine
    """
    training = TrainConfig(**{**(TrainConfig.read(config) if config else {}), **settings})
    for name in ("model", "train", "out"):
        training.require(name)
    with output_folder(training.require("out"), training.distribute, resume) as out:
        return _train(training, out, resume, overwrite)


def _train(training: TrainConfig, out: Path, resume: bool, overwrite: bool) -> Result:
    from kerasbert.checkpoints.layer_counts import check_layer_count
    from kerasbert.cli.inputs.training_data import read_data
    from kerasbert.cli.outputs.destinations import check_out_folder

    check_out_folder(out, training.model, resume=resume, overwrite=overwrite)
    if training.top_layers is not None:
        check_layer_count(training.require("model"), training.top_layers, option="--top-layers")
    run = TrainingRun(training, resume, out=out)
    data = read_data(training)
    task = new_task(training, data)
    from kerasbert.training.result import format_metrics

    result = run.fit(task, data.train, data.dev)
    record = run.record(
        result, data.train, data.dev, {},
        task=training.task, model=training.model, labels=task.labels, sequence_length=task.sequence_length,
    )  # fmt: skip
    line = f"saved {out}" + (f": dev {format_metrics(result.dev)}" if result.dev else "")
    return Result({"out": out, "dev": result.dev, **record}, line)
