"""Commands in a process of their own, such as those that make a zoo file; finished ones are not repeated."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kerasbert.children import end_with_this_process, expect_children
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file
from kerasbert.files.json_text import parse_json, read_json_object
from kerasbert.files.model_folder import has_interrupted_run, is_model_folder
from kerasbert.selection.candidate import Step
from kerasbert.zoo.building.file_recipe import FileRecipe, FileStep

_PROGRAM = __name__.partition(".runs")[0]  # the package of all commands, which runs as a process of its own
_DONE, _LOG = ".done", ".log"  # beside the result of a command: what it returned, and its messages


def run_steps(recipe: FileRecipe, data: Mapping[str, str], work: Path) -> Path:
    """Run the commands of a recipe; a second call goes on after an interruption.

    Args:
        recipe: The recipe.
        data: What the recipe's placeholders stand for, by their names.
        work: The folder of all results.

    Returns:
        The `.tflite` file.

    Raises:
        KerasBertError: When a command fails. Its own message is on stderr.
    """
    model, named = recipe.encoder, dict(data)
    for number, step in enumerate(recipe.steps, start=1):
        out = work / (f"{number}-{step.command}" + (".tflite" if step.command == "convert" else ""))
        run_step(step, step.arguments(model, out, named), out)
        model = named[str(number)] = str(out)
    return Path(model)


def run_commands(commands: Sequence[Step]) -> dict[str, Any]:
    """Run the commands of a candidate, whose messages go to files beside their results; finished ones are not repeated.

    Args:
        commands: The commands.

    Returns:
        What the last one returns.

    Raises:
        KerasBertError: When a command fails.
    """
    result: dict[str, Any] = {}
    for each in commands:
        result = run_step(each.step, each.arguments(), each.out, quiet=True)
    return result


def run_step(step: FileStep, arguments: list[str], out: Path, *, quiet: bool = False) -> dict[str, Any]:
    """Run a command, unless an earlier call with the same arguments has finished it; one that was interrupted goes on.

    Args:
        step: The command.
        arguments: Its command line after `kerasbert`.
        out: Its result.
        quiet: Whether its messages go to a file beside the result, with `.log` added, in place of stderr.

    Returns:
        What the command returns with `--json`.

    Raises:
        KerasBertError: When the command fails.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    done = out.with_name(out.name + _DONE)
    finished = _finished(done)
    if finished.get("arguments") == arguments and out.exists():
        return finished["result"]
    result = _run(step, arguments, out, out.with_name(out.name + _LOG) if quiet else None)
    with atomic_file(done) as partial:
        partial.write_text(json.dumps({"arguments": arguments, "result": result}), "utf-8")
    return result


def _finished(done: Path) -> dict[str, Any]:
    """What a finished command wrote; nothing where there is none, or one of an earlier version: the command then runs again."""
    try:
        return read_json_object(done) if done.is_file() else {}
    except KerasBertError:
        return {}


def _run(step: FileStep, arguments: list[str], out: Path, log: Path | None) -> dict[str, Any]:
    if out.is_dir():
        if has_interrupted_run(out):
            arguments = [*arguments, "--resume"]
        elif is_model_folder(out):
            arguments = [*arguments, "--overwrite"]
    command = end_with_this_process([sys.executable, "-m", _PROGRAM, *arguments, "--json"])
    expect_children()
    with contextlib.ExitStack() as stack:
        errors = _terminal() if log is None else stack.enter_context(open(log, "w", encoding="utf-8"))
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=errors, env=dict(os.environ), check=False)
    if code := done.returncode:
        said = "its message is above" if log is None else _last_error(log)
        raise KerasBertError(
            f"expected `kerasbert {step.command}` to end with exit code 0, received {code}; {said}; the same command goes on"
        )
    return parse_json(done.stdout, f"output of `kerasbert {step.command}`")


def _last_error(log: Path) -> str:
    """The error message at the end of a log, or its last line."""
    lines = [line for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("error: ")]
    return f"{log}: {(errors or lines or ['it said nothing'])[-1].removeprefix('error: ')}"


def _terminal() -> int | None:
    """The descriptor of `sys.stderr`: descriptor 2 may only receive the output of native code. None where a caller has captured it."""
    try:
        return sys.stderr.fileno()
    except (AttributeError, OSError):
        return None
