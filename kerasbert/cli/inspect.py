"""`kerasbert inspect`."""

from typing import Annotated

from typer import Option

from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import with_options
from kerasbert.cli.outputs.results import Result

Targets = Annotated[bool, Option("--targets", help="Show which backends run each operator.")]


@with_options()
def inspect(
    model: options.Model,
    targets: Targets = False,
) -> Result:
    """Show the operators, sizes, parameters and minimum runtime of a .tflite file, or the settings of a folder.

    Example: kerasbert inspect model.tflite --targets
    """
    from kerasbert.errors import KerasBertError
    from kerasbert.export.tflite.file_kind import is_tflite

    if is_tflite(model):
        from kerasbert.export.measurement.inspection import inspect as run

        inspection = run(model)
        if not targets:
            return Result(inspection.as_dict(), inspection.blocks())
        from kerasbert.export.backends.coverage import placement

        coverage = placement(model)
        return Result({**inspection.as_dict(), "targets": coverage.as_dict()["operators"]}, coverage.blocks())
    if targets:
        raise KerasBertError(f"expected a .tflite file for --targets, received {model}, a folder; convert it first")
    from kerasbert.cli.outputs.describe_folder import describe_folder
    from kerasbert.console.tables import Facts

    facts = describe_folder(model)
    rows = [
        (name.replace("_", " "), ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))
        for name, value in facts.items()
    ]
    return Result(facts, Facts(rows))
