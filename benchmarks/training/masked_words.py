"""How often a masked language model finds a word that is masked in a sentence it has not seen.

    python -m benchmarks.training.masked_words float.tflite int8.tflite --texts "held out" dev.txt --texts XQuAD sentences.txt

In each of `--sentences` sentences of every file one word is replaced by a mask: a word of letters, not the first one, that is one token.
Measured: how often it is the likeliest word, and how often it is among the five likeliest; the same for the words with four letters or
more, most of which are not function words. Beside it the five most frequent of the hidden words, for every mask: the share that needs no
model.
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

PACKAGES = ("ai-edge-litert", "tokenizers", "numpy")
TOP = 5
_WORD = re.compile(r"[A-Za-z]+")
_LONG = 4  # letters


def main() -> None:
    """Measure, print and write the result."""
    arguments = _arguments()
    load, found = record.load(), {}
    for path in arguments.models:
        model = kb.open(path)
        found[path.stem] = {name: _measured(model, Path(texts), arguments) for name, texts in arguments.texts}
        print(path.stem, found[path.stem])
    record.write(arguments.json, {"models": found}, record.versions(PACKAGES), load)


def _measured(model: Any, path: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    masked = _masked(_sentences(path), set(model.tokenizer.vocabulary), model.tokenizer.mask_token, arguments)
    predictions = model([text for text, _ in masked], top_k=TOP)
    lists = [[word["word"].lower() for word in each["masks"][0]["words"]] for each in predictions]
    words = [word for _, word in masked]
    frequent = [[word for word, _ in Counter(words).most_common(TOP)]] * len(words)
    return {"sentences": len(words), "model": _scores(lists, words), "most frequent words": _scores(frequent, words)}


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
    parser.add_argument(
        "models", nargs="+", type=Path, metavar="MODEL", help="masked language models: files or folders"
    )
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
    record.add_output(parser, "masked_words")
    return parser.parse_args()


if __name__ == "__main__":
    main()
