r"""Cutting layers, heads, feed-forward neurons and words of a trained model: dev scores, sizes and latencies of the dynamic int8 files.

    python -m benchmarks.accuracy.cut_models MODEL --train train.tsv --dev dev.tsv

Each cut is trained on (`--epochs`), converted, scored, and run in turn with the file of the whole model, so that the ratio of latencies
holds on a busy machine. Words that neither file has are cut without training: the answers must be the same.
"""

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.common import record
from benchmarks.common.commands import kerasbert, score

RECIPE = "dynamic_wi8_afp32"
STRATEGIES = ("top", "bottom", "alternate", "symmetric", "contribution")
PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "ai-edge-quantizer", "numpy")


def main() -> None:
    arguments = _arguments()
    load = record.load()
    data = ("--data", arguments.train)
    cuts = {f"layers_{name}": ("--layers", arguments.layers, "--strategy", name) for name in STRATEGIES}
    cuts["layers_contribution"] += data
    cuts["heads_and_feed_forward"] = ("--heads", "0.5", "--heads-per-layer", "--feed-forward", "0.4", *data)
    runs = json.loads(arguments.json.read_text("utf-8"))["runs"] if arguments.json.is_file() else []
    done = {(run["cut"], run["seed"]) for run in runs}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        whole = place / "whole.tflite"
        kerasbert("convert", arguments.model, "--recipe", RECIPE, "--length", arguments.length, "-o", whole)
        reference = {"bytes": whole.stat().st_size, "dev": score(whole, arguments.dev)}
        for seed in arguments.seeds:
            for name, options in cuts.items():
                if (name, seed) in done:
                    continue
                runs.append(
                    {"cut": name, "seed": seed, **_trained(arguments, place / f"{name}-{seed}", options, seed, whole)}
                )
                print(name, seed, runs[-1]["dev"], f"latency x{runs[-1]['latency_ratio']:.3f}", flush=True)
                record.write(arguments.json, _result(arguments, reference, runs), record.versions(PACKAGES), load)
        words = _words(arguments, place, whole)
        print("vocabulary", words, flush=True)
    record.write(
        arguments.json, {**_result(arguments, reference, runs), "vocabulary": words}, record.versions(PACKAGES), load
    )


def _trained(arguments, place: Path, options: tuple, seed: int, whole: Path) -> dict:
    cut = kerasbert("cut", arguments.model, *options, "--max-rows", 512, "--out", place / "cut")
    kerasbert(
        "train", "--task", "classification", "--model", place / "cut", "--train", arguments.train, "--out", place / "trained",
        "--epochs", arguments.epochs, "--learning-rate", arguments.learning_rate, "--seed", seed,
        "--sequence-length", arguments.length,
    )  # fmt: skip
    file = place / "model.tflite"
    kerasbert("convert", place / "trained", "--recipe", RECIPE, "--length", arguments.length, "-o", file)
    compared = kerasbert("benchmark", file, "--against", whole, "--runs", 100)["comparisons"][0]
    return {
        "parameters": cut["after"]["parameters"], "dev": score(file, arguments.dev),
        "bytes": file.stat().st_size, "latency_ratio": compared["latency"]["p50"] / compared["against_latency"]["p50"],
    }  # fmt: skip


def _words(arguments, place: Path, whole: Path) -> dict:
    """Words that neither training nor dev data have, cut; whether the answers to the dev data stay."""
    corpus, texts = place / "corpus.txt", []
    from kerasbert.data.reading import read_for

    for path in (arguments.train, arguments.dev):
        texts += list(read_for("single_label", path).x)
    corpus.write_text("\n".join(texts) + "\n", "utf-8")
    kerasbert("cut", arguments.model, "--vocabulary", corpus, "--out", place / "words")
    file = place / "words.tflite"
    kerasbert("convert", place / "words", "--recipe", RECIPE, "--length", arguments.length, "-o", file)
    pairs = list(zip(_answers(arguments, whole), _answers(arguments, file), strict=True))
    equal = sum(one == other for one, other in pairs)
    return {"bytes": file.stat().st_size, "answers": len(pairs), "equal_answers": equal}


def _answers(arguments, file: Path) -> list[dict]:
    from kerasbert.data.reading import read_for
    from kerasbert.export.runtime.predictor import open_predictor

    return open_predictor(file).answer(read_for("single_label", arguments.dev).x)


def _result(arguments, reference: dict, runs: list[dict]) -> dict:
    summary = {}
    for name in dict.fromkeys(run["cut"] for run in runs):
        mine = [run for run in runs if run["cut"] == name]
        scores = [run["dev"]["accuracy"] for run in mine]
        summary[name] = {
            "accuracy": {"mean": float(np.mean(scores)), "deviation": float(np.std(scores, ddof=1)) if len(mine) > 1 else None},
            "share": float(np.mean(scores)) / reference["dev"]["accuracy"], "seeds": len(mine), "bytes": mine[0]["bytes"],
            "latency_ratio": float(np.median([run["latency_ratio"] for run in mine])),
        }  # fmt: skip
    settings = {"layers": arguments.layers, "epochs": arguments.epochs, "learning_rate": arguments.learning_rate}
    return {"model": arguments.model.name, "settings": settings, "whole": reference, "summary": summary, "runs": runs}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--train", type=Path, required=True, metavar="FILE")
    parser.add_argument("--dev", type=Path, required=True, metavar="FILE")
    parser.add_argument("--layers", type=int, default=4, metavar="N")
    parser.add_argument("--length", type=int, default=128, metavar="TOKENS", help="of every file")
    parser.add_argument("--epochs", type=int, default=1, metavar="N")
    parser.add_argument("--learning-rate", type=float, default=5e-5, metavar="RATE")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    record.add_output(parser, "cut_models")
    return parser.parse_args()


if __name__ == "__main__":
    main()
