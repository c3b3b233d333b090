r"""What each way of quantizing costs on real tasks: the dev scores of the `.tflite` files, their sizes and latencies, as shares of float.

    python -m benchmarks.accuracy.quantized_tasks MODELS --data FOLDER

MODELS holds the float models that finetuning.py trained and kept, as CASE-SEED; `--data` the folders that finetuning_cases.py names. Every
file is scored with XNNPACK, and integer-only ones with the reference kernels too. Results that are there already are kept, so an
interrupted measurement goes on where it stopped. `--idle`, while nothing else runs on the machine, times one row of 128 tokens: each way's
file of one model in turn with the float one's. A trained model's file has the operators of a calibrated one's.
"""

import argparse
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.common import record
from benchmarks.common.commands import kerasbert, score
from benchmarks.common.finetuning_cases import CASES

PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "ai-edge-quantizer", "tensorflow-model-optimization", "numpy")


@dataclass(frozen=True)
class Variant:
    """recipe: of the file. quantize: options of `kerasbert quantize`, or None for a model that stays in float. trained: whether it is
    trained on; a float one is so too, since labels and more epochs may do good or harm by themselves.
    """

    recipe: str
    quantize: tuple[str, ...] | None = None
    trained: bool = False

    @property
    def integer_only(self) -> bool:
        return "--integer-only" in (self.quantize or ())

    def command(self, model: Path, name: str) -> tuple | None:
        """What makes the model that is converted: every data set is seen in about as many rows, and the float model is the teacher."""
        learning = ("--epochs", EPOCHS[name], "--max-rows", MOST_ROWS, *LEARNING)
        if self.quantize is None:
            return (
                ("distill", "--teacher", model, "--student", model, "--dropout", 0, *learning) if self.trained else None
            )
        return ("quantize", model, *self.quantize, *((*learning, *FREEZING) if self.trained else ("--epochs", 0)))


LENGTHS = "32,64,128"  # of one file; each row runs at the shortest that fits it
EPOCHS = {"mrpc": 2, "sts-b": 2, "rte": 3, "cola": 1, "conll2003": 1, "sst-2": 1}
MOST_ROWS = 16_000
LEARNING = ("--objectives", "soft-labels=1,hidden=1", "--label-weight", "0.5", "--learning-rate", "2e-5")
FREEZING = ("--freeze-ranges", "0.8")
STATIC = ("--recipe", "static_wi8_ai8")
INTEGER_ONLY = (*STATIC, "--integer-only", "--calibration-method", "mse")
VARIANTS = {
    "float32": Variant("float32"),
    "float32_trained": Variant("float32", trained=True),
    "dynamic": Variant("dynamic_wi8_afp32"),
    "dynamic_4_bits": Variant("dynamic_wi4_afp32"),
    "static_ptq": Variant("static_wi8_ai8", STATIC),
    "static_qat": Variant("static_wi8_ai8", STATIC, trained=True),
    "integer_ptq": Variant("static_wi8_ai8", INTEGER_ONLY),
    "integer_qat": Variant("static_wi8_ai8", INTEGER_ONLY, trained=True),
}
CONTROL = "float32_trained"


def main() -> None:
    arguments = _arguments()
    load = record.load()
    before = json.loads(arguments.json.read_text("utf-8")) if arguments.json.is_file() else {"runs": []}
    runs, latencies = before["runs"], before.get("latencies", {})
    done = {(run["case"], run["variant"], run["seed"]) for run in runs}
    for seed in arguments.seeds:
        for name in arguments.cases:
            model = arguments.models / f"{name}-{seed}"
            for variant in arguments.variants if model.is_dir() else ():
                if (name, variant, seed) in done:
                    continue
                found = _measured(arguments, name, VARIANTS[variant], model, seed)
                runs.append({"case": name, "variant": variant, "seed": seed, **found})
                print(name, variant, seed, found["dev"][CASES[name].metric], f"{found['bytes']:,} bytes", flush=True)
                record.write(arguments.json, _result(runs, latencies), record.versions(PACKAGES), load)
    if arguments.idle:
        latencies = _latencies(arguments, arguments.cases[0], arguments.seeds[0])
        record.write(arguments.json, _result(runs, latencies), record.versions(PACKAGES), load)


