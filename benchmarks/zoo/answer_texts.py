"""The training and development data of question answering: files in SQuAD's form as one, some articles kept out.

    python -m benchmarks.zoo.answer_texts --train new-wiki.json.gz amazon.json.gz qamr-dev.json.gz --with-unanswerable squad2.json.gz \
        --out answers

Writes `train.json` and `dev.json` to the folder. Every eighth article of a file with unanswerable questions is kept out and becomes the
development part; the other files are used whole. With `--without 0.2`, a fifth of the answered questions is asked a second time, of
another paragraph of its file that has none of the answers: the one of 20 that shares most words with the question.
"""

import argparse
import gzip
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

KEPT_OUT = 8  # one article in so many
_CANDIDATES = 20  # paragraphs that a question without an answer may be asked of
_WORD = re.compile(r"\w+")


def main() -> None:
    """Join the files, and print the number of questions of both parts."""
    arguments = _arguments()
    draw, train, dev = random.Random(arguments.seed), [], []
    for path in arguments.train:
        articles = _articles(path)
        ask_elsewhere(articles, arguments.without, draw)
        train += articles
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


def ask_elsewhere(articles: Sequence[dict[str, Any]], share: float, draw: random.Random) -> None:
    """Add questions without an answer: those of other paragraphs.

    Args:
        articles: The articles of a file, which get them.
        share: The share of the answered questions that are asked again.
        draw: Draws the questions and the paragraphs.
    """
    paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
    contexts = [paragraph["context"].casefold() for paragraph in paragraphs]
    words = [set(_WORD.findall(context)) for context in contexts]
    added: list[tuple[int, dict[str, Any]]] = []
    for number, paragraph in enumerate(paragraphs):
        for question in paragraph["qas"]:
            if not question["answers"] or draw.random() >= share:
                continue
            answers = {answer["text"].casefold() for answer in question["answers"]}
            drawn = draw.sample(range(len(paragraphs)), min(_CANDIDATES, len(paragraphs)))
            others = [each for each in drawn if each != number and not any(text in contexts[each] for text in answers)]
            if others:
                asked = set(_WORD.findall(question["question"].casefold()))
                nearest = max(others, key=lambda each: len(asked & words[each]))
                added.append(
                    (nearest, {**question, "id": f"{question['id']}-elsewhere", "answers": [], "is_impossible": True})
                )
    for number, question in added:
        paragraphs[number]["qas"].append(question)


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
    parser.add_argument(
        "--without",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="share of --train's questions asked without an answer (0)",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True, help="the folder")
    return parser.parse_args()


if __name__ == "__main__":
    main()
