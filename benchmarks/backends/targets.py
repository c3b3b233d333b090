"""Every architecture and kind of head on every backend: does it run there whole, and what does it give?

    python -m benchmarks.backends.targets --texts dev.tsv --vocabulary vocab.txt

Models have random weights, which are a harder test of numbers than trained ones (nothing is decided clearly). Of each, a float32 file, one
in static int8 with calibrated ranges, and one of the target's default recipe are made for cpu, gpu and web, and validated twice on that
backend: against the Keras model, and against the same file on the CPU. Int8 files have denses whose input a CPU quantizes at
run time, and a GPU does not: there they are validated a third time, against the CPU with those denses in floats. Backends
that this machine does not have are `not run`. Results that are there already are kept.

    python -m benchmarks.backends.targets --trained models/sst-2-1 sst2-dev.tsv sst2-train.tsv --sizes

does the same with a model that was trained, on labelled rows: the task's metric is compared too, and the recipes' own tolerances judge.
`small_models.py` trains one of each architecture and head.
`--sizes` without a word leaves the random models out.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.backends.float_activation_reference import float_denses
from benchmarks.backends.small_models import ARCHITECTURES, HEADS, SIZES, small_model
from benchmarks.common import record

PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "ai-edge-quantizer", "numpy")
TRAINED, TRAINED_ROWS = "trained", 200
DEFAULT = "default"
RECIPES = ("float32", "static_wi8_ai8", DEFAULT)
SIDES = ("to_keras", "to_file_on_cpu", "to_floats_on_cpu")
TARGETS = {"cpu": "cpu", "gpu": "gpu", "web": "web"}  # target: backend


def main() -> None:
    arguments = _arguments()
    load = record.load()
    runs = json.loads(arguments.json.read_text("utf-8"))["runs"] if arguments.json.is_file() else []
    done = {(run["size"], run["architecture"], run["head"], run["recipe"], run["target"]) for run in runs}
    for size, architecture, head, open_model in _models(arguments):
        keys = [(size, architecture, head, recipe, target) for recipe in RECIPES for target in TARGETS]
        subject = None
        for key in keys:
            if key in done:
                continue
            subject = subject or open_model()
            runs.append(dict(zip(("size", "architecture", "head", "recipe", "target"), key, strict=True)))
            runs[-1] |= _run(subject, *key[3:])
            print(*key, _line(runs[-1]), flush=True)
            record.write(
                arguments.json,
                {
                    "summary": _summary(runs),
                    "runs": runs,
                },
                record.versions(PACKAGES),
                load,
            )


@dataclass(frozen=True)
class Subject:
    """A model, what to compare and on how many rows of it, and texts to calibrate with. tolerance: the largest error allowed; None: what
    the recipe allows. length: of the file, in tokens; None: the model's."""

    model: object
    data: object
    calibration: list
    rows: int
    tolerance: float | None
    length: int | None = None


def _models(arguments):
    """Size, architecture and head of every model, with what opens it."""
    for size in arguments.sizes:
        for architecture in arguments.architectures:
            for head in HEADS:
                yield size, architecture, head, partial(_random, arguments, size, architecture, head)
    for folder, data, train in arguments.trained:
        card = json.loads((Path(folder) / "kerasbert.json").read_text("utf-8"))
        yield TRAINED, Path(folder).name, card["task"], partial(_trained, arguments, folder, data, train)


def _random(arguments, size: str, architecture: str, head: str) -> Subject:
    from kerasbert.data import read_table

    texts = read_table(arguments.texts, max_rows=4 * arguments.rows + 64).texts
    words = arguments.vocabulary.read_text("utf-8").splitlines()
    model = small_model(words, size, architecture, head, arguments.length)
    pairs = [texts[: arguments.rows], texts[arguments.rows : 2 * arguments.rows]]
    data = model.pack(*pairs) if model.problem == "question_answering" else model.pack(pairs[0])
    calibration = texts[2 * arguments.rows :]
    if model.problem == "question_answering":
        half = len(calibration) // 2
        calibration = [
            {"question": one, "context": other}
            for one, other in zip(calibration[:half], calibration[half:], strict=False)
        ]
    return Subject(model, data, calibration, arguments.rows, 1.0)


def _trained(arguments, folder: str, data: str, train: str) -> Subject:
    from kerasbert.data.reading import read_for
    from kerasbert.tasks.auto import load_task

    model = load_task(folder)
    return Subject(
        model,
        read_for(model.problem, Path(data)),
        read_for(model.problem, Path(train), max_rows=512).x,
        arguments.trained_rows,
        None,
        arguments.trained_length,
    )


def _run(subject: Subject, recipe: str, target: str) -> dict:
    from kerasbert.export import convert, validate
    from kerasbert.export.targets import target_named
    from kerasbert.export.tflite.metadata import append

    recipe = target_named(target).default_recipe if recipe == DEFAULT else recipe
    with tempfile.TemporaryDirectory() as folder:
        static = recipe.startswith("static")
        made = convert(
            subject.model,
            recipe=recipe,
            target=target,
            calibration=subject.calibration if static else None,
            length=subject.length,
        )
        file = made.save(Path(folder) / "model.tflite")
        sides = {"keras": subject.model, "file_on_cpu": file}
        if target != "cpu" and recipe.startswith(("static", "dynamic")):
            sides["floats_on_cpu"] = Path(folder) / "floats.tflite"
            sides["floats_on_cpu"].write_bytes(append(float_denses(made.content), made.metadata))
        # Every window of every row, on every kernel and device: the metric is of whole texts.
        settings = {"data": subject.data, "on": TARGETS[target], "rows": subject.rows, "reference_rows": sys.maxsize}
        found = {
            side: validate(file, against=against, tolerance=subject.tolerance, **settings)
            for side, against in sides.items()
        }
    checks = {}
    for side, report in found.items():
        for check in report.checks:
            if check.name == "signature":
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
    return {"recipe_used": recipe, "rows": subject.rows, "checks": checks}


def _summary(runs: list[dict]) -> dict:
    """Of each recipe, target and check: how many files ran, how many not, and the largest error."""
    found: dict = {}
    for run in runs:
        for name, check in run["checks"].items():
            key = f"{run['size']} {run['recipe']} {run['target']} {name}"
            facts = found.setdefault(key, {"files": 0, "ran": 0, **{side: [] for side in SIDES}})
            facts["files"] += 1
            facts["ran"] += check["status"] == "passed"
            for side in SIDES:
                facts[side] += [check[side]["max_error"]] if side in check else []
    for facts in found.values():
        for side in SIDES:
            facts[side] = float(np.max(facts[side])) if facts[side] else None
    return found


def _line(run: dict) -> str:
    parts = []
    for name, check in run["checks"].items():
        errors = [f"{check[side]['max_error']:.1e}" for side in SIDES if side in check]
        parts.append(f"{name} {check['status']} {' '.join(errors)}")
    return "; ".join(parts)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", metavar="FILE")
    parser.add_argument("--vocabulary", type=Path, metavar="FILE", help="WordPiece, a word a line")
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
        parser.error("models of random weights need --texts and --vocabulary; --sizes without a word leaves them out")
    return arguments


if __name__ == "__main__":
    main()
