"""How `sentiment` does on reviews that are not of films, and how a threshold on its score tells neutral texts.

    python -m benchmarks.zoo.sentiment_reviews sentiment --reviews "SST-2 dev" sst-2-dev.tsv --reviews restaurants yelp_labelled.txt \
        --neutral encyclopedia wiki-split.txt.gz --neutral news news-wikinews.txt.gz

Review files have a text, a tab and 0 or 1 in each line; other lines are left out. Neutral files have a text a line: sentences that hold no
opinion for the most part, of which 300 are drawn. Measured of each file with reviews: the accuracy; and for thresholds on the score the
share of texts that stay decided, and the accuracy of these. Of each neutral file: the share of texts below the threshold.
"""

import argparse
import gzip
import random
from pathlib import Path
from typing import Any

import numpy as np

import kerasbert as kb
from benchmarks.common import record

PACKAGES = ("ai-edge-litert", "tokenizers", "numpy")
LABELS = ("negative", "positive")
THRESHOLDS = (0.6, 0.7, 0.8, 0.9, 0.95)
NEUTRAL_ROWS, LENGTHS = 300, range(20, 200)  # characters


def main() -> None:
    """Measure, print and write the result."""
    arguments = _arguments()
    load, model = record.load(), kb.open(arguments.model)
    reviews, neutral = {}, {}
    for name, path in arguments.reviews:
        texts, truth = _reviews(Path(path))
        labels, scores = _predicted(model, texts)
        right = labels == truth
        reviews[name] = {
            "rows": len(texts), "accuracy": float(right.mean()),
            "decided": {str(each): _decided(right, scores >= each) for each in THRESHOLDS},
        }  # fmt: skip
        print(name, reviews[name])
    for name, path in arguments.neutral:
        lines = [line for line in _lines(Path(path)) if len(line) in LENGTHS]
        _, scores = _predicted(model, random.Random(1).sample(lines, min(NEUTRAL_ROWS, len(lines))))
        neutral[name] = {
            "rows": len(scores), "neutral": {str(each): float((scores < each).mean()) for each in THRESHOLDS},
        }  # fmt: skip
        print(name, neutral[name])
    result = {"model": arguments.model, "reviews": reviews, "neutral": neutral}
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _lines(path: Path) -> list[str]:
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
    with opened as file:
        return [line.strip() for line in file]


def _reviews(path: Path) -> tuple[list[str], np.ndarray]:
    rows = [line.rpartition("\t") for line in _lines(path)]
    kept = [(text.strip(), int(label)) for text, _, label in rows if text and label in ("0", "1")]
    return [text for text, _ in kept], np.array([label for _, label in kept])


def _predicted(model: Any, texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The class numbers and the scores of the likelier class."""
    found = model(texts)
    return np.array([LABELS.index(each["label"]) for each in found]), np.array([each["score"] for each in found])


def _decided(right: np.ndarray, decided: np.ndarray) -> dict[str, float]:
    return {"share": float(decided.mean()), "accuracy": float(right[decided].mean())}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "model", help="a classifier with the labels negative and positive: a file, or a name in the zoo"
    )
    for option, text in (("--reviews", "a name and a file of reviews"), ("--neutral", "a name and a file of texts")):
        parser.add_argument(
            option, nargs=2, action="append", required=True, metavar=("NAME", "FILE"), help=f"{text}; repeatable"
        )
    record.add_output(parser, "zoo_sentiment_reviews")
    return parser.parse_args()


if __name__ == "__main__":
    main()
