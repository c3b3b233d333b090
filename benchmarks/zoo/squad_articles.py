"""Splits questions in SQuAD's form by article: the last articles become the development part.

    python -m benchmarks.zoo.squad_articles squad2/dev-half-without-xquad.json.gz --last 2 --train train.json.gz --dev dev.json.gz

Paragraphs of one article share names and facts, so a part of the same article would be easier than a new text.
"""

import argparse
import gzip
import json
from pathlib import Path


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path, metavar="FILE", help="questions in SQuAD's form (.json.gz)")
    parser.add_argument("--last", type=int, default=2, metavar="N", help="articles of the development part (2)")
    parser.add_argument("--train", type=Path, required=True, metavar="FILE", help="the other articles")
    parser.add_argument("--dev", type=Path, required=True, metavar="FILE", help="the last articles")
    arguments = parser.parse_args()
    with gzip.open(arguments.questions, "rt", encoding="utf-8") as file:
        articles = json.load(file)["data"]
    for path, part in ((arguments.train, articles[: -arguments.last]), (arguments.dev, articles[-arguments.last :])):
        path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(path, "wt", encoding="utf-8") as file:
            json.dump({"data": part}, file)
        questions = [
            question for article in part for paragraph in article["paragraphs"] for question in paragraph["qas"]
        ]
        unanswerable = sum(bool(question.get("is_impossible")) for question in questions)
        print(f"{path}: {len(part)} articles, {len(questions)} questions, {unanswerable} without an answer")


if __name__ == "__main__":
    main()
