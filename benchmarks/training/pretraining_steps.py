"""The losses of the steps of pretraining against PyTorch transformers: the same weights, rows, masks, rates and clipping.

    python -m benchmarks.training.pretraining_steps --text corpus.txt.gz --peer-python peers/bin/python

Both sides load one folder with random weights and no dropout, and train on the same masked rows with AdamW. The result has the loss of
every `--every`-th step on both sides. Sums in other orders make small differences, which training enlarges from step to step.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.common import record
from benchmarks.common.interleaved import Worker
from benchmarks.training.pretraining_throughput import PACKAGES, write_inputs
from benchmarks.training.training_throughput import peer_versions


def main() -> None:
    """Train both sides and write the result."""
    arguments = _arguments()
    load = record.load()
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(arguments, Path(folder), arguments.steps, dropout=0.0)
        options = [folder, "--precision", "float32", "--rate", str(arguments.rate), "--steps", str(arguments.steps)]
        ours = Worker(
            "keras", [sys.executable, "-m", "benchmarks.training.pretraining_keras", *options, "--step-losses"]
        )
        peer = Worker("pytorch", [arguments.peer_python, "-m", "benchmarks.training.pretraining_pytorch", *options])
        losses: list[dict[str, float]] = []
        try:
            for step in range(arguments.every, arguments.steps + 1, arguments.every):
                found = {worker.name: worker.ask(steps=arguments.every)["loss"] for worker in (ours, peer)}
                losses.append({"step": step, **found})
                print(losses[-1], flush=True)
        finally:
            ours.close()
            peer.close()
    differences = [abs(each["keras"] - each["pytorch"]) / each["pytorch"] for each in losses]
    result = {
        "model": arguments.model, "vocabulary": arguments.vocabulary_size, "batch": arguments.batch, "length": arguments.length,
        "rate": arguments.rate, "losses": losses, "largest_relative_difference": max(differences),
    }  # fmt: skip
    record.write(arguments.json, result, {**record.versions(PACKAGES), **peer_versions(arguments.peer_python)}, load)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", required=True, metavar="FILE|FOLDER", help="running text, a line each")
    parser.add_argument(
        "--peer-python", required=True, metavar="PYTHON", help="of the environment of requirements-peers.txt"
    )
    parser.add_argument("--model", default="bert-tiny", help="preset or config.json (bert-tiny)")
    parser.add_argument("--vocabulary-size", type=int, default=2_000)
    parser.add_argument("--length", type=int, default=64, help="tokens of a row")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--rate", type=float, default=1e-3)
    record.add_output(parser, "pretraining_steps")
    return parser.parse_args()


if __name__ == "__main__":
    main()
