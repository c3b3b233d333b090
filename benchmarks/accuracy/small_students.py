"""Accuracy, size and speed of integer-only students, distilled from a trained teacher, against the teacher's dynamic int8 file.

    python -m benchmarks.accuracy.small_students TEACHER --train train.tsv --dev dev.tsv

Measured: dev accuracy in float, with XNNPACK and with the reference kernels, size, and speed relative to the teacher's file.

A student has NoNorm and ReLU, a part of the teacher's layers, and no heads and feed-forward neurons of least importance. It trains in float
first, then with fake quantization. Both files take turns. `--files` keeps the students' files; with `--idle`, on an otherwise idle machine,
the kept files are timed again, because other work slows the two files differently.
"""

import argparse
import json
import tempfile
from pathlib import Path

from benchmarks.common import record
from benchmarks.common.commands import kerasbert, score

PACKAGES = ("tensorflow", "tf-keras", "tensorflow-model-optimization", "ai-edge-litert", "ai-edge-quantizer", "numpy")
SETTINGS = ("layers", "heads", "feed_forward", "length", "epochs", "learning_rate", "objectives", "label_weight")
STATIC, DYNAMIC = "static_wi8_ai8", "dynamic_wi8_afp32"


def main() -> None:
    """Measure what the result file lacks and write it after each run."""
    arguments = _arguments()
    load = record.load()
    runs = json.loads(arguments.json.read_text("utf-8"))["runs"] if arguments.json.is_file() else []
    done = {run["seed"] for run in runs}
    if arguments.files:
        arguments.files.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder)
        teachers = {}
        for recipe in ("float32", DYNAMIC):
            file = workspace / f"{recipe}.tflite"
            kerasbert("convert", arguments.teacher, "--recipe", recipe, "--length", arguments.length, "-o", file)
            teachers[recipe] = {"dev": score(file, arguments.dev), "bytes": file.stat().st_size}
        pruned = workspace / "cut"
        kerasbert(
            "prune", arguments.teacher, "--layers", arguments.layers, "--strategy", "alternate", "--feed-forward", arguments.feed_forward,
            "--heads", arguments.heads, "--heads-per-layer", "--data", arguments.train, "--max-rows", 512, "--out", pruned,
        )  # fmt: skip
        for seed in arguments.seeds:
            if seed in done:
                continue
            file = (arguments.files or workspace) / f"{seed}-student.tflite"
            runs.append(
                {"seed": seed, "idle": arguments.idle, **_train_student(arguments, workspace, pruned, seed, file)}
            )
            runs[-1]["times_as_fast"] = _times_as_fast(file, workspace / f"{DYNAMIC}.tflite")
            print(seed, runs[-1]["dev"], f"{runs[-1]['times_as_fast']:.2f} times as fast as the teacher", flush=True)
            record.write(arguments.json, _result(arguments, teachers, runs), record.versions(PACKAGES), load)
        if arguments.idle and arguments.files:
            for run in runs:
                file = arguments.files / f"{run['seed']}-student.tflite"
                if file.is_file():
                    run |= {"idle": True, "times_as_fast": _times_as_fast(file, workspace / f"{DYNAMIC}.tflite")}
            record.write(arguments.json, _result(arguments, teachers, runs), record.versions(PACKAGES), load)


def _train_student(arguments: argparse.Namespace, workspace: Path, pruned: Path, seed: int, file: Path) -> dict:
    float_student, quantized = (workspace / f"{seed}-{name}" for name in ("float", "int8"))
    data = ("--train", arguments.train, "--seed", seed)
    trained = kerasbert(
        "distill", "--teacher", arguments.teacher, "--student", pruned, "--no-norm", "--objectives", arguments.objectives, "--label-weight",
        arguments.label_weight, "--epochs", arguments.epochs, "--learning-rate", arguments.learning_rate, "--dev", arguments.dev,
        "--sequence-length", arguments.length, *data, "--out", float_student,
    )  # fmt: skip
    kerasbert(
        "quantize", float_student, "--recipe", STATIC, "--integer-only", "--calibration-method", "mse", "--freeze-ranges", "0.8",
        "--epochs", 1, "--objectives", "soft-labels=1,hidden=1", *data, "--out", quantized,
    )  # fmt: skip
    kerasbert("convert", quantized, "--recipe", STATIC, "--length", arguments.length, "-o", file)
    return {
        "parameters": trained["parameters"]["student"], "parameters_without_embeddings": _parameters_without_embeddings(float_student),
        "dev_float": trained["dev_student"], "dev": score(file, arguments.dev),
        "dev_reference_kernels": score(file, arguments.dev, "reference"),
        "bytes": file.stat().st_size, "seconds": trained["seconds"],
    }  # fmt: skip


def _times_as_fast(file: Path, teacher_file: Path) -> float:
    comparison = kerasbert("benchmark", file, "--against", teacher_file, "--runs", 200)["comparisons"][0]
    return comparison["against_latency"]["p50"] / comparison["latency"]["p50"]


def _parameters_without_embeddings(folder: Path) -> int:
    from kerasbert.checkpoints.safetensors_file import read_tensors

    return sum(values.size for name, values in read_tensors(folder).items() if "embeddings" not in name)


def _result(arguments: argparse.Namespace, teachers: dict, runs: list[dict]) -> dict:
    """The runs, and a summary with accuracies as ratios to the float teacher."""
    teacher = teachers["float32"]["dev"]["accuracy"]
    settings = {name: getattr(arguments, name) for name in SETTINGS}
    summary = {
        "share_of_teacher": record.spread([run["dev"]["accuracy"] / teacher for run in runs]),
        "share_of_teacher_in_float": record.spread([run["dev_float"]["accuracy"] / teacher for run in runs]),
        "times_as_fast": record.spread([run["times_as_fast"] for run in runs]),
    }
    return {"settings": settings, "teacher": teachers, "summary": summary, "runs": runs}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("teacher", type=Path, help="a trained float classifier")
    parser.add_argument("--train", type=Path, required=True, metavar="FILE")
    parser.add_argument("--dev", type=Path, required=True, metavar="FILE")
    parser.add_argument("--layers", type=int, default=3, metavar="N")
    parser.add_argument(
        "--feed-forward", type=float, default=0.34, metavar="SHARE", help="fraction of neurons to remove"
    )
    parser.add_argument(
        "--heads", type=float, default=0.25, metavar="SHARE", help="fraction of each layer's heads to remove"
    )
    parser.add_argument("--length", type=int, default=128, metavar="TOKENS")
    parser.add_argument("--epochs", type=int, default=3, metavar="N")
    parser.add_argument("--learning-rate", type=float, default=3e-4, metavar="RATE")
    parser.add_argument("--objectives", default="soft-labels=1,hidden=1", metavar="NAME=WEIGHT,...")
    parser.add_argument("--label-weight", type=float, default=0.5, metavar="X")
    parser.add_argument("--files", type=Path, metavar="FOLDER", help="keep the students' files here")
    parser.add_argument("--idle", action="store_true", help="the machine is otherwise idle")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    record.add_output(parser, "small_students")
    return parser.parse_args()


if __name__ == "__main__":
    main()
