r"""What pruning costs on a task and gains in a compressed file: several shares of zeros, alone and learning from the model as it was.

    python -m benchmarks.accuracy.sparse_models MODEL --train train.tsv --dev dev.tsv

Every pruned model becomes a dynamic int8 file, which is scored, packed with gzip, and run in turn with the file of the whole model. One of
50 % is trained on in 8 bits with its zeros kept; zeros of its file are counted against the model's before.
With `--files` what is trained stays in a folder, and the same command goes on where it was interrupted.
"""

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.common import record
from benchmarks.common.commands import kerasbert, score
from kerasbert.checkpoints.safetensors_file import read_tensors
from kerasbert.compression import gzip_size
from kerasbert.training.run_folder import RunFolder

DYNAMIC, STATIC = "dynamic_wi8_afp32", "static_wi8_ai8"
LEARNING = ("--objectives", "soft-labels=1,hidden=1", "--label-weight", "0.5")
PACKAGES = ("tensorflow", "tf-keras", "tensorflow-model-optimization", "ai-edge-litert", "ai-edge-quantizer", "numpy")


def main() -> None:
    arguments = _arguments()
    load = record.load()
    runs = json.loads(arguments.json.read_text("utf-8"))["runs"] if arguments.json.is_file() else []
    done = {(run["sparsity"], run["distilled"], run["seed"]) for run in runs}
    with tempfile.TemporaryDirectory() as folder:
        place = arguments.files or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        whole = place / "whole.tflite"
        kerasbert("convert", arguments.model, "--recipe", DYNAMIC, "-o", whole)
        floats = place / "float.tflite"
        kerasbert("convert", arguments.model, "--recipe", "float32", "-o", floats)
        reference = {
            "dev": score(whole, arguments.dev), "dev_float": score(floats, arguments.dev), "bytes": whole.stat().st_size,
            "gzip_bytes": gzip_size(whole),
        }  # fmt: skip
        for seed in arguments.seeds:
            for share in arguments.shares:
                for distilled in (False, True):
                    if (share, distilled, seed) in done:
                        continue
                    found = _pruned(arguments, place, share, distilled, seed, whole)
                    runs.append({"sparsity": share, "distilled": distilled, "seed": seed, **found})
                    print(share, distilled, seed, found["dev"], f"gzip {found['gzip_bytes']:,} bytes", flush=True)
                    record.write(arguments.json, _result(arguments, reference, runs), record.versions(PACKAGES), load)


def _pruned(arguments, place: Path, share: float, distilled: bool, seed: int, whole: Path) -> dict:
    name = f"{share}-{distilled}-{seed}"
    sparse, file = place / f"{name}-sparse", place / f"{name}.tflite"
    trained = _trained(
        sparse, "prune", arguments.model, "--sparsity", share, "--train", arguments.train, "--seed", seed,
        "--epochs", arguments.epochs, "--learning-rate", arguments.learning_rate, *(LEARNING if distilled else ()),
    )  # fmt: skip
    kerasbert("convert", sparse, "--recipe", DYNAMIC, "-o", file)
    compared = kerasbert("benchmark", file, "--against", whole, "--runs", 100)["comparisons"][0]
    found = {
        "dev": score(file, arguments.dev), "bytes": file.stat().st_size, "gzip_bytes": gzip_size(file), "zeros": trained["zeros"]["dense"],
        "seconds": trained["seconds"], "latency_ratio": compared["latency"]["p50"] / compared["against_latency"]["p50"],
    }  # fmt: skip
    if share == 0.5:
        found["quantization_aware"] = _quantized(arguments, place, sparse, name, seed)
    return found


def _trained(out: Path, *words) -> dict:
    """What the command said that left a model in `out`; run now, gone on with, or read where it is done."""
    said = out.with_name(f"{out.name}.json")
    if not said.is_file():
        found = kerasbert(*words, "--out", out, *(["--resume"] if RunFolder(out).unfinished else []))
        said.write_text(json.dumps(found), "utf-8")
    return json.loads(said.read_text("utf-8"))


def _quantized(arguments, place: Path, sparse: Path, name: str, seed: int) -> dict:
    """The sparse model trained on in 8 bits: its static file, and how many of the zeros are still there."""
    quantized, file = place / f"{name}-int8", place / f"{name}-int8.tflite"
    _trained(
        quantized, "quantize", sparse, "--recipe", STATIC, "--train", arguments.train, "--seed", seed, "--freeze-ranges", "0.8"
    )  # fmt: skip
    kerasbert("convert", quantized, "--recipe", STATIC, "-o", file)
    return {
        "dev": score(file, arguments.dev), "bytes": file.stat().st_size, "gzip_bytes": gzip_size(file),
        "zeros_lost": _lost(sparse, quantized), "zeros_of_file": _file_zeros(file),
    }  # fmt: skip


def _lost(before: Path, after: Path) -> int:
    """How many weights of pruned kernels are 0 in one folder and not in the other."""
    first, second = (read_tensors(folder) for folder in (before, after))
    pruned = [name for name, values in first.items() if ".layer." in name and values.ndim == 2]
    return int(sum(np.count_nonzero(second[name][first[name] == 0]) for name in pruned))


def _file_zeros(file: Path) -> float:
    """The share of zeros in the int8 kernels of the file's layers."""
    from ai_edge_litert.interpreter import Interpreter

    from kerasbert.export.tflite.tflite_file import TFLiteFile

    graph = TFLiteFile.read(file).subgraphs[0]
    indices = {operator.inputs[1] for operator in graph.operators if operator.name == "FULLY_CONNECTED"}
    reader = Interpreter(str(file))
    kernels = [reader.get_tensor(index) for index in indices if graph.tensors[index].constant]
    return float(np.mean(np.concatenate([kernel.ravel() for kernel in kernels]) == 0))


def _result(arguments, reference: dict, runs: list[dict]) -> dict:
    """The runs, and for each kind of them the mean of the accuracies as a share of the float file's."""
    summary = {}
    for share, distilled in dict.fromkeys((run["sparsity"], run["distilled"]) for run in runs):
        mine = [run for run in runs if (run["sparsity"], run["distilled"]) == (share, distilled)]
        shares = [run["dev"]["accuracy"] / reference["dev_float"]["accuracy"] for run in mine]
        summary[f"{share:.0%}{' distilled' if distilled else ''}"] = {
            "share_of_float": record.spread(shares),
            "gzip_bytes": record.spread([run["gzip_bytes"] for run in mine]),
            "latency_ratio": record.spread([run["latency_ratio"] for run in mine]),
        }
    settings = {"epochs": arguments.epochs, "learning_rate": arguments.learning_rate, "learning": " ".join(LEARNING)}
    return {"settings": settings, "whole": reference, "summary": summary, "runs": runs}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--train", type=Path, required=True, metavar="FILE")
    parser.add_argument("--dev", type=Path, required=True, metavar="FILE")
    parser.add_argument("--shares", nargs="+", type=float, default=[0.5, 0.8, 0.95])
    parser.add_argument("--files", type=Path, metavar="FOLDER", help="where what is trained stays")
    parser.add_argument("--epochs", type=int, default=2, metavar="N")
    parser.add_argument("--learning-rate", type=float, default=2e-4, metavar="RATE")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    record.add_output(parser, "sparse_models")
    return parser.parse_args()


if __name__ == "__main__":
    main()
