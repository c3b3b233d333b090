"""Accuracy, size and latency of each quantization method on real tasks, as ratios to float.

    python -m benchmarks.accuracy.quantized_tasks MODELS --data FOLDER

Measured: dev metrics and sizes of the `.tflite` files of every variant. MODELS holds the float models that
`benchmarks.training.finetuning --keep` saved, as CASE-SEED; `--data` the data sets of `benchmarks.common.finetuning_cases`.

Every file runs with XNNPACK, and integer-only files also with the reference kernels. Runs in the result file are kept, so an interrupted
measurement can be continued. With `--idle`, on an otherwise idle machine, latencies of 128 tokens are measured too: the file of each
variant takes turns with the float file of the same model. A trained model's file has the operators of a calibrated one, so it is not timed.
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
    """A quantization method.

    Attributes:
        recipe: Of the file.
        quantize: Options of `kerasbert quantize`; None keeps the model in float.
        trained: Whether training continues. The float control trains as well, since more epochs alone change the accuracy.
    """

    recipe: str
    quantize: tuple[str, ...] | None = None
    trained: bool = False

    @property
    def integer_only(self) -> bool:
        """Whether all arithmetic is in integers."""
        return "--integer-only" in (self.quantize or ())

    def command(self, model: Path, name: str) -> tuple | None:
        """Build the command that makes the model to convert, None for the float model itself.

        Epochs give every data set about the same number of rows. The float model is the teacher.

        Args:
            model: The folder of the float model.
            name: The data set.
        """
        training = ("--epochs", EPOCHS[name], "--max-rows", MAX_ROWS, *DISTILLATION)
        if self.quantize is None:
            return (
                ("distill", "--teacher", model, "--student", model, "--dropout", 0, *training) if self.trained else None
            )
        return ("quantize", model, *self.quantize, *((*training, *FREEZING) if self.trained else ("--epochs", 0)))


LENGTHS = "32,64,128"  # of one file; each row runs at the shortest length that fits
EPOCHS = {"mrpc": 2, "sts-b": 2, "rte": 3, "cola": 1, "conll2003": 1, "sst-2": 1}
MAX_ROWS = 16_000
DISTILLATION = ("--objectives", "soft-labels=1,hidden=1", "--label-weight", "0.5", "--learning-rate", "2e-5")
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
    """Measure what the result file lacks and write it after each run."""
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
                measured = _measure(arguments, name, VARIANTS[variant], model, seed)
                runs.append({"case": name, "variant": variant, "seed": seed, **measured})
                print(
                    name, variant, seed, measured["dev"][CASES[name].metric], f"{measured['bytes']:,} bytes", flush=True
                )
                record.write(arguments.json, _result(runs, latencies), record.versions(PACKAGES), load)
    if arguments.idle:
        latencies = _measure_latencies(arguments, arguments.cases[0], arguments.seeds[0])
        record.write(arguments.json, _result(runs, latencies), record.versions(PACKAGES), load)


def _measure(arguments: argparse.Namespace, name: str, variant: Variant, model: Path, seed: int) -> dict:
    case = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.tflite"
        trained, converted = _convert(arguments, name, variant, model, seed, file, LENGTHS)
        speed = {key: trained[key] for key in ("seconds", "examples_per_second") if trained}
        dev = {}
        for kernels in ("xnnpack", *(("reference",) if variant.integer_only else ())):
            dev[kernels] = score(file, arguments.data / case.dev, kernels, case.columns)
        return {
            **speed, "bytes": converted["bytes"], "length": converted["sequence_length"], "dev": dev["xnnpack"],
            **({"dev_reference_kernels": dev["reference"]} if "reference" in dev else {}),
        }  # fmt: skip


def _convert(
    arguments: argparse.Namespace, name: str, variant: Variant, model: Path, seed: int, file: Path, length: str | int
) -> tuple[dict, dict]:
    """Write the variant's file; returns the output of the commands that trained and converted."""
    case, source, trained = CASES[name], model, {}
    columns = zip(("--text-column", "--pair-column", "--label-column"), case.columns, strict=True)
    columns = [part for option, value in columns if value is not None for part in (option, value)]
    if command := variant.command(model, name):
        source = file.with_name(f"{file.stem}-trained")
        trained = kerasbert(*command, "--train", arguments.data / case.train, "--out", source, "--seed", seed, *columns)
    return trained, kerasbert("convert", source, "--recipe", variant.recipe, "--length", length, "-o", file)


