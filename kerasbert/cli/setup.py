"""`kerasbert setup`."""

from typing import Annotated

from typer import Argument

from kerasbert.cli.arguments.option_groups import with_options
from kerasbert.cli.outputs.results import Result

Names = Annotated[list[str] | None, Argument(metavar="NAME...", help="Environments to create. Default: list all.")]


@with_options()
def setup(names: Names = None) -> Result:
    """Create the separate environments that some validation backends and `kerasbert web` need, in $KERASBERT_HOME or the user's cache.

    Example: kerasbert setup tflite-2.14
    """
    from kerasbert.cli.process.progress import note, progress
    from kerasbert.console.tables import Table
    from kerasbert.errors import KerasBertError
    from kerasbert.export.backends.environments.known import ENVIRONMENTS

    names = names or []
    if unknown := [name for name in names if name not in ENVIRONMENTS]:
        raise KerasBertError(f"expected environments of {', '.join(ENVIRONMENTS)}, received {unknown[0]!r}")
    for name in names:
        with progress(f"creating {name}"):
            ENVIRONMENTS[name].make(note)
    environments = {
        name: {
            "purpose": each.purpose,
            "packages": each.packages,
            "folder": each.folder,
            "ready": each.ready,
        }
        for name, each in ENVIRONMENTS.items()
    }
    rows = [
        (name, each["purpose"], "ready" if each["ready"] else "not created", str(each["folder"]))
        for name, each in environments.items()
    ]
    return Result({"environments": environments}, Table(("name", "for", "state", "folder"), rows))
