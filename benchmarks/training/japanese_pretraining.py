"""Japanese from nothing: a vocabulary and a small BERT learned from news articles, then their headlines in nine classes.

    python -m benchmarks.training.japanese_pretraining --articles articles.jsonl.gz --work runs/japanese

Measured: accuracy and macro F1 on the headlines of the test part, over several seeds, of the pretrained encoder, of the same encoder with
random weights, and of a bag of words. Each line of the file has split (train, dev or test), category, title and body.

Everything is a command. `kerasbert pretrain` learns the vocabulary from MeCab's words of the train articles, and masks whole words.
`kerasbert train --task sentence-pairs` then brings the vectors of a train article's title and of the parts of its body together, without
categories. `kerasbert train` fine-tunes on the train headlines and keeps the best epoch by the dev headlines; the head reads the mean of
the tokens. `kerasbert evaluate` scores the test headlines. The bag of words is TF-IDF over MeCab's words with logistic regression.
`--rows` are training headlines for each class, 0 for all. A finished encoder or run in `--work` is used again.
"""

import argparse
import gzip
import json
import shutil
from pathlib import Path

import numpy as np

from benchmarks.common import record
from benchmarks.common.commands import kerasbert
from benchmarks.common.over_seeds import over_seeds

PACKAGES = ("tensorflow", "tf-keras", "scikit-learn", "fugashi", "unidic-lite", "tokenizers", "numpy")
PARTS = ("train", "dev", "test")
METRICS = ("accuracy", "macro F1")
TRUE, HEADER = "category", "category\ttitle\n"
PARTS_OF_A_BODY, CHARACTERS = 8, 60
HEAD = f"{Path(__file__).with_name('mean_head.py')}:mean"
PATHS = ("text", "dev", "out", "tokenizer")  # settings that are paths, private to the machine


def main() -> None:
    """Pretrain, fine-tune with all seeds and write the result after each."""
    arguments = _arguments()
    load = record.load()
    parts = _parts(arguments.articles)
    arguments.work.mkdir(parents=True, exist_ok=True)
    _write_corpus(arguments.work, parts)
    for part in ("dev", "test"):
        _write_headlines(arguments.work / f"{part}.tsv", parts[part])
    encoders = {
        "pretrained": _pretrained(arguments, "pretrained", arguments.steps, arguments.pretrain),
        "random weights": _pretrained(arguments, "random", 1, ["--learning-rate", "0"]),
    }
    if arguments.pair_epochs:
        _write_pairs(arguments.work / "pairs.tsv", parts["train"])
        encoders["pretrained, title and body"] = _paired(arguments, encoders["pretrained"])
    runs: list[dict] = []
    for rows in arguments.rows:
        for seed in arguments.seeds:
            chosen = _draw(parts["train"], rows, seed)
            _write_headlines(arguments.work / f"train-{rows}-{seed}.tsv", chosen)
            scores = {"bag of words": _bag_of_words(chosen, parts["test"])}
            for name, encoder in encoders.items():
                scores[name] = _fine_tuned(arguments, encoder, rows, seed)
            runs.append({"rows_per_class": rows, "seed": seed, "train": len(chosen), "scores": scores})
            print(json.dumps(runs[-1], ensure_ascii=False), flush=True)
            result = {
                "data": arguments.articles.name, "headlines": {part: len(parts[part]) for part in PARTS},
                "encoder": json.loads((encoders["pretrained"] / "run.json").read_text("utf-8")),
                "summary": _summary(runs), "runs": runs,
            }  # fmt: skip
            record.write(arguments.json, result, record.versions(PACKAGES), load)


