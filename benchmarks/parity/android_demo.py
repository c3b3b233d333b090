"""The command line of `android_demo`, and files of tasks for which the zoo has none."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common.record import ROOT

RUN = ROOT / "android_demo" / "run"


def run(command: str, *arguments: object, lines: Sequence[str] = ()) -> tuple[list[dict[str, Any]], str]:
    """Run `android_demo/run COMMAND ARGUMENTS` and parse its output, one JSON value a line.

    Args:
        command: The command.
        arguments: The model, and more.
        lines: The lines of the standard input.

    Returns:
        The values, and the standard error.

    Raises:
        SystemExit: When the command fails.
    """
    words = [str(RUN), command, *map(str, arguments)]
    text = "".join(f"{line}\n" for line in lines)
    process = subprocess.run(words, input=text.encode("utf-8"), capture_output=True, check=False)
    errors = process.stderr.decode("utf-8", "replace")
    if process.returncode:
        raise SystemExit(f"expected exit code 0, received {process.returncode} of {' '.join(words)}: {errors}")
    return [json.loads(line) for line in process.stdout.decode("utf-8").split("\n") if line], errors


def untrained_files(folder: Path, encoder: str) -> dict[str, Path]:
    """Convert an encoder with heads of random weights, which is enough to compare two programs that run one file.

    Args:
        folder: The folder of the files.
        encoder: A folder, or a name in the zoo.

    Returns:
        The files by the name of their task type.
    """
    import tf_keras as keras

    import kerasbert as kb

    keras.utils.set_random_seed(0)
    labels = ("calm", "glad", "sad", "tense")
    tasks: dict[str, tuple[type, dict[str, Any], dict[str, Any]]] = {
        "single_label": (kb.TextClassifier, {"labels": ("different", "same")}, {"length": [32, 64, 128]}),
        "multi_label": (
            kb.TextClassifier,
            {"labels": labels, "problem": "multi_label"},
            {"length": 64, "recipe": "float32"},
        ),
        "regression": (kb.TextClassifier, {"problem": "regression"}, {"length": "resizable"}),
        "question_answering": (kb.QuestionAnswerer, {}, {"length": [64, 128]}),
        "multiple_choice": (kb.MultipleChoice, {}, {"length": [32, 64]}),
        "masked_lm": (kb.MaskedLM, {}, {"length": 32}),
    }
    files = {}
    for name, (task_class, settings, options) in tasks.items():
        task = task_class.from_pretrained(encoder, sequence_length=128, **settings)
        files[name] = Path(kb.export.convert(task, **options).save(folder / f"{name}.tflite"))
    return files