def _measured(arguments, name: str, variant: Variant, model: Path, seed: int) -> dict:
    case = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.tflite"
        trained, converted = _make(arguments, name, variant, model, seed, file, LENGTHS)
        found = {key: trained[key] for key in ("seconds", "examples_per_second") if trained}
        dev = {}
        for kernels in ("xnnpack", *(("reference",) if variant.integer_only else ())):
            dev[kernels] = score(file, arguments.data / case.dev, kernels, case.columns)
        return {
            **found, "bytes": converted["bytes"], "length": converted["sequence_length"], "dev": dev["xnnpack"],
            **({"dev_reference_kernels": dev["reference"]} if "reference" in dev else {}),
        }  # fmt: skip


def _make(arguments, name: str, variant: Variant, model: Path, seed: int, file: Path, length) -> tuple[dict, dict]:
    """Writes the variant's file; what the commands that trained and converted said."""
    case, source, trained = CASES[name], model, {}
    columns = zip(("--text-column", "--pair-column", "--label-column"), case.columns, strict=True)
    columns = [word for option, value in columns if value is not None for word in (option, value)]
    if command := variant.command(model, name):
        source = file.with_name(f"{file.stem}-trained")
        trained = kerasbert(*command, "--train", arguments.data / case.train, "--out", source, "--seed", seed, *columns)
    return trained, kerasbert("convert", source, "--recipe", variant.recipe, "--length", length, "-o", file)


def _latencies(arguments, name: str, seed: int) -> dict:
    """By variant that nothing is trained for: the median seconds of a row, and their ratio to the float file's in the same run."""
    model, found = arguments.models / f"{name}-{seed}", {}
    with tempfile.TemporaryDirectory() as folder:
        floats = Path(folder) / "float32.tflite"
        for variant, made in VARIANTS.items():
            if made.trained:
                continue
            file = Path(folder) / f"{variant}.tflite"
            _make(arguments, name, made, model, seed, file, 128)
            timed = kerasbert("benchmark", file, *(() if file == floats else ("--against", floats)), "--runs", 200)
            seconds, ratio = timed["measurements"][0]["latency"]["p50"], 1.0
            for compared in timed["comparisons"]:
                seconds = compared["latency"]["p50"]
                ratio = seconds / compared["against_latency"]["p50"]
            found[variant] = {"p50": seconds, "ratio_to_float": ratio}
            print(variant, f"{seconds * 1e3:.2f} ms, x{ratio:.2f}", flush=True)
    return found


def _result(runs: list[dict], latencies: dict) -> dict:
    """The runs and latencies, and of each variant: each case's mean metric and share of float, and the mean of those shares; of the trained
    ones also of float trained on, so that what training on does by itself is told from what 8 bits do.
    """
    summary = {}
    for variant in dict.fromkeys(run["variant"] for run in runs):
        references = ("float32", *((CONTROL,) if VARIANTS[variant].trained else ()))
        for name, scores in {variant: "dev", f"{variant}_reference_kernels": "dev_reference_kernels"}.items():
            mine = [run for run in runs if run["variant"] == variant and scores in run]
            if mine:
                summary[name] = {
                    "metrics": _by_case(mine, lambda run, scores=scores: _metric(run, scores)),
                    "shares": {reference: _shares(runs, mine, scores, reference) for reference in references},
                    "seeds": sorted({run["seed"] for run in mine}),
                }
    return {"summary": summary, "latencies": latencies, "runs": runs}


def _shares(runs: list[dict], mine: list[dict], scores: str, reference: str) -> dict:
    """What the metrics are of those of `reference` on the same case and seed: by case, and their mean."""
    whole = {(run["case"], run["seed"]): _metric(run, "dev") for run in runs if run["variant"] == reference}
    beside = [run for run in mine if (run["case"], run["seed"]) in whole]
    cases = _by_case(beside, lambda run: _metric(run, scores) / whole[run["case"], run["seed"]])
    return {"cases": cases, "mean": float(np.mean(list(cases.values()))) if cases else None}


def _metric(run: dict, scores: str) -> float:
    return run[scores][CASES[run["case"]].metric]


def _by_case(runs: list[dict], value: Callable[[dict], float]) -> dict[str, float]:
    """The mean of a value over the seeds."""
    cases = dict.fromkeys(run["case"] for run in runs)
    return {case: float(np.mean([value(run) for run in runs if run["case"] == case])) for case in cases}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--cases", nargs="+", choices=EPOCHS, default=list(EPOCHS))
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--idle", action="store_true", help="nothing else runs on the machine: time it")
    record.add_output(parser, "quantized_tasks")
    return parser.parse_args()


if __name__ == "__main__":
    main()
