"""`kerasbert inspect`."""

from typing import Annotated

from typer import Option

from kerasbert.cli.common import options
from kerasbert.cli.common.results import Result

Targets = Annotated[bool, Option("--targets", help="Tell operator by operator who runs it.")]


def inspect(
    model: options.Model, targets: Targets = False, json: options.Json = False, debug: options.Debug = False
) -> Result:
    """What is inside: operators, sizes by part, parameters, quantized share, minimum runtime; or a folder's settings.

    Example: kerasbert inspect model.tflite --targets
    """
    from kerasbert.cli.common.models import is_tflite
    from kerasbert.errors import KerasBertError

    if is_tflite(model):
        from kerasbert.export.inspection import inspect as run

        found = run(model)
        if not targets:
            return Result(found.as_dict(), found.blocks())
        from kerasbert.export.backends.rules.coverage import placement

        placed = placement(model)
        return Result({**found.as_dict(), "targets": placed.as_dict()["operators"]}, placed.blocks())
    if targets:
        raise KerasBertError(f"expected a .tflite file for --targets, received {model}, which is none")
    from kerasbert.cli.common.describe_folder import describe_folder
    from kerasbert.console.tables import Facts

    facts = describe_folder(model)
    shown = [
        (name.replace("_", " "), ", ".join(map(str, v)) if isinstance(v, list | tuple) else str(v))
        for name, v in facts.items()
    ]
    return Result(facts, Facts(shown))
