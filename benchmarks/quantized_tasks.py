r"""What each way of quantizing costs on real tasks: the dev scores of the `.tflite` files, their sizes and latencies, as shares of float.

    python benchmarks/quantized_tasks.py MODELS --data FOLDER

MODELS holds the float models that finetuning.py trained and kept, as CASE-SEED; `--data` the folders that finetuning_cases.py names. Every
file is scored with XNNPACK, and integer-only ones with the reference kernels too. Results that are there already are kept, so an
interrupted measurement goes on where it stopped. Latencies are of one row of the file's greatest length, and count with `--idle` only.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import record
from commands import kerasbert, score
from finetuning_cases import CASES

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
INTEGER_ONLY = (*STATIC, "--integer-only", "--ranges", "mse")
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


def main() -> None:
    arguments = _arguments()
    load = record.load()
    runs = json.loads(arguments.json.read_text("utf-8"))["runs"] if arguments.json.is_file() else []
    done = {(run["case"], run["variant"], run["seed"]) for run in runs}
    for seed in arguments.seeds:
        for name in arguments.cases:
            model = arguments.models / f"{name}-{seed}"
            for variant in arguments.variants if model.is_dir() else ():
                if (name, variant, seed) in done:
                    continue
                found = _measured(arguments, name, VARIANTS[variant], model, seed)
                runs.append({"case": name, "variant": variant, "seed": seed, "idle": arguments.idle, **found})
                print(name, variant, seed, found["dev"][CASES[name].metric], f"{found['bytes']:,} bytes", flush=True)
                record.write(arguments.json, _result(runs), record.versions(PACKAGES), load)


def _measured(arguments, name: str, variant: Variant, model: Path, seed: int) -> dict:
    case = CASES[name]
    columns = zip(("--text-column", "--pair-column", "--label-column"), case.columns, strict=True)
    columns = [word for option, value in columns if value is not None for word in (option, value)]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        source, file = model, Path(folder) / "model.tflite"
        if command := variant.command(model, name):
            source = Path(folder) / "trained"
            trained = kerasbert(
                *command, "--train", arguments.data / case.train, "--out", source, "--seed", seed, *columns
            )
            found = {key: trained[key] for key in ("seconds", "examples_per_second")}
        converted = kerasbert("convert", source, "--recipe", variant.recipe, "--length", LENGTHS, "-o", file)
        latency = kerasbert("benchmark", file)["measurements"][0]
        dev = {}
        for kernels in ("xnnpack", *(("reference",) if variant.integer_only else ())):
            dev[kernels] = score(file, arguments.data / case.dev, kernels, case.columns)
        return {
            **found, "bytes": converted["bytes"], "length": converted["sequence_length"], "latency": latency, "dev": dev["xnnpack"],
            **({"dev_reference_kernels": dev["reference"]} if "reference" in dev else {}),
        }  # fmt: skip


def _result(runs: list[dict]) -> dict:
    """The runs, and of each variant: each case's mean share of float, and the mean of those over the cases."""
    shares = {
        variant: {case: list(_shares(runs, case, variant)) for case in dict.fromkeys(run["case"] for run in runs)}
        for variant in dict.fromkeys(run["variant"] for run in runs)
    }
    summary = {}
    for variant, cases in shares.items():
        means = {case: float(np.mean(found)) for case, found in cases.items() if found}
        summary[variant] = {
            "share_of_float": means,
            "mean_share": float(np.mean(list(means.values()))) if means else None,
        }
        summary[variant]["seeds"] = {case: len(found) for case, found in cases.items()}
    return {"summary": summary, "runs": runs}


def _shares(runs: list[dict], case: str, variant: str) -> Iterator[float]:
    metric = CASES[case].metric
    floats = {run["seed"]: run["dev"][metric] for run in runs if (run["case"], run["variant"]) == (case, "float32")}
    for run in runs:
        if (run["case"], run["variant"]) == (case, variant) and run["seed"] in floats:
            yield run["dev"][metric] / floats[run["seed"]]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--cases", nargs="+", choices=EPOCHS, default=list(EPOCHS))
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--idle", action="store_true", help="nothing else runs on the machine: latencies count")
    record.add_output(parser, "quantized_tasks")
    return parser.parse_args()


if __name__ == "__main__":
    main()
