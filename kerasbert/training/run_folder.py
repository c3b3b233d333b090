"""The folder of a training beside its model: settings, metrics as JSON lines, plots, and the state for resuming."""

import contextlib
import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file
from kerasbert.files.json_text import read_json_lines, read_json_object
from kerasbert.files.model_folder import (
    COMMAND_FILE,
    CONFIG_FILE,
    RUN_FOLDER,
    STATE_FILE,
    check_run_folder,
    has_interrupted_run,
    is_model_folder,
)
from kerasbert.files.partials import is_temporary
from kerasbert.training.config import TrainConfig
from kerasbert.training.config_fields import flag

_PLOTS = ("loss.png", "metric.png", "confusion.png")
_EVENTS = ".tfevents."  # in the names of the files that TensorBoard reads


class RunFolder:
    """The folder `run` inside a model's folder.

    config.toml       the settings; `kerasbert train run/config.toml` does it again
    command.json      in its place, the options of another command that trains
    metrics.jsonl     a line every so many steps, and one an epoch with its dev scores
    plots/            loss.png, metric.png, confusion.png
    tensorboard/      with --tensorboard
    state.safetensors while the training is not finished
    """

    def __init__(self, model_folder: str | os.PathLike):
        self.model = Path(model_folder)
        self.path = self.model / RUN_FOLDER
        self.config, self.metrics = self.path / CONFIG_FILE, self.path / "metrics.jsonl"
        self.command = self.path / COMMAND_FILE
        self.state, self.best = self.path / STATE_FILE, self.path / "best.safetensors"
        self.plots, self.tensorboard = self.path / "plots", self.path / "tensorboard"

    @property
    def unfinished(self) -> bool:
        """Whether an interrupted training can go on here."""
        return has_interrupted_run(self.model)

    def begin(self, options: TrainConfig | Mapping[str, Any]) -> None:
        """Makes the folder anew, without the files of an earlier run.

        Args:
            options: The config; or of a training that the config alone does not describe, the options of its command, JSON-able.
        """
        self.clear()
        self.plots.mkdir(parents=True, exist_ok=True)
        if isinstance(options, TrainConfig):
            options.write(self.config)
        else:
            with atomic_file(self.command) as partial:
                partial.write_text(json.dumps(dict(options), indent=2) + "\n", "utf-8")

    def clear(self) -> None:
        """Removes what an earlier run left, and nothing else: the state first, so that what is killed here cannot be resumed by halves.

        Raises KerasBertError where the folder is a link.
        """
        check_run_folder(self.model)
        if not self.path.is_dir():
            return
        for file in (self.state, self.best, self.config, self.command, self.metrics):
            file.unlink(missing_ok=True)
        for folder in (self.path, self.plots, self.tensorboard):
            for file in folder.rglob("*"):
                if is_temporary(file.name) or file.parent == self.plots and file.name in _PLOTS or _EVENTS in file.name:
                    file.unlink(missing_ok=True)
        for folder in sorted((self.path, *self.path.rglob("*")), reverse=True):
            with contextlib.suppress(OSError):  # whoever has put something there keeps it
                folder.rmdir()

    def read_command(self) -> dict | None:
        """The options of the command that was interrupted here; None where there is none."""
        try:
            return read_json_object(self.command) if self.state.is_file() else None
        except (OSError, ValueError):
            return None

    def log(self, record: Mapping) -> None:
        """Adds a line to metrics.jsonl."""
        with self.metrics.open("a", encoding="utf-8") as file:
            file.write(json.dumps(dict(record)) + "\n")

    def records(self) -> list[dict]:
        """Every line of metrics.jsonl. Raises KerasBertError for a damaged one."""
        if not self.metrics.is_file():
            return []
        records = read_json_lines(self.metrics)
        for number, record in enumerate(records, start=1):
            if type(record.get("step")) is not int:
                raise KerasBertError(
                    f"{self.metrics}: expected a line of metrics with its step, a whole number, received {str(record)[:100]} as record "
                    f"{number}; was it edited?"
                )
        return records

    def rewind(self, step: int) -> None:
        """Takes away the lines of steps behind `step`, which a resumed training writes again."""
        if self.metrics.is_file():
            written = self.metrics.read_bytes()
            with atomic_file(self.metrics) as partial:  # without the last line where a kill has cut it
                partial.write_bytes(written[: written.rfind(b"\n") + 1])
        kept = [record for record in self.records() if record["step"] <= step]
        with atomic_file(self.metrics) as partial:
            partial.write_text("".join(json.dumps(record) + "\n" for record in kept), "utf-8")

    def finish(self) -> None:
        """The training is over: there is nothing to resume."""
        self.state.unlink(missing_ok=True)
        self.best.unlink(missing_ok=True)


def nothing_to_resume(folder: RunFolder) -> KerasBertError:
    """What to say where there is no interrupted training to go on with."""
    expected = f"expected an interrupted training in {str(folder.model)!r}"
    if folder.unfinished:
        began = "`kerasbert train`" if folder.config.is_file() else "another command"
        return KerasBertError(f"{expected} that this command began, received one that {began} did; resume it with that")
    if is_model_folder(folder.model):
        epochs = sum("learning_rate" not in record for record in folder.records())
        length = f" after {epochs} epoch{'s'[: epochs > 1]}" if epochs else ""
        return KerasBertError(
            f"{expected}, received one that was finished{length}: its model is there to use; --overwrite, in the place of --resume, begins "
            "anew"
        )
    return KerasBertError(f"{expected}, received none; leave --resume out to begin one")


def check_resumable(folder: RunFolder, options: TrainConfig | Mapping[str, Any]) -> None:
    """Checks that a training with these very settings was interrupted in the folder.

    Args:
        folder: The run folder.
        options: What `RunFolder.begin` took.

    Raises:
        KerasBertError: When there is none, or one with other settings.
    """
    if isinstance(options, TrainConfig):
        if not (folder.unfinished and folder.config.is_file()):
            raise nothing_to_resume(folder)
        begun: Mapping[str, Any] = dataclasses.asdict(TrainConfig(**TrainConfig.read(folder.config)))
        options, advice = (
            dataclasses.asdict(options),
            f"`kerasbert train {folder.config} --resume` goes on with the settings it has",
        )
    else:
        begun, advice = folder.read_command() or {}, "--overwrite, in the place of --resume, begins anew"
        if not begun:
            raise nothing_to_resume(folder)
    for name in {**begun, **options}:
        if begun.get(name) != options.get(name):
            raise KerasBertError(
                f"expected the options with which the training was begun, received {flag(name)} {options.get(name)!r} in place of "
                f"{begun.get(name)!r}; {advice}"
            )