def _parts(path: Path) -> dict[str, list[dict]]:
    """Read the articles of each part, in the order of the file."""
    open_file = gzip.open if path.suffix == ".gz" else open
    parts: dict[str, list[dict]] = {part: [] for part in PARTS}
    with open_file(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            article = json.loads(line)
            parts[article["split"]].append(article)
    return parts


def _write_corpus(work: Path, parts: dict[str, list[dict]]) -> None:
    """Write the articles of the train and dev parts: a text in each line, a blank line between articles."""
    for part in ("train", "dev"):
        articles = (
            "\n".join(
                line
                for text in (article["title"], article["body"])
                for line in map(str.strip, text.split("\n"))
                if line
            )
            for article in parts[part]
        )
        (work / f"articles-{part}.txt").write_text("\n\n".join(articles) + "\n", "utf-8")


def _write_headlines(path: Path, articles: list[dict]) -> None:
    path.write_text(
        HEADER + "".join(f"{each[TRUE]}\t{' '.join(each['title'].split())}\n" for each in articles), "utf-8"
    )


def _write_pairs(path: Path, articles: list[dict]) -> None:
    """Write a pair for each of the first parts of a body: the title and the part."""
    lines = ["sentence1\tsentence2"]
    for article in articles:
        text = " ".join(article["body"].split())
        title, parts = (
            " ".join(article["title"].split()),
            range(0, min(len(text), PARTS_OF_A_BODY * CHARACTERS), CHARACTERS),
        )
        lines += [
            f"{title}\t{text[start : start + CHARACTERS]}" for start in parts if len(text) >= start + CHARACTERS // 2
        ]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def _draw(articles: list[dict], rows: int, seed: int) -> list[dict]:
    """Draw `rows` articles of each class, or take all."""
    if not rows:
        return articles
    draw, names = np.random.default_rng(seed), np.array([each[TRUE] for each in articles])
    chosen = [draw.permutation(np.flatnonzero(names == name))[:rows] for name in np.unique(names)]
    return [articles[i] for i in np.concatenate(chosen)]


def _pretrained(arguments: argparse.Namespace, name: str, steps: int, options: list[str]) -> Path:
    """Pretrain an encoder, or return the one of an earlier call; the second takes the vocabulary of the first."""
    out, first = arguments.work / name, arguments.work / "pretrained"
    if (out / "run.json").is_file():
        return out
    shutil.rmtree(out, ignore_errors=True)
    vocabulary = ["--learn", arguments.learn, "--vocabulary-size", arguments.vocabulary_size, "--cased"]
    made = kerasbert(
        "pretrain", "--model", arguments.model, "--text", arguments.work / "articles-train.txt",
        "--dev", arguments.work / "articles-dev.txt", *(["--tokenizer", first] if name != "pretrained" else vocabulary),
        "--sequence-length", arguments.sequence_length, "--masking", "words", "--objectives", "masked-lm", "--steps", steps,
        "--evaluate-every", max(1, steps // 10), "--out", out, *options,
    )  # fmt: skip
    made["settings"] = {name: value for name, value in made["settings"].items() if name not in PATHS}
    made["settings"]["model"] = Path(arguments.model).name
    kept = {name: made[name] for name in ("settings", "vocabulary", "tokens_per_second", "evaluations", "seconds")}
    (out / "run.json").write_text(json.dumps(kept, ensure_ascii=False), "utf-8")
    return out


def _paired(arguments: argparse.Namespace, encoder: Path) -> Path:
    """Train an encoder on titles and bodies, or return the one of an earlier call."""
    out = arguments.work / "paired"
    if not (out / "training.json").is_file():
        shutil.rmtree(out, ignore_errors=True)
        kerasbert(
            "train", "--task", "sentence-pairs", "--model", encoder, "--train", arguments.work / "pairs.tsv", "--out", out,
            "--sequence-length", 40, "--batch-size", 64, "--epochs", arguments.pair_epochs, *arguments.pairs,
        )  # fmt: skip
    return out


def _fine_tuned(arguments: argparse.Namespace, encoder: Path, rows: int, seed: int) -> dict[str, float]:
    """Fine-tune an encoder and return its scores on the test headlines."""
    out, work = arguments.work / f"{encoder.name}-{rows}-{seed}", arguments.work
    options = ["--text-column", "title", "--label-column", TRUE, "--head", HEAD]
    if not (out / "config.toml").is_file():
        shutil.rmtree(out, ignore_errors=True)
        kerasbert(
            "train", "--model", encoder, "--train", work / f"train-{rows}-{seed}.tsv", "--dev", work / "dev.tsv", "--out", out,
            *options, "--sequence-length", arguments.headline_length, "--seed", seed, *arguments.train,
        )  # fmt: skip
    scores = kerasbert("evaluate", out, "--data", work / "test.tsv", *options)
    return {name: scores["metrics"][name] for name in METRICS}


def _bag_of_words(train: list[dict], test: list[dict]) -> dict[str, float]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score, f1_score
    from sklearn.pipeline import make_pipeline

    from kerasbert.text.mecab import mecab_surfaces

    words = [[" ".join(mecab_surfaces(each["title"], "unidic_lite")) for each in part] for part in (train, test)]
    truth = [[each[TRUE] for each in part] for part in (train, test)]
    model = make_pipeline(
        TfidfVectorizer(token_pattern=r"\S+", sublinear_tf=True), LogisticRegression(C=10, max_iter=2000)
    )
    predicted = model.fit(words[0], truth[0]).predict(words[1])
    scores = accuracy_score(truth[1], predicted), f1_score(truth[1], predicted, average="macro")
    return dict(zip(METRICS, map(float, scores), strict=True))


def _summary(runs: list[dict]) -> dict[str, dict]:
    """Return mean and deviation of each model and metric, for each number of rows."""
    summary: dict[str, dict] = {}
    for rows in dict.fromkeys(run["rows_per_class"] for run in runs):
        same = [run["scores"] for run in runs if run["rows_per_class"] == rows]
        summary[str(rows or "all")] = {
            model: {metric: over_seeds([scores[model][metric] for scores in same]) for metric in METRICS}
            for model in same[0]
        }
    return summary


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=Path, required=True, metavar="FILE", help="JSON lines, plain or gzip")
    parser.add_argument("--work", type=Path, required=True, metavar="FOLDER", help="corpora, encoders and runs")
    parser.add_argument("--model", default="bert-mini", help="preset or config.json of the encoder (bert-mini)")
    parser.add_argument("--learn", default="japanese", help="japanese or japanese-characters")
    parser.add_argument("--vocabulary-size", type=int, default=12_000, metavar="N")
    parser.add_argument("--steps", type=int, default=10_000, metavar="N", help="of pretraining")
    parser.add_argument("--sequence-length", type=int, default=128, metavar="N", help="of pretraining")
    parser.add_argument("--headline-length", type=int, default=48, metavar="N", help="of fine-tuning")
    parser.add_argument(
        "--pair-epochs", type=int, default=2, metavar="N", help="over the titles and bodies; 0 leaves the stage out"
    )
    parser.add_argument("--rows", nargs="+", type=int, default=[100, 0], metavar="N", help="headlines of each class")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument(
        "--pretrain", type=str.split, default=[], help="further options of kerasbert pretrain, in quotes"
    )
    parser.add_argument(
        "--pairs", type=str.split, default=[], help="further options of the training on titles and bodies, in quotes"
    )
    parser.add_argument("--train", type=str.split, default=[], help="further options of kerasbert train, in quotes")
    record.add_output(parser, "japanese_pretraining")
    return parser.parse_args()


if __name__ == "__main__":
    main()
