"""Pairs of a question and a sentence for a model that orders search results again, from files in SQuAD's form and from QNLI.

    python -m benchmarks.zoo.rerank_pairs --squad new-wiki.json.gz amazon.json.gz --qnli qnli/dev.tsv.gz --without xquad.en.json.gz \
        --model search --wrong 4 --out pairs

A question's right sentence is the one with its answer; wrong ones are the sentences of the same file that the sentence encoder finds most
similar to the question. Questions of `--without`, and paragraphs that hold one of its sentences, are left out. Writes `train.tsv` and
`dev.tsv` to the folder: `question`, `sentence`, and `score`, 1 or 0. One paragraph in 25 is for `dev.tsv`.
"""

import argparse
import csv
import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

DEV_SHARE = 25  # one paragraph in so many
_SHORTEST = 3  # words of a sentence
_TELLING = 6  # words of a sentence that no other text has by chance
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_SIMILAR = 20  # sentences from which the wrong ones are taken


@dataclass(frozen=True)
class Question:
    """A question, and the number of its right sentence."""

    text: str
    right: int
    dev: bool


def main() -> None:
    """Write both parts, and print their numbers."""
    arguments = _arguments()
    forbidden = _texts_of(arguments.without)
    import kerasbert as kb

    model = kb.open(arguments.model)
    parts: dict[bool, list[tuple[str, str, int]]] = {False: [], True: []}
    for path in arguments.squad:
        sentences, questions = read_squad(path, forbidden)
        rows = pairs(
            sentences,
            questions,
            np.asarray(model(sentences)),
            np.asarray(model([each.text for each in questions])),
            arguments.wrong,
        )
        for dev, row in rows:
            parts[dev].append(row)
        print(f"{path}: {len(questions):,} questions, {len(sentences):,} sentences", flush=True)
    for path in arguments.qnli:
        parts[False] += read_qnli(path, forbidden)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for dev, name in ((False, "train"), (True, "dev")):
        with open(arguments.out / f"{name}.tsv", "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter="\t", quoting=csv.QUOTE_NONE, escapechar="\\", lineterminator="\n")
            writer.writerow(["question", "sentence", "score"])
            writer.writerows(parts[dev])
        print(f"{name}.tsv: {len(parts[dev]):,} pairs, {sum(row[2] for row in parts[dev]):,} right")


def read_squad(path: Path, forbidden: set[str]) -> tuple[list[str], list[Question]]:
    """Return the sentences of a file in SQuAD's form, and its questions that have an answer inside one of them."""
    sentences: list[str] = []
    questions: list[Question] = []
    for paragraph in (each for article in _load(path)["data"] for each in article["paragraphs"]):
        context, place, spans = paragraph["context"], 0, []
        pieces = _SENTENCE_END.split(context)
        if forbidden & {_plain(each) for each in pieces}:
            continue
        for piece in pieces:
            start = context.index(piece, place)
            place = start + len(piece)
            if len(piece.split()) >= _SHORTEST:
                spans.append((start, place, len(sentences)))
                sentences.append(_one_line(piece))
        dev = int(hashlib.sha256(context.encode()).hexdigest(), 16) % DEV_SHARE == 0
        for each in paragraph["qas"]:
            if not each["answers"] or _plain(each["question"]) in forbidden:
                continue
            start = each["answers"][0]["answer_start"]
            right = [number for first, end, number in spans if first <= start < end]
            if right:
                questions.append(Question(_one_line(each["question"]), right[0], dev))
    return sentences, questions


def pairs(
    sentences: list[str], questions: list[Question], vectors: np.ndarray, asked: np.ndarray, wrong: int
) -> Iterator[tuple[bool, tuple[str, str, int]]]:
    """Yield, for each question, its right sentence and some of the most similar wrong ones; each with whether it is for dev.

    Args:
        sentences: The sentences.
        questions: The questions.
        vectors: The sentences' unit vectors `(sentences, width)`.
        asked: The questions' unit vectors.
        wrong: Wrong sentences for each question.
    """
    draw = np.random.default_rng(1)
    for question, vector in zip(questions, asked, strict=True):
        order = np.argsort(-(vectors @ vector), kind="stable")[: _SIMILAR + 1]
        others = [number for number in order.tolist() if sentences[number] != sentences[question.right]][:_SIMILAR]
        chosen = draw.choice(others, min(wrong, len(others)), replace=False).tolist()
        for number in [question.right, *chosen]:
            yield question.dev, (question.text, sentences[number], int(number == question.right))


def read_qnli(path: Path, forbidden: set[str]) -> list[tuple[str, str, int]]:
    """Return the pairs of a file of QNLI whose texts are not forbidden."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    return [
        (_one_line(question), _one_line(sentence), int(label == "entailment"))
        for _, question, sentence, label in rows
        if not {_plain(question), _plain(sentence)} & forbidden
    ]


def _texts_of(paths: list[Path]) -> set[str]:
    """The questions and sentences of files in SQuAD's form."""
    found: set[str] = set()
    for path in paths:
        for paragraph in (each for article in _load(path)["data"] for each in article["paragraphs"]):
            sentences = _SENTENCE_END.split(paragraph["context"])
            found |= {_plain(each) for each in sentences if len(each.split()) >= _TELLING}
            found |= {_plain(each["question"]) for each in paragraph["qas"]}
    return found


def _load(path: Path) -> dict:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _plain(text: str) -> str:
    """Letters and digits in lower case, to compare texts."""
    return "".join(filter(str.isalnum, text.lower()))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--squad", nargs="+", type=Path, required=True, help="files in SQuAD's form, .json.gz")
    parser.add_argument("--qnli", nargs="*", type=Path, default=[], help="files of QNLI with labels, .tsv.gz")
    parser.add_argument("--without", nargs="*", type=Path, default=[], help="evaluation data in SQuAD's form, .json.gz")
    parser.add_argument("--model", default="search", help="a sentence encoder")
    parser.add_argument("--wrong", type=int, default=4, help="wrong sentences for each question")
    parser.add_argument("--out", type=Path, required=True, help="the folder")
    return parser.parse_args()


if __name__ == "__main__":
    main()
