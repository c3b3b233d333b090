"""Every architecture and head on every backend: complete delegation, and errors against the Keras model and the CPU.

    python -m benchmarks.backends.targets --texts dev.tsv --vocabulary vocab.txt
    python -m benchmarks.backends.targets --trained models/sst-2-1 sst2-dev.tsv sst2-train.tsv --sizes

Measured: for each model, recipe and target the status of each backend's checks and the largest errors. The first command uses random
weights, a harder test than trained ones because no prediction is confident. The second adds a trained model with labelled rows, which
compares the task's metric too, by the recipes' own tolerances. `--sizes` without values omits the random models.
`benchmarks.backends.small_models` trains a model of each architecture and head.

Of each model a float32 file, a calibrated static int8 file and one of the target's default recipe are made for cpu, gpu and web. Each is
validated on that backend against the Keras model and against the same file on the CPU. A GPU does not quantize activations at run time as a
CPU does, so int8 files are also validated against the CPU with float activations. Backends that the machine lacks are `not run`. Runs in
the result file are kept.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.backends.float_activation_reference import with_float_activations
from benchmarks.backends.small_models import ARCHITECTURES, HEADS, SIZES, small_model
from benchmarks.common import record

PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "ai-edge-quantizer", "numpy")
TRAINED, TRAINED_ROWS = "trained", 200
DEFAULT = "default"
RECIPES = ("float32", "static_wi8_ai8", DEFAULT)
SIDES = ("to_keras", "to_file_on_cpu", "to_floats_on_cpu")
TARGETS = {"cpu": "cpu", "gpu": "gpu", "web": "web"}  # target: backend


def main() -> None:
    """Measure what the result file lacks and write it after each run."""
    arguments = _arguments()
    load = record.load()
    runs = json.loads(arguments.json.read_text("utf-8"))["runs"] if arguments.json.is_file() else []
    done = {(run["size"], run["architecture"], run["head"], run["recipe"], run["target"]) for run in runs}
    for size, architecture, head, open_case in _models(arguments):
        keys = [(size, architecture, head, recipe, target) for recipe in RECIPES for target in TARGETS]
        case = None
        for key in keys:
            if key in done:
                continue
            case = case or open_case()
            runs.append(dict(zip(("size", "architecture", "head", "recipe", "target"), key, strict=True)))
            runs[-1] |= _run(case, *key[3:])
            print(*key, _format_line(runs[-1]), flush=True)
            result = {"summary": _summary(runs), "runs": runs}
            record.write(arguments.json, result, record.versions(PACKAGES), load)


@dataclass(frozen=True)
class Case:
    """A model with its data.

    Attributes:
        model: The task.
        data: Rows to compare on.
        calibration: Examples for static ranges.
        rows: The number of rows to compare.
        tolerance: The largest error allowed; None takes the recipe's.
        length: Tokens of the file; None takes the model's.
    """

    model: Any
    data: Any
    calibration: Any
    rows: int
    tolerance: float | None
    length: int | None = None


def _models(arguments: argparse.Namespace) -> Iterator[tuple[str, str, str, Callable[[], Case]]]:
    """Yield size, architecture and head of every model, and a function that opens it."""
    for size in arguments.sizes:
        for architecture in arguments.architectures:
            for head in HEADS:
                yield size, architecture, head, partial(_random, arguments, size, architecture, head)
    for folder, data, train in arguments.trained:
        settings = json.loads((Path(folder) / "kerasbert.json").read_text("utf-8"))
        yield TRAINED, Path(folder).name, settings["task"], partial(_trained, arguments, folder, data, train)


def _random(arguments: argparse.Namespace, size: str, architecture: str, head: str) -> Case:
    from kerasbert.data import read_table

    texts = read_table(arguments.texts, max_rows=4 * arguments.rows + 64).texts
    words = arguments.vocabulary.read_text("utf-8").splitlines()
    model = small_model(words, size, architecture, head, arguments.length)
    pairs = [texts[: arguments.rows], texts[arguments.rows : 2 * arguments.rows]]
    data = model.pack(*pairs) if model.processor.name == "question_answering" else model.pack(pairs[0])
    calibration = texts[2 * arguments.rows :]
    if model.processor.name == "question_answering":
        half = len(calibration) // 2
        calibration = [
            {"question": question, "context": context}
            for question, context in zip(calibration[:half], calibration[half:], strict=False)
        ]
    return Case(model, data, calibration, arguments.rows, 1.0)


def _trained(arguments: argparse.Namespace, folder: str, data: str, train: str) -> Case:
    from kerasbert.tasks.auto import load_task

    model = load_task(folder)
    return Case(
        model,
        model.processor.read(Path(data)),
        model.processor.read(Path(train), max_rows=512).x,
        arguments.trained_rows,
        None,
        arguments.trained_length,
    )


def _run(case: Case, recipe: str, target: str) -> dict:
    from kerasbert.export import convert, validate
    from kerasbert.export.lowering.targets import target_named
    from kerasbert.export.tflite.metadata import append

    recipe = target_named(target).default_recipe if recipe == DEFAULT else recipe
    with tempfile.TemporaryDirectory() as folder:
        static = recipe.startswith("static")
        converted = convert(
            case.model,
            recipe=recipe,
            target=target,
            calibration=case.calibration if static else None,
            length=case.length,
        )
        file = converted.save(Path(folder) / "model.tflite")
        sides = {"keras": case.model, "file_on_cpu": file}
        if target != "cpu" and recipe.startswith(("static", "dynamic")):
            sides["floats_on_cpu"] = Path(folder) / "floats.tflite"
            sides["floats_on_cpu"].write_bytes(append(with_float_activations(converted.content), converted.metadata))
        # Metrics of question answering need all windows of a text, so no backend may stop at fewer rows.
        settings = {"data": case.data, "on": TARGETS[target], "rows": case.rows, "reference_rows": sys.maxsize}
        reports = {
            side: validate(file, against=against, tolerance=case.tolerance, **settings)
            for side, against in sides.items()
        }
    checks = {}
    for side, report in reports.items():
        for check in report.checks:
            if check.name in ("signature", "settings", "pipeline"):  # of the file, not of a backend
                continue
            facts = checks.setdefault(
                check.name, {"status": check.status, "device": check.device, "reason": check.reason}
            )
            agreements = [output.agreement for output in check.outputs if output.agreement is not None]
            if check.outputs:
                facts[f"to_{side}"] = {
                    "max_error": max(output.max_error for output in check.outputs),
                    "agreement": min(agreements) if agreements else None,
                }
            if check.metrics:
                facts[f"to_{side}"] |= {"metric": check.metrics[0].name, "share": check.metrics[0].share}
    return {"recipe_used": recipe, "rows": case.rows, "checks": checks}


def _summary(runs: list[dict]) -> dict:
    """Count the files and passed checks and find the largest errors, by size, recipe, target and check."""
    summary: dict = {}
    for run in runs:
        for name, check in run["checks"].items():
            key = f"{run['size']} {run['recipe']} {run['target']} {name}"
            facts = summary.setdefault(key, {"files": 0, "ran": 0, **{side: [] for side in SIDES}})
            facts["files"] += 1
            facts["ran"] += check["status"] == "passed"
            for side in SIDES:
                facts[side] += [check[side]["max_error"]] if side in check else []
    for facts in summary.values():
        for side in SIDES:
            facts[side] = float(np.max(facts[side])) if facts[side] else None
    return summary


def _format_line(run: dict) -> str:
    parts = []
    for name, check in run["checks"].items():
        errors = [f"{check[side]['max_error']:.1e}" for side in SIDES if side in check]
        parts.append(f"{name} {check['status']} {' '.join(errors)}")
    return "; ".join(parts)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", metavar="FILE", help="texts for random models")
    parser.add_argument("--vocabulary", type=Path, metavar="FILE", help="vocab.txt of an uncased checkpoint")
    parser.add_argument("--trained", nargs=3, action="append", default=[], metavar=("MODEL", "DATA", "TRAIN"))
    parser.add_argument("--trained-rows", type=int, default=TRAINED_ROWS)
    parser.add_argument("--trained-length", type=int, default=64, metavar="TOKENS")
    parser.add_argument("--sizes", nargs="*", choices=SIZES, default=list(SIZES))
    parser.add_argument("--architectures", nargs="+", choices=ARCHITECTURES, default=list(ARCHITECTURES))
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--length", type=int, default=32)
    record.add_output(parser, "targets")
    arguments = parser.parse_args()
    if arguments.sizes and not (arguments.texts and arguments.vocabulary):
        parser.error("expected --texts and --vocabulary for random models; give them, or --sizes without values")
    return arguments


if __name__ == "__main__":
    main()
