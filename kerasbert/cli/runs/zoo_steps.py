"""The commands that make a zoo file, each in a process of its own; finished ones are not repeated."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from kerasbert.children import end_with_this_process, expect_children
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file
from kerasbert.files.model_folder import has_interrupted_run, is_model_folder
from kerasbert.zoo.building.file_recipe import FileRecipe, FileStep

_PROGRAM = __name__.partition(".runs")[0]  # the package of all commands, which runs as a process of its own
_DONE = ".done"  # beside the result of a finished command


def run_steps(recipe: FileRecipe, data: Mapping[str, str], work: Path) -> Path:
    """Run the commands of a recipe; a second call goes on after an interruption.

    Args:
        recipe: The recipe.
        data: The data files by the names of the recipe's placeholders.
        work: The folder of all results.

    Returns:
        The `.tflite` file.

    Raises:
        KerasBertError: When a command fails. Its own message is on stderr.
    """
    work.mkdir(parents=True, exist_ok=True)
    model = recipe.encoder
    for number, step in enumerate(recipe.steps, start=1):
        out = work / (f"{number}-{step.command}" + (".tflite" if step.command == "convert" else ""))
        done = out.with_name(out.name + _DONE)
        arguments = step.arguments(model, out, dict(data))
        if not (done.is_file() and done.read_text("utf-8") == repr(arguments)):
            _run(step, arguments, out)
            with atomic_file(done) as partial:
                partial.write_text(repr(arguments), "utf-8")
        model = str(out)
    return Path(model)


def _run(step: FileStep, arguments: list[str], out: Path) -> None:
    if out.is_dir():
        if has_interrupted_run(out):
            arguments = [*arguments, "--resume"]
        elif is_model_folder(out):
            arguments = [*arguments, "--overwrite"]
    command = end_with_this_process([sys.executable, "-m", _PROGRAM, *arguments])
    expect_children()
    code = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=_terminal(), env=dict(os.environ), check=False
    ).returncode
    if code:
        raise KerasBertError(
            f"expected `kerasbert {step.command}` to end with exit code 0, received {code}; its message is above; the same command goes on"
        )


def _terminal() -> int | None:
    """The descriptor of `sys.stderr`: descriptor 2 may only receive the output of native code. None where a caller has captured it."""
    try:
        return sys.stderr.fileno()
    except (AttributeError, OSError):
        return None
