"""The command line, and the scores of a file, as measurements want them."""

import json
import subprocess
import sys
from pathlib import Path


def kerasbert(*words) -> dict:
    """What `kerasbert WORDS --json` prints. Ends this process, with the command, where that fails."""
    command = [sys.executable, "-m", "kerasbert.cli", *map(str, words), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"exit code {done.returncode} of {' '.join(command)}")
    return json.loads(done.stdout)


def score(
    file: Path,
    data: Path,
    kernels: str = "xnnpack",
    columns: tuple[str | None, str | None, str | None] = (None, None, None),
) -> dict[str, float]:
    """The metrics of a `.tflite` on labelled data. columns: see `finetuning_cases.Case`."""
    from kerasbert.export.runtime.predictor import open_predictor
    from kerasbert.processors import read_for

    predictor = open_predictor(file, kernels=kernels)
    text, pair, label = columns
    table = read_for(predictor.processor.name, data, text=text, pair=pair, label=label)
    return predictor.score(table.x, table.y)
