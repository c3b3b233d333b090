"""Accuracy, compressed size and latency of pruned models at several sparsities, with and without distillation.

    python -m benchmarks.accuracy.sparse_models MODEL --train train.tsv --dev dev.tsv

Measured: accuracy, gzip size, sparsity and latency of each pruned model's dynamic int8 file. It takes turns with the file of the original
model. Distillation uses the original model as teacher.

Models of 50 % sparsity also go through quantization-aware training with their zeros preserved; the zeros of the static file are counted
against the float model's. `--files` keeps trained models in a folder, and the same command continues an interrupted measurement.
"""

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.common import record
from benchmarks.common.commands import kerasbert, score
from kerasbert.checkpoints.safetensors_file import read_tensors
from kerasbert.training.run_folder import RunFolder

DYNAMIC, STATIC = "dynamic_wi8_afp32", "static_wi8_ai8"
DISTILLATION = ("--objectives", "soft-labels=1,hidden=1", "--label-weight", "0.5")
PACKAGES = ("tensorflow", "tf-keras", "tensorflow-model-optimization", "ai-edge-litert", "ai-edge-quantizer", "numpy")


def main() -> None:
    """Measure what the result file lacks and write it after each run."""
    arguments = _arguments()
    load = record.load()
    runs = json.loads(arguments.json.read_text("utf-8"))["runs"] if arguments.json.is_file() else []
    done = {(run["sparsity"], run["distilled"], run["seed"]) for run in runs}
    with tempfile.TemporaryDirectory() as folder:
        workspace = arguments.files or Path(folder)
        workspace.mkdir(parents=True, exist_ok=True)
        original = workspace / "whole.tflite"
        kerasbert("convert", arguments.model, "--recipe", DYNAMIC, "-o", original)
        float_file = workspace / "float.tflite"
        kerasbert("convert", arguments.model, "--recipe", "float32", "-o", float_file)
        reference = {
            "dev": score(original, arguments.dev), "dev_float": score(float_file, arguments.dev),
            "bytes": original.stat().st_size, "gzip_bytes": _gzip_bytes(original),
        }  # fmt: skip
        for seed in arguments.seeds:
            for share in arguments.shares:
                for distilled in (False, True):
                    if (share, distilled, seed) in done:
                        continue
                    measured = _prune(arguments, workspace, share, distilled, seed, original)
                    runs.append({"sparsity": share, "distilled": distilled, "seed": seed, **measured})
                    print(share, distilled, seed, measured["dev"], f"gzip {measured['gzip_bytes']:,} bytes", flush=True)
                    record.write(arguments.json, _result(arguments, reference, runs), record.versions(PACKAGES), load)


def _prune(
    arguments: argparse.Namespace, workspace: Path, share: float, distilled: bool, seed: int, original: Path
) -> dict:
    name = f"{share}-{distilled}-{seed}"
    sparse, file = workspace / f"{name}-sparse", workspace / f"{name}.tflite"
    trained = _train_once(
        sparse, "prune", arguments.model, "--sparsity", share, "--train", arguments.train, "--seed", seed,
        "--epochs", arguments.epochs, "--learning-rate", arguments.learning_rate, *(DISTILLATION if distilled else ()),
    )  # fmt: skip
    kerasbert("convert", sparse, "--recipe", DYNAMIC, "-o", file)
    comparison = kerasbert("benchmark", file, "--against", original, "--runs", 100)["comparisons"][0]
    measured = {
        "dev": score(file, arguments.dev), "bytes": file.stat().st_size, "gzip_bytes": _gzip_bytes(file),
        "zeros": trained["zeros"]["dense"], "seconds": trained["seconds"],
        "latency_ratio": comparison["latency"]["p50"] / comparison["against_latency"]["p50"],
    }  # fmt: skip
    if share == 0.5:
        measured["quantization_aware"] = _quantize(arguments, workspace, sparse, name, seed)
    return measured


def _gzip_bytes(file: Path) -> int:
    from kerasbert.compression import gzip_size

    return gzip_size(file)


