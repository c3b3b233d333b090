"""The run folder inside a model's folder: settings, metrics as JSON lines, plots, and the state for resuming."""

import contextlib
import dataclasses
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file
from kerasbert.files.durability import sync_file
from kerasbert.files.json_text import read_json_lines, read_json_object
from kerasbert.files.model_folder import (
    COMMAND_FILE,
    CONFIG_FILE,
    RUN_FOLDER,
    STAGES_FOLDER,
    STATE_FILE,
    check_run_folder,
    has_interrupted_run,
    is_model_folder,
)
from kerasbert.files.partials import is_temporary
from kerasbert.files.record import flag
from kerasbert.training.config import TrainConfig

_PLOTS = ("loss.png", "metric.png", "confusion.png")
_RECOMMENDED = ("learning_rate", "rates", "epochs")  # settings whose default is chosen for the model when a run begins
_EVENTS = ".tfevents."  # part of the names of TensorBoard's files


class RunFolder:
    """The folder `run` inside a model's folder.

    - `config.toml`: the settings; `kerasbert train run/config.toml` repeats the run.
    - `command.json`: the options of another command that trains, in place of config.toml.
    - `metrics.jsonl`: a line every 50 steps, and one per epoch with its dev metrics.
    - `plots/`: loss.png, metric.png, confusion.png.
    - `tensorboard/`: with `--tensorboard`.
    - `tokenizer/`: that of a pretraining, until the run is finished.
    - `state.safetensors`: until the run is finished.
    - `stages/`: the models of earlier stages of a run in several stages, until it is finished.

    Args:
        model_folder: The model's folder.

    Example:
        ```python
        from kerasbert.training import RunFolder
        folder = RunFolder("runs/mine")
        folder.unfinished  # False
        folder.records()[-1]  # the metrics of the last epoch
        ```
    """

    def __init__(self, model_folder: str | os.PathLike):
        self.model = Path(model_folder)
        self.path = self.model / RUN_FOLDER
        self.config, self.metrics = self.path / CONFIG_FILE, self.path / "metrics.jsonl"
        self.command = self.path / COMMAND_FILE
        self.state, self.best = self.path / STATE_FILE, self.path / "best.safetensors"
        self.stages = self.path / STAGES_FOLDER
        self.plots, self.tensorboard = self.path / "plots", self.path / "tensorboard"
        self.tokenizer = self.path / "tokenizer"

    @property
    def unfinished(self) -> bool:
        """True if the folder holds an interrupted run that can be resumed."""
        return has_interrupted_run(self.model)

    def begin(self, options: TrainConfig | Mapping[str, Any]) -> None:
        """Create the folder without the files of an earlier run.

        Args:
            options: The config. For a command with more options than a config has: all of its options, JSON-able.

        Raises:
            KerasBertError: When the folder is a link.
        """
        self.clear()
        self.plots.mkdir(parents=True, exist_ok=True)
        if isinstance(options, TrainConfig):
            options.write(self.config)
        else:
            with atomic_file(self.command) as partial:
                partial.write_text(json.dumps(dict(options), indent=2) + "\n", "utf-8")

    def clear(self) -> None:
        """Remove the files of an earlier run and no others.

        The state is removed first, so that a clear that is killed cannot leave a run that looks resumable.

        Raises:
            KerasBertError: When the folder is a link.
        """
        check_run_folder(self.model)
        if not self.path.is_dir():
            return
        shutil.rmtree(self.stages, ignore_errors=True)
        for file in (self.state, self.best, self.config, self.command, self.metrics):
            file.unlink(missing_ok=True)
        self._remove_tokenizer()
        for folder in (self.path, self.plots, self.tensorboard):
            for file in folder.rglob("*"):
                if is_temporary(file.name) or file.parent == self.plots and file.name in _PLOTS or _EVENTS in file.name:
                    file.unlink(missing_ok=True)
        for folder in sorted((self.path, *self.path.rglob("*")), reverse=True):
            with contextlib.suppress(OSError):  # the folder holds files of the user
                folder.rmdir()

    def read_command(self) -> dict[str, Any] | None:
        """Return the options of the command that was interrupted here, or None if there is none."""
        try:
            return read_json_object(self.command) if self.unfinished else None
        except (OSError, ValueError):
            return None

    def log(self, record: Mapping[str, Any]) -> None:
        """Append a line to metrics.jsonl.

        Args:
            record: The metrics and their step, JSON-able.
        """
        with self.metrics.open("a", encoding="utf-8") as file:
            file.write(json.dumps(dict(record)) + "\n")

    def sync(self) -> None:
        """Write metrics.jsonl through to the disk. A state is saved after it, so that a resumed run has all earlier metrics."""
        if self.metrics.is_file():
            sync_file(self.metrics)

    def records(self) -> list[dict[str, Any]]:
        """Read every line of metrics.jsonl.

        Returns:
            The lines in their order.

        Raises:
            KerasBertError: When a line is damaged.
        """
        if not self.metrics.is_file():
            return []
        records = read_json_lines(self.metrics)
        for number, record in enumerate(records, start=1):
            if type(record.get("step")) is not int:
                raise KerasBertError(
                    f"{self.metrics}: expected metrics with a whole number as their step, received {str(record)[:100]} as record "
                    f"{number}; restore the file, or delete it"
                )
        return records

    def rewind(self, step: int) -> None:
        """Remove the metrics of later steps, which a resumed run writes again.

        Args:
            step: The step to go back to.

        Raises:
            KerasBertError: When a line is damaged.
        """
        if self.metrics.is_file():
            content = self.metrics.read_bytes()
            with atomic_file(self.metrics) as partial:  # a kill can truncate the last line
                partial.write_bytes(content[: content.rfind(b"\n") + 1])
        records = [record for record in self.records() if record["step"] <= step]
        with atomic_file(self.metrics) as partial:
            partial.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")

    def finish(self) -> None:
        """Remove the state for resuming: the run is complete."""
        shutil.rmtree(self.stages, ignore_errors=True)
        self.state.unlink(missing_ok=True)
        self.best.unlink(missing_ok=True)
        self._remove_tokenizer()

    def _remove_tokenizer(self) -> None:
        if self.tokenizer.is_dir() and not self.tokenizer.is_symlink():
            shutil.rmtree(self.tokenizer)


