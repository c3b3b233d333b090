"""The recipe of a zoo file for one task: the commands that make it from an encoder, in `files/NAME.toml`."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from kerasbert.data import assistant
from kerasbert.errors import KerasBertError
from kerasbert.files.record import Record
from kerasbert.files.toml_text import read_toml

BUNDLED = "bundled"  # the assistant data that ship with the package
COMMANDS = ("pretrain", "train", "prune", "distill", "quantize", "convert")
USERS_DATA = ("train", "dev", "unlabelled", "teacher")
# How a command names the model that it reads; for all others it is an argument.
_MODEL_OPTIONS = {"pretrain": "--model", "train": "--model", "distill": "--student"}
_PLACEHOLDER = re.compile(r"{(\w+)}")


@dataclass(frozen=True)
class FileStep:
    """A command that makes a part of the file.

    Attributes:
        command: One of `COMMANDS`.
        options: Its options by name, and `model` where it does not read the result of the command before. `{train}` and the other
            `USERS_DATA` stand for what the user gives, `{1}` for the result of the first command.
    """

    command: str
    options: dict[str, Any]

    def arguments(self, model: str, out: Path, data: dict[str, str]) -> list[str]:
        """Return the command line after `kerasbert`.

        Args:
            model: The model that the command reads, unless its options name another: the encoder, or the result of the command before.
            out: The result.
            data: What the placeholders stand for, by their names.
        """
        option = _MODEL_OPTIONS.get(self.command)
        words = [self.command, *([option] if option else []), _filled(self.options.get("model", model), data)]
        for name, value in self.options.items():
            flag = "--" + name.replace("_", "-")
            if value is True:
                words.append(flag)
            elif value is not False and name != "model":
                words += [flag, _filled(value, data)]
        return [*words, "--out", str(out)]


def _filled(value: Any, data: dict[str, str]) -> str:
    """An option's value as text, with paths in place of placeholders."""
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    for placeholder, path in data.items():
        text = text.replace(f"{{{placeholder}}}", path)
    return text


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
            KerasBertError: When the file is missing or not TOML, a command is none of `COMMANDS`, or a placeholder stands for nothing.
        """
        values = read_toml(Path(path), expected="the recipe of a zoo file in TOML")
        steps = []
        for step in values.get("steps", []):
            command = step.pop("command", None)
            if command not in COMMANDS:
                raise KerasBertError(f"{path}: expected a command of {', '.join(COMMANDS)}, received {command!r}")
            known = {*USERS_DATA, *(str(number) for number in range(1, len(steps) + 1))}
            for name in _PLACEHOLDER.findall(str(step)):
                if name not in known:
                    raise KerasBertError(
                        f"{path}: expected {{train}}, another of {', '.join(USERS_DATA)}, or the number of an earlier step, "
                        f"received {{{name}}} in step {len(steps) + 1}"
                    )
            steps.append(FileStep(command, step))
        if not steps or steps[-1].command != "convert":
            raise KerasBertError(f"{path}: expected steps that end with convert, received others; add it")
        return cls.from_dict({**values, "steps": steps}, path)

    def used_data(self) -> list[str]:
        """Return the names of what the user gives, of `USERS_DATA`; `train` and `dev` are no part of it if the data are bundled."""
        text = str([step.options for step in self.steps])
        bundled = ("train", "dev") if self.data == BUNDLED else ()
        return [name for name in USERS_DATA if f"{{{name}}}" in text and name not in bundled]

    def data_files(self, **given: str | None) -> dict[str, str]:
        """Return what the placeholders stand for, by their names: what is given, or the bundled data.

        Args:
            given: What the user gives, by the names of `USERS_DATA`; None for what she does not.

        Raises:
            KerasBertError: When the recipe needs data of the user's and there are none, or has no use for some.
        """
        used, files = self.used_data(), {name: path for name, path in given.items() if path is not None}
        if self.data == BUNDLED:
            files = {"train": str(assistant.path("train")), "dev": str(assistant.path("dev")), **files}
        for name in used:
            if name not in files:
                raise KerasBertError(f"expected --{name} ({self.data}), received none; add it")
        for name in ("unlabelled", "teacher"):
            if name in files and name not in used:
                raise KerasBertError(f"expected no --{name} for this file, received {files[name]}; leave it out")
        return files
