"""The same small BERT, pretrained with six objectives on the same text: losses and accuracies over the tokens that were read.

    python -m benchmarks.training.pretraining_curves --text corpus.txt.gz --dev dev.txt --work runs/curves

The encoder is BERT-mini (4 layers, 256 numbers) with a vocabulary that the first run learns. Every run has the same steps, batches and
rate. Losses of different objectives are not comparable: the result has those of each objective, and the accuracy on the masked words of
the dev text where an objective learns them.

A run in `--work` that was interrupted is continued, and one that has ended is not repeated. The result is written after each run.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.common import record
from benchmarks.common.commands import kerasbert

PACKAGES = ("tensorflow", "tf-keras", "tokenizers", "numpy")
RUNS: dict[str, tuple[str, ...]] = {
    "masked words": ("masked-lm",),
    "whole words": ("masked-lm", "--masking", "words"),
    "spans, span boundary": ("masked-lm,span-boundary", "--masking", "spans"),
    "masked words, next sentence": ("masked-lm,next-sentence",),
    "masked words, sentence order": ("masked-lm,sentence-order",),
    "replaced tokens": ("replaced-tokens",),
}


def main() -> None:
    """Train what `--work` lacks and write the result after each run."""
    arguments = _arguments()
    load, runs = record.load(), {}
    for name in arguments.runs:
        runs[name] = _trained(arguments, name)
        print(name, json.dumps(runs[name]["evaluations"][-1]), flush=True)
        settings = {
            "model": arguments.model, "batch": arguments.batch, "length": arguments.length, "steps": arguments.steps,
            "precision": arguments.precision, "tokens": arguments.batch * arguments.length * arguments.steps,
        }  # fmt: skip
        record.write(arguments.json, {**settings, "runs": runs}, record.versions(PACKAGES), load)


def _trained(arguments: argparse.Namespace, name: str) -> dict[str, Any]:
    out, first = (arguments.work / each.replace(",", "").replace(" ", "-") for each in (name, next(iter(RUNS))))
    kept = out / "training.json"
    if not kept.is_file():
        vocabulary = ("--tokenizer", first) if out != first else ("--vocabulary-size", arguments.vocabulary_size)
        resume = ("--resume",) if (out / "run" / "command.json").is_file() else ()
        kerasbert(
            "pretrain", "--model", arguments.model, "--text", arguments.text, "--dev", arguments.dev, *vocabulary,
            "--objectives", *RUNS[name], "--steps", arguments.steps, "--evaluate-every", max(1, arguments.steps // arguments.evaluations),
            "--batch-size", arguments.batch, "--sequence-length", arguments.length, "--learning-rate", arguments.learning_rate,
            "--precision", arguments.precision, "--checkpoint-minutes", 3, "--out", out, *resume,
        )  # fmt: skip
    ended = json.loads(kept.read_text("utf-8"))
    tokens = arguments.batch * arguments.length * arguments.steps // len(ended["evaluations"])
    evaluations = [{"tokens": tokens * number, **each} for number, each in enumerate(ended["evaluations"], start=1)]
    return {
        "objectives": ended["settings"]["objectives"], "tokens_per_second": ended["tokens_per_second"], "seconds": ended["seconds"],
        "vocabulary": ended["vocabulary"], "evaluations": evaluations,
    }  # fmt: skip


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--text", required=True, metavar="FILE|FOLDER", help="texts, with blank lines between documents"
    )
    parser.add_argument("--dev", required=True, metavar="FILE", help="texts of the evaluations")
    parser.add_argument("--work", type=Path, required=True, metavar="FOLDER", help="the run folders")
    parser.add_argument("--runs", nargs="+", choices=tuple(RUNS), default=list(RUNS))
    parser.add_argument("--model", default="bert-mini", help="preset or config.json (bert-mini)")
    parser.add_argument("--vocabulary-size", type=int, default=16_000)
    parser.add_argument("--steps", type=int, default=8000)
    parser.add_argument("--evaluations", type=int, default=20)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--precision", default="float32", choices=("float32", "bfloat16"))
    record.add_output(parser, "pretraining_curves")
    return parser.parse_args()


if __name__ == "__main__":
    main()