def check_resumable(folder: RunFolder, options: TrainConfig | Mapping[str, Any]) -> None:
    """Check that the folder holds an interrupted run with the same settings.

    Args:
        folder: The run folder.
        options: The argument that `RunFolder.begin` received.

    Raises:
        KerasBertError: When there is no such run, or its settings differ.
    """
    if isinstance(options, TrainConfig):
        if not (folder.unfinished and folder.config.is_file()):
            raise KerasBertError(_not_resumable(folder))
        original: Mapping[str, Any] = dataclasses.asdict(TrainConfig(**TrainConfig.read(folder.config)))
        options = dataclasses.asdict(options)
        advice = f"`kerasbert train {folder.config} --resume` continues with the original settings"
    else:
        original = folder.read_command() or {}
        advice = "use the original options, or replace --resume by --overwrite to start again"
        if not original:
            raise KerasBertError(_not_resumable(folder))
    for name in {**original, **options}:
        if name in _RECOMMENDED and options.get(name) in (None, {}):  # as the interrupted run chose
            continue
        if name == "rate_factor" and options.get("learning_rate") is None:  # that run's rates have their factor
            continue
        if original.get(name) != options.get(name):
            raise KerasBertError(
                f"expected the options of the interrupted run, received {flag(name)} {options.get(name)!r} in place of "
                f"{original.get(name)!r}; {advice}"
            )


def _not_resumable(folder: RunFolder) -> str:
    """Return the message for a folder that holds no interrupted run of this command."""
    expected = f"expected an interrupted training in {str(folder.model)!r}"
    if folder.unfinished:
        command = "`kerasbert train`" if folder.config.is_file() else "another command"
        return f"{expected} that this command began, received one that {command} began; resume it with that command"
    if folder.state.is_file():
        return (
            f"{expected}, received one without {CONFIG_FILE}, which holds its settings; restore {folder.config}, or replace --resume by "
            "--overwrite to start again"
        )
    if is_model_folder(folder.model):
        epochs = sum("learning_rate" not in record for record in folder.records())
        length = f" after {epochs} epoch{'s'[: epochs > 1]}" if epochs else ""
        return f"{expected}, received one that finished{length}; use its model, or replace --resume by --overwrite to start again"
    return f"{expected}, received none; leave out --resume to start one"
