"""`kerasbert setup`."""

from typing import Annotated

from typer import Argument

from kerasbert.cli.common import options
from kerasbert.cli.common.results import Result

Names = Annotated[list[str] | None, Argument(metavar="NAME...", help="Which ones; by default they are listed.")]


def setup(names: Names = None, json: options.Json = False, debug: options.Debug = False) -> Result:
    """Make the environments that some validators need for themselves, in the user's cache or in $KERASBERT_HOME.

    Example: kerasbert setup tflite-2.14
    """
    from kerasbert.cli.common.progress import note, progress
    from kerasbert.console.tables import Table
    from kerasbert.errors import KerasBertError
    from kerasbert.export.backends.environments.known import ENVIRONMENTS

    wanted = names or []
    if unknown := [name for name in wanted if name not in ENVIRONMENTS]:
        raise KerasBertError(f"expected environments among {', '.join(ENVIRONMENTS)}, received {unknown[0]!r}")
    for name in wanted:
        with progress(f"making {name}"):
            ENVIRONMENTS[name].make(note)
    found = {
        name: {
            "purpose": each.purpose,
            "packages": each.packages,
            "folder": each.folder,
            "ready": each.ready,
        }
        for name, each in ENVIRONMENTS.items()
    }
    rows = [
        (name, each["purpose"], "ready" if each["ready"] else "not made", str(each["folder"]))
        for name, each in found.items()
    ]
    return Result({"environments": found}, Table(("name", "for", "state", "folder"), rows))
