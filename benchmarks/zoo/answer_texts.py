"""The training and development data of question answering: files in SQuAD's form as one, some articles kept out.

    python -m benchmarks.zoo.answer_texts --train new-wiki.json.gz amazon.json.gz qamr-dev.json.gz --with-unanswerable squad2.json.gz \
        --out answers

Writes `train.json` and `dev.json` to the folder. Every eighth article of a file with unanswerable questions is kept out and becomes the
development part; the other files are used whole.
"""

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

KEPT_OUT = 8  # one article in so many


def main() -> None:
    """Join the files, and print the number of questions of both parts."""
    arguments = _arguments()
    train = [article for path in arguments.train for article in _articles(path)]
    dev = []
    for path in arguments.with_unanswerable:
        articles = _articles(path)
        dev += articles[::KEPT_OUT]
        train += [article for number, article in enumerate(articles) if number % KEPT_OUT]
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, articles in (("train", train), ("dev", dev)):
        path = arguments.out / f"{name}.json"
        path.write_text(json.dumps({"version": "2.0", "data": articles}), "utf-8")
        questions = [each for article in articles for paragraph in article["paragraphs"] for each in paragraph["qas"]]
        without = sum(not question["answers"] for question in questions)
        print(f"{path}: {len(questions):,} questions, {without:,} without an answer, {len(articles):,} articles")


def _articles(path: Path) -> list[dict[str, Any]]:
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8")
    with opened as file:
        return json.load(file)["data"]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", nargs="+", type=Path, required=True, help="files in SQuAD's form")
    parser.add_argument(
        "--with-unanswerable",
        nargs="+",
        type=Path,
        default=[],
        metavar="FILE",
        help="files of which a part is kept out",
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder")
    return parser.parse_args()


if __name__ == "__main__":
    main()
