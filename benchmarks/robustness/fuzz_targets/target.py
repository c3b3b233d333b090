"""A reader of files with valid inputs, and how its uses are tried."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Target:
    """A reader with valid inputs.

    Attributes:
        name: For results.
        read: Takes the folder with the files, reads them and uses the result like a command.
        seeds: Makes the valid inputs, each as files by name.
        damaged: The files to damage, one at a time; by default all.
        slow: Whether an input takes milliseconds; such a reader gets few inputs in the tests.
    """

    name: str
    read: Callable[[Path], object]
    seeds: Callable[[], list[dict[str, bytes]]]
    damaged: tuple[str, ...] = ()
    slow: bool = False


def files_of(target: Target, seed: Mapping[str, bytes]) -> list[str]:
    """List the files of a valid input that may be damaged."""
    return [name for name in seed if not target.damaged or name in target.damaged]


def try_all(*uses: Callable[[], object]) -> None:
    """Run all uses; raises the first error if every use fails."""
    from kerasbert.errors import KerasBertError

    refused = []
    for use in uses:
        try:
            use()
        except KerasBertError as error:
            str(error).encode("utf-8")
            refused.append(error)
    if len(refused) == len(uses):
        raise refused[0]
