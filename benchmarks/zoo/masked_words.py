"""How often a masked language model finds a word that is masked in a sentence it has not seen.

    python -m benchmarks.zoo.masked_words fill-mask --texts "zoo texts, held out" dev.txt --texts "WikiText-2 test" test.txt.gz

In each of `--sentences` sentences of every file one word is replaced by a mask: a word of letters, not the first one, that is one token.
Measured: how often it is the likeliest word, and how often it is among the five likeliest; the same for the words with four letters or
more, most of which are not function words. Beside it the five most frequent of the hidden words, for every mask: the share that needs no
model. A model of the zoo gets lines in `zoo/results.csv`.
"""

import argparse
import gzip
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import kerasbert as kb
from benchmarks.common import record
from benchmarks.zoo.rows import make_result
from kerasbert.zoo.catalog import models
from kerasbert.zoo.results import add_results

PACKAGES = ("ai-edge-litert", "tokenizers", "numpy")
TOP = 5
METRICS = {"top-1 accuracy": "first", "top-5 accuracy": "among five"}
_WORD = re.compile(r"[A-Za-z]+")
_LONG = 4  # letters


def main() -> None:
    """Measure, print and write the result."""
    arguments = _arguments()
    load, model = record.load(), kb.open(arguments.model)
    found = {}
    for name, path in arguments.texts:
        masked = _masked(_sentences(Path(path)), set(model.tokenizer.vocabulary), model.tokenizer.mask_token, arguments)
        predictions = model([text for text, _ in masked], top_k=TOP)
        lists = [[word["word"].lower() for word in each["masks"][0]["words"]] for each in predictions]
        words = [word for _, word in masked]
        frequent = [[word for word, _ in Counter(words).most_common(TOP)]] * len(words)
        found[name] = {
            "sentences": len(words), "model": _scores(lists, words), "most frequent words": _scores(frequent, words)
        }  # fmt: skip
        print(name, found[name])
    if arguments.model in {each.name for each in models()}:
        add_results(
            [
                make_result(arguments.model, "int8", name, metric, [each["model"]["all words"][place]], "xnnpack")
                for name, each in found.items()
                for metric, place in METRICS.items()
            ]
        )
    record.write(arguments.json, {"model": Path(arguments.model).name, "texts": found}, record.versions(PACKAGES), load)


def _sentences(path: Path) -> list[str]:
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
    with opened as file:
        lines = [line.strip() for line in file]
    return [line for line in lines if 40 <= len(line) <= 250 and "<unk>" not in line and "[" not in line]


def _masked(
    sentences: list[str], vocabulary: set[str], mask: str, arguments: argparse.Namespace
) -> list[tuple[str, str]]:
    """Sentences with a mask, and the word that it hides."""
    chance = random.Random(arguments.seed)
    found = []
    for sentence in chance.sample(sentences, len(sentences)):
        words = [each for each in _WORD.finditer(sentence) if each.start() and each[0].lower() in vocabulary]
        if words:
            word = chance.choice(words)
            found.append((sentence[: word.start()] + mask + sentence[word.end() :], word[0].lower()))
    return found[: arguments.sentences]


def _scores(lists: list[list[str]], words: list[str]) -> dict[str, Any]:
    long = [number for number, word in enumerate(words) if len(word) >= _LONG]
    return {
        name: {
            "first": sum(lists[row][0] == words[row] for row in rows) / len(rows),
            "among five": sum(words[row] in lists[row] for row in rows) / len(rows),
        }
        for name, rows in (("all words", range(len(words))), ("four letters or more", long))
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a masked language model: a file, a folder, or a name in the zoo")
    parser.add_argument(
        "--texts",
        nargs=2,
        action="append",
        required=True,
        metavar=("NAME", "FILE"),
        help="texts, one a line; repeatable",
    )
    parser.add_argument("--sentences", type=int, default=2000, metavar="N", help="of each file (2,000)")
    parser.add_argument("--seed", type=int, default=1)
    record.add_output(parser, "zoo_masked_words")
    return parser.parse_args()


if __name__ == "__main__":
    main()
