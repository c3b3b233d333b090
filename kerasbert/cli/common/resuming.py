"""Going on with an interrupted `quantize`, `prune` or `distill`: the same command once more, with --resume."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from typer import Option

from kerasbert.errors import KerasBertError
from kerasbert.training.config import named

Resume = Annotated[bool, Option("--resume", help="Go on with this command where it was interrupted in --out.")]
# What changes nothing of what is trained.
_ANYWAY = ("resume", "overwrite", "json", "debug")


def asked_options(values: Mapping[str, object]) -> dict[str, object]:
    """A command's options as they were given, JSON-able. values: all of its arguments by name."""
    return {
        name: str(value) if isinstance(value, Path) else value for name, value in values.items() if name not in _ANYWAY
    }


def run_folder(out: Path, options: Mapping[str, object], resume: bool):
    """The `RunFolder` inside `out`, looked at before anything is loaded.

    Raises KerasBertError where `resume` is asked for and no run with these very options was interrupted there.
    """
    from kerasbert.training.run_folder import RunFolder, nothing_to_resume

    folder = RunFolder(out)
    if not resume:
        return folder
    begun = folder.read_command()
    if begun is None:
        raise nothing_to_resume(folder)
    for name in {**begun, **options}:
        if begun.get(name) != options.get(name):
            raise KerasBertError(
                f"expected the options with which the training was begun, received {named(name)} {options.get(name)!r} in place of "
                f"{begun.get(name)!r}; --overwrite, in the place of --resume, begins anew"
            )
    return folder
