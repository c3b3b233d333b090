"""The kerasbert command line with JSON output, and metrics of `.tflite` files."""

import json
import subprocess
import sys
from pathlib import Path


def kerasbert(*arguments: object) -> dict:
    """Run `kerasbert ARGUMENTS --json` and parse its output.

    Raises:
        SystemExit: When the command fails; the message has the whole command.
    """
    command = [sys.executable, "-m", "kerasbert.cli", *map(str, arguments), "--json"]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if process.returncode:
        sys.exit(f"expected exit code 0, received {process.returncode} of {' '.join(command)}")
    return json.loads(process.stdout)


def score(
    file: Path,
    data: Path,
    kernels: str = "xnnpack",
    columns: tuple[str | None, str | None, str | None] = (None, None, None),
) -> dict[str, float]:
    """Compute the metrics of a `.tflite` file on labelled data.

    Args:
        file: The model.
        data: A file of labelled rows.
        kernels: `xnnpack` or `reference`.
        columns: Of text, second text and label; None finds them by name.
    """
    from kerasbert.export.runtime.opening import open_pipeline
    from kerasbert.processors import read_for

    predictor = open_pipeline(file, kernels=kernels)
    text, pair, label = columns
    table = read_for(predictor.processor.name, data, text=text, pair=pair, label=label)
    return predictor.score(table.x, table.y)
