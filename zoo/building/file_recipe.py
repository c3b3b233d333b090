"""The recipe of a zoo file for one task: the commands that make it from an encoder, in `files/NAME.toml`."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from kerasbert.data import assistant
from kerasbert.errors import KerasBertError
from kerasbert.files.record import Record
from kerasbert.files.toml_text import read_toml

BUNDLED = "bundled"  # the assistant data that ship with the package
COMMANDS = ("train", "prune", "quantize", "convert")
USERS_DATA = ("train", "dev")


@dataclass(frozen=True)
class FileStep:
    """A command that makes a part of the file.

    Attributes:
        command: One of `COMMANDS`.
        options: Its options by name. `{train}` and `{dev}` stand for the data files.
    """

    command: str
    options: dict[str, Any]

    def arguments(self, model: str, out: Path, data: dict[str, str]) -> list[str]:
        """Return the command line after `kerasbert`.

        Args:
            model: The model that the command reads: the encoder, or the result of the command before.
            out: The result.
            data: The data files by the names of the placeholders.
        """
        source = ["--model", model] if self.command == "train" else [model]
        words = [self.command, *source]
        for name, value in self.options.items():
            flag = "--" + name.replace("_", "-")
            if value is True:
                words.append(flag)
            elif value is not False:
                text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
                for placeholder, path in data.items():
                    text = text.replace(f"{{{placeholder}}}", path)
                words += [flag, text]
        return [*words, "--out", str(out)]


@dataclass(frozen=True)
class FileRecipe(Record):
    """The commands that make a file from an encoder.

    Attributes:
        encoder: The encoder's name in the zoo.
        data: `bundled`, or a description of the data that the user gives.
        steps: The commands, the last one `convert`.
    """

    encoder: str
    data: str
    steps: tuple[FileStep, ...]

    @classmethod
    def read(cls, path: str | os.PathLike) -> Self:
        """Read a recipe.

        Args:
            path: The TOML file.

        Raises:
            KerasBertError: When the file is missing or not TOML, or a command is none of `COMMANDS`.
        """
        values = read_toml(Path(path), expected="the recipe of a zoo file in TOML")
        steps = []
        for step in values.get("steps", []):
            command = step.pop("command", None)
            if command not in COMMANDS:
                raise KerasBertError(f"{path}: expected a command of {', '.join(COMMANDS)}, received {command!r}")
            steps.append(FileStep(command, step))
        if not steps or steps[-1].command != "convert":
            raise KerasBertError(f"{path}: expected steps that end with convert, received others; add it")
        return cls.from_dict({**values, "steps": steps}, path)

    def used_data(self) -> list[str]:
        """Return the names of the data files that the user gives: of `train` and `dev`; none if the data are bundled."""
        if self.data == BUNDLED:
            return []
        text = str([step.options for step in self.steps])
        return [name for name in USERS_DATA if f"{{{name}}}" in text]

    def data_files(self, train: str | None, dev: str | None) -> dict[str, str]:
        """Return the data files by the names of the placeholders: those given, or the bundled ones.

        Args:
            train: The training data, or None.
            dev: The development data, or None.

        Raises:
            KerasBertError: When the recipe needs data of the user's and there are none.
        """
        given = {name: path for name, path in zip(USERS_DATA, (train, dev), strict=True) if path is not None}
        if self.data == BUNDLED:
            return {"train": str(assistant.path("train")), "dev": str(assistant.path("dev")), **given}
        missing = [name for name in self.used_data() if name not in given]
        if missing:
            raise KerasBertError(f"expected --{missing[0]} ({self.data}), received none; add the file")
        return given
