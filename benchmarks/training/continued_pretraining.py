"""Pretraining that is continued on the texts of a task, then fine-tuning: the score before and after.

    python -m benchmarks.training.continued_pretraining --train subjqa-train.json.gz --dev subjqa-dev.json.gz --work runs/continued

Measured: the score of `kerasbert train` on a question answering task over several seeds, from `--model` as it is, and from the same model
after `kerasbert pretrain` on the paragraphs of the train file: whole words, `--steps` steps. Both are fine-tuned in the same way. Questions
and answers take no part in the pretraining, and the dev file does not either.

An encoder or a run in `--work` that has ended is used again. The result is written after each run.
"""

import argparse
import gzip
import json
import shutil
from pathlib import Path

from benchmarks.common import record
from benchmarks.common.commands import kerasbert
from benchmarks.common.over_seeds import over_seeds

PACKAGES = ("tensorflow", "tf-keras", "tokenizers", "numpy")
TASK = "question-answering"


def main() -> None:
    """Pretrain, fine-tune with all seeds and write the result after each."""
    arguments = _arguments()
    load, runs = record.load(), []
    arguments.work.mkdir(parents=True, exist_ok=True)
    texts = _write_paragraphs(arguments.train, arguments.work / "paragraphs.txt")
    encoders = {"before": arguments.model, "after": _continued(arguments, texts)}
    pretraining = json.loads((Path(encoders["after"]) / "training.json").read_text("utf-8"))
    for seed in arguments.seeds:
        for name, encoder in encoders.items():
            runs.append({"encoder": name, "seed": seed, "metrics": _fine_tuned(arguments, name, encoder, seed)})
            print(json.dumps(runs[-1]), flush=True)
            result = {
                "model": Path(arguments.model).name, "train": record.file_facts(arguments.train), "dev": record.file_facts(arguments.dev),
                "steps": arguments.steps, "batch": arguments.batch, "length": arguments.length, "options": arguments.options,
                "losses": pretraining["evaluations"], "summary": _summary(runs), "runs": runs,
            }  # fmt: skip
            record.write(arguments.json, result, record.versions(PACKAGES), load)


def _write_paragraphs(train: Path, path: Path) -> Path:
    """Write the paragraphs of a file in SQuAD's format, each once: a line of text, with a blank line between articles."""
    with (gzip.open if train.suffix == ".gz" else open)(train, "rt", encoding="utf-8") as file:
        articles = json.load(file)["data"]
    known: set[str] = set()
    lines: list[str] = []
    for article in articles:
        for paragraph in article["paragraphs"]:
            text = " ".join(paragraph["context"].split())
            if text not in known:
                known.add(text)
                lines.append(text)
        lines.append("")
    path.write_text("\n".join(lines), "utf-8")
    return path


def _continued(arguments: argparse.Namespace, texts: Path) -> Path:
    out = arguments.work / "after"
    if not (out / "training.json").is_file():
        shutil.rmtree(out, ignore_errors=True)
        kerasbert(
            "pretrain", "--model", arguments.model, "--text", texts, "--objectives", "masked-lm", "--masking", "words",
            "--steps", arguments.steps, "--evaluate-every", max(1, arguments.steps // 4), "--batch-size", arguments.batch,
            "--sequence-length", arguments.length, "--out", out,
        )  # fmt: skip
    return out


def _fine_tuned(arguments: argparse.Namespace, name: str, encoder: str | Path, seed: int) -> dict[str, float]:
    out = arguments.work / f"{name}-{seed}"
    if not (out / "training.json").is_file():
        shutil.rmtree(out, ignore_errors=True)
        kerasbert(
            "train", "--task", TASK, "--model", encoder, "--train", arguments.train, "--out", out, "--seed", seed, *arguments.options
        )  # fmt: skip
    return kerasbert("evaluate", out, "--data", arguments.dev)["metrics"]


def _summary(runs: list[dict]) -> dict[str, dict]:
    """Return mean and deviation of each metric, before and after."""
    summary: dict[str, dict] = {}
    for name in dict.fromkeys(run["encoder"] for run in runs):
        found = [run["metrics"] for run in runs if run["encoder"] == name]
        summary[name] = {metric: over_seeds([each[metric] for each in found]) for metric in found[0]}
    return summary


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True, metavar="FILE", help="questions in SQuAD's format")
    parser.add_argument("--dev", type=Path, required=True, metavar="FILE", help="others to score on")
    parser.add_argument(
        "--work", type=Path, required=True, metavar="FOLDER", help="the paragraphs, the encoder and the runs"
    )
    parser.add_argument("--model", default="small-en", help="the checkpoint (small-en)")
    parser.add_argument("--steps", type=int, default=1000, help="of pretraining")
    parser.add_argument("--batch", type=int, default=32, help="rows in a step of pretraining")
    parser.add_argument("--length", type=int, default=128, help="tokens in a row of pretraining")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--options", type=str.split, default=[], help="further options of kerasbert train, in quotes")
    record.add_output(parser, "continued_pretraining")
    return parser.parse_args()


if __name__ == "__main__":
    main()