def _measure_latencies(arguments: argparse.Namespace, name: str, seed: int) -> dict:
    """Measure the median seconds of a row and their ratio to the float file, for each variant without training."""
    model, latencies = arguments.models / f"{name}-{seed}", {}
    with tempfile.TemporaryDirectory() as folder:
        floats = Path(folder) / "float32.tflite"
        for variant_name, variant in VARIANTS.items():
            if variant.trained:
                continue
            file = Path(folder) / f"{variant_name}.tflite"
            _convert(arguments, name, variant, model, seed, file, 128)
            output = kerasbert("benchmark", file, *(() if file == floats else ("--against", floats)), "--runs", 200)
            seconds, ratio = output["measurements"][0]["latency"]["p50"], 1.0
            for comparison in output["comparisons"]:
                seconds = comparison["latency"]["p50"]
                ratio = seconds / comparison["against_latency"]["p50"]
            latencies[variant_name] = {"p50": seconds, "ratio_to_float": ratio}
            print(variant_name, f"{seconds * 1e3:.2f} ms, x{ratio:.2f}", flush=True)
    return latencies


def _result(runs: list[dict], latencies: dict) -> dict:
    """Run, latencies and a summary per variant: mean metrics and their ratios to float.

    Trained variants also have ratios to the float control, which separates the effect of training from that of quantization.
    """
    summary = {}
    for variant in dict.fromkeys(run["variant"] for run in runs):
        references = ("float32", *((CONTROL,) if VARIANTS[variant].trained else ()))
        for name, scores in {variant: "dev", f"{variant}_reference_kernels": "dev_reference_kernels"}.items():
            selected = [run for run in runs if run["variant"] == variant and scores in run]
            if selected:
                summary[name] = {
                    "metrics": _mean_by_case(selected, lambda run, scores=scores: _metric(run, scores)),
                    "shares": {reference: _ratios(runs, selected, scores, reference) for reference in references},
                    "seeds": sorted({run["seed"] for run in selected}),
                }
    return {"summary": summary, "latencies": latencies, "runs": runs}


def _ratios(runs: list[dict], selected: list[dict], scores: str, reference: str) -> dict:
    """Ratios of metrics to the reference variant's on the same case and seed: by case, and their mean."""
    references = {(run["case"], run["seed"]): _metric(run, "dev") for run in runs if run["variant"] == reference}
    paired = [run for run in selected if (run["case"], run["seed"]) in references]
    cases = _mean_by_case(paired, lambda run: _metric(run, scores) / references[run["case"], run["seed"]])
    return {"cases": cases, "mean": float(np.mean(list(cases.values()))) if cases else None}


def _metric(run: dict, scores: str) -> float:
    return run[scores][CASES[run["case"]].metric]


def _mean_by_case(runs: list[dict], value: Callable[[dict], float]) -> dict[str, float]:
    """Average a value over the seeds of each case."""
    cases = dict.fromkeys(run["case"] for run in runs)
    return {case: float(np.mean([value(run) for run in runs if run["case"] == case])) for case in cases}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path, help="float models, as CASE-SEED")
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="the data sets")
    parser.add_argument("--cases", nargs="+", choices=EPOCHS, default=list(EPOCHS))
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--idle", action="store_true", help="the machine is otherwise idle: measure latencies")
    record.add_output(parser, "quantized_tasks")
    return parser.parse_args()


if __name__ == "__main__":
    main()