def _train_once(out: Path, *arguments: object) -> dict:
    """Run or resume the training command for `out` and return its output; that of a finished one is read from a file."""
    output_file = out.with_name(f"{out.name}.json")
    if not output_file.is_file():
        output = kerasbert(*arguments, "--out", out, *(["--resume"] if RunFolder(out).unfinished else []))
        output_file.write_text(json.dumps(output), "utf-8")
    return json.loads(output_file.read_text("utf-8"))


def _quantize(arguments: argparse.Namespace, workspace: Path, sparse: Path, name: str, seed: int) -> dict:
    """Train the sparse model with fake quantization; measures its static file and counts the zeros."""
    quantized, file = workspace / f"{name}-int8", workspace / f"{name}-int8.tflite"
    _train_once(
        quantized, "quantize", sparse, "--recipe", STATIC, "--train", arguments.train, "--seed", seed, "--freeze-ranges", "0.8"
    )  # fmt: skip
    kerasbert("convert", quantized, "--recipe", STATIC, "-o", file)
    return {
        "dev": score(file, arguments.dev), "bytes": file.stat().st_size, "gzip_bytes": _gzip_bytes(file),
        "zeros_lost": _lost_zeros(sparse, quantized), "zeros_of_file": _file_sparsity(file),
    }  # fmt: skip


def _lost_zeros(before: Path, after: Path) -> int:
    """Count the zeros of pruned kernels that are nonzero in the second folder."""
    first, second = (read_tensors(folder) for folder in (before, after))
    pruned = [name for name, values in first.items() if ".layer." in name and values.ndim == 2]
    return int(sum(np.count_nonzero(second[name][first[name] == 0]) for name in pruned))


def _file_sparsity(file: Path) -> float:
    """Compute the fraction of zeros in the int8 kernels of a file."""
    from ai_edge_litert.interpreter import Interpreter

    from kerasbert.export.tflite.model_file import ModelFile

    graph = ModelFile.read(file).subgraphs[0]
    indices = {operator.inputs[1] for operator in graph.operators if operator.name == "FULLY_CONNECTED"}
    reader = Interpreter(str(file))
    kernels = [reader.get_tensor(index) for index in indices if graph.tensors[index].constant]
    return float(np.mean(np.concatenate([kernel.ravel() for kernel in kernels]) == 0))


def _result(arguments: argparse.Namespace, reference: dict, runs: list[dict]) -> dict:
    """The runs, and a summary per sparsity with accuracies as ratios to the float file."""
    summary = {}
    for share, distilled in dict.fromkeys((run["sparsity"], run["distilled"]) for run in runs):
        selected = [run for run in runs if (run["sparsity"], run["distilled"]) == (share, distilled)]
        shares = [run["dev"]["accuracy"] / reference["dev_float"]["accuracy"] for run in selected]
        summary[f"{share:.0%}{' distilled' if distilled else ''}"] = {
            "share_of_float": record.spread(shares),
            "gzip_bytes": record.spread([run["gzip_bytes"] for run in selected]),
            "latency_ratio": record.spread([run["latency_ratio"] for run in selected]),
        }
    settings = {
        "epochs": arguments.epochs,
        "learning_rate": arguments.learning_rate,
        "learning": " ".join(DISTILLATION),
    }
    return {"settings": settings, "whole": reference, "summary": summary, "runs": runs}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a trained float classifier")
    parser.add_argument("--train", type=Path, required=True, metavar="FILE")
    parser.add_argument("--dev", type=Path, required=True, metavar="FILE")
    parser.add_argument("--shares", nargs="+", type=float, default=[0.5, 0.8, 0.95], help="sparsities")
    parser.add_argument("--files", type=Path, metavar="FOLDER", help="keep trained models here")
    parser.add_argument("--epochs", type=int, default=2, metavar="N")
    parser.add_argument("--learning-rate", type=float, default=2e-4, metavar="RATE")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    record.add_output(parser, "sparse_models")
    return parser.parse_args()


if __name__ == "__main__":
    main()
