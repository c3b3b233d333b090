"""Accuracy, size and latency after structured pruning of layers, heads, feed-forward neurons and vocabulary.

    python -m benchmarks.accuracy.cut_models MODEL --train train.tsv --dev dev.tsv

Measured: dev accuracy after `--epochs` of training, and size and latency of the dynamic int8 file. The file takes turns with the file of
the original model, so the ratio of latencies holds on a busy machine.

Tokens that neither data file contains are removed without training; the answers must stay the same.
"""

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.common import record
from benchmarks.common.commands import kerasbert, score
from benchmarks.common.over_seeds import over_seeds

RECIPE = "dynamic_wi8_afp32"
STRATEGIES = ("top", "bottom", "alternate", "symmetric", "contribution")
PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "ai-edge-quantizer", "numpy")


def main() -> None:
    """Measure what the result file lacks and write it after each run."""
    arguments = _arguments()
    load = record.load()
    data = ("--data", arguments.train)
    cuts: dict[str, tuple] = {
        f"layers_{name}": ("--layers", arguments.layers, "--strategy", name) for name in STRATEGIES
    }
    cuts["layers_contribution"] += data
    cuts["heads_and_feed_forward"] = ("--heads", "0.5", "--heads-per-layer", "--feed-forward", "0.4", *data)
    runs = json.loads(arguments.json.read_text("utf-8"))["runs"] if arguments.json.is_file() else []
    done = {(run["cut"], run["seed"]) for run in runs}
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder)
        original = workspace / "whole.tflite"
        kerasbert("convert", arguments.model, "--recipe", RECIPE, "--length", arguments.length, "-o", original)
        reference = {"bytes": original.stat().st_size, "dev": score(original, arguments.dev)}
        for seed in arguments.seeds:
            for name, options in cuts.items():
                if (name, seed) in done:
                    continue
                measured = _prune(arguments, workspace / f"{name}-{seed}", options, seed, original)
                runs.append({"cut": name, "seed": seed, **measured})
                print(name, seed, runs[-1]["dev"], f"latency x{runs[-1]['latency_ratio']:.3f}", flush=True)
                record.write(arguments.json, _result(arguments, reference, runs), record.versions(PACKAGES), load)
        vocabulary = _trim_vocabulary(arguments, workspace, original)
        print("vocabulary", vocabulary, flush=True)
    record.write(
        arguments.json,
        {**_result(arguments, reference, runs), "vocabulary": vocabulary},
        record.versions(PACKAGES),
        load,
    )


def _prune(arguments: argparse.Namespace, workspace: Path, options: tuple, seed: int, original: Path) -> dict:
    pruned = kerasbert("prune", arguments.model, *options, "--max-rows", 512, "--out", workspace / "cut")
    kerasbert(
        "train", "--task", "classification", "--model", workspace / "cut", "--train", arguments.train, "--out", workspace / "trained",
        "--epochs", arguments.epochs, "--learning-rate", arguments.learning_rate, "--seed", seed,
        "--sequence-length", arguments.length,
    )  # fmt: skip
    file = workspace / "model.tflite"
    kerasbert("convert", workspace / "trained", "--recipe", RECIPE, "--length", arguments.length, "-o", file)
    comparison = kerasbert("benchmark", file, "--against", original, "--runs", 100)["comparisons"][0]
    return {
        "parameters": pruned["after"]["parameters"], "dev": score(file, arguments.dev),
        "bytes": file.stat().st_size, "latency_ratio": comparison["latency"]["p50"] / comparison["against_latency"]["p50"],
    }  # fmt: skip


def _trim_vocabulary(arguments: argparse.Namespace, workspace: Path, original: Path) -> dict:
    """Remove the tokens that no data contain; counts the equal answers on the dev data."""
    from kerasbert.processors import read_for

    corpus, texts = workspace / "corpus.txt", []
    for path in (arguments.train, arguments.dev):
        texts += list(read_for("single_label", path).x)
    corpus.write_text("\n".join(texts) + "\n", "utf-8")
    kerasbert("prune", arguments.model, "--vocabulary", corpus, "--out", workspace / "words")
    file = workspace / "words.tflite"
    kerasbert("convert", workspace / "words", "--recipe", RECIPE, "--length", arguments.length, "-o", file)
    pairs = list(zip(_answers(arguments, original), _answers(arguments, file), strict=True))
    equal = sum(first == second for first, second in pairs)
    return {"bytes": file.stat().st_size, "answers": len(pairs), "equal_answers": equal}


def _answers(arguments: argparse.Namespace, file: Path) -> list[dict]:
    from kerasbert.export.runtime.opening import open_pipeline
    from kerasbert.processors import read_for

    return open_pipeline(file).predictions(read_for("single_label", arguments.dev).x)


def _result(arguments: argparse.Namespace, reference: dict, runs: list[dict]) -> dict:
    summary = {}
    for name in dict.fromkeys(run["cut"] for run in runs):
        selected = [run for run in runs if run["cut"] == name]
        scores = [run["dev"]["accuracy"] for run in selected]
        summary[name] = {
            "accuracy": over_seeds(scores),
            "share": float(np.mean(scores)) / reference["dev"]["accuracy"], "seeds": len(selected), "bytes": selected[0]["bytes"],
            "latency_ratio": float(np.median([run["latency_ratio"] for run in selected])),
        }  # fmt: skip
    settings = {"layers": arguments.layers, "epochs": arguments.epochs, "learning_rate": arguments.learning_rate}
    return {"model": arguments.model.name, "settings": settings, "whole": reference, "summary": summary, "runs": runs}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a trained float classifier")
    parser.add_argument("--train", type=Path, required=True, metavar="FILE")
    parser.add_argument("--dev", type=Path, required=True, metavar="FILE")
    parser.add_argument("--layers", type=int, default=4, metavar="N", help="layers that stay")
    parser.add_argument("--length", type=int, default=128, metavar="TOKENS", help="length of every file")
    parser.add_argument("--epochs", type=int, default=1, metavar="N")
    parser.add_argument("--learning-rate", type=float, default=5e-5, metavar="RATE")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    record.add_output(parser, "cut_models")
    return parser.parse_args()


if __name__ == "__main__":
    main()
