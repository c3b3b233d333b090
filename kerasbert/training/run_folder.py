"""What a run leaves beside its model: the recipe, metrics as JSON lines, plots, and the state for resuming."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.json_text import read_json_lines, read_json_object
from kerasbert.tasks.folders import RUN_FOLDER
from kerasbert.training.recipe import Recipe


class RunFolder:
    """The folder `run` inside a model's folder.

    recipe.toml       what was asked for; `kerasbert train run/recipe.toml` does it again
    command.json      in its place, the options of another command that trains
    metrics.jsonl     a line every so many steps, and one an epoch with its dev scores
    plots/            loss.png, metric.png, confusion.png
    tensorboard/      with --tensorboard
    state.safetensors while the training is not finished
    """

    def __init__(self, model_folder: str | os.PathLike):
        self.model = Path(model_folder)
        self.path = self.model / RUN_FOLDER
        self.recipe, self.metrics = self.path / "recipe.toml", self.path / "metrics.jsonl"
        self.command = self.path / "command.json"
        self.state, self.best = self.path / "state.safetensors", self.path / "best.safetensors"
        self.plots, self.tensorboard = self.path / "plots", self.path / "tensorboard"

    @property
    def unfinished(self) -> bool:
        """Whether an interrupted training can go on here."""
        return self.state.is_file() and (self.recipe.is_file() or self.command.is_file())

    def begin(self, asked: Recipe | Mapping) -> None:
        """Makes the folder anew, without what an earlier run left. asked: the recipe; or of a run that no recipe describes in full, the
        options of its command, JSON-able."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.plots.mkdir(parents=True)
        if isinstance(asked, Recipe):
            asked.write(self.recipe)
        else:
            self.command.write_text(json.dumps(dict(asked), indent=2) + "\n", "utf-8")

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
        """Every line of metrics.jsonl."""
        if not self.metrics.is_file():
            return []
        return read_json_lines(self.metrics)

    def rewind(self, step: int) -> None:
        """Takes away the lines of steps behind `step`, which a resumed training writes again."""
        kept = [record for record in self.records() if record["step"] <= step]
        self.metrics.write_text("".join(json.dumps(record) + "\n" for record in kept), "utf-8")

    def finish(self) -> None:
        """The training is over: there is nothing to resume."""
        self.state.unlink(missing_ok=True)
        self.best.unlink(missing_ok=True)


def check_resumable(folder: RunFolder, recipe: Recipe) -> None:
    """Raises KerasBertError unless a training of this very recipe was interrupted in the folder."""
    if not (folder.unfinished and folder.recipe.is_file()):
        raise KerasBertError(
            f"expected an interrupted training in {folder.model}, received a folder without one; leave --resume out"
        )
    begun = Recipe(**Recipe.read(folder.recipe))
    for name in Recipe.__dataclass_fields__:
        if getattr(begun, name) != getattr(recipe, name):
            raise KerasBertError(
                f"expected the recipe with which the training was begun, received {name} = {getattr(recipe, name)!r} in place of "
                f"{getattr(begun, name)!r}; `kerasbert train {folder.recipe} --resume` goes on with it"
            )
