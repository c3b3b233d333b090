"""Joins four data sets of named entities into training data with persons, locations and organizations.

    python -m benchmarks.zoo.entity_texts --wnut wnut17 --twitter broad_twitter_corpus --wikigold wikigold.conll.txt \\
        --web UNER_English-EWT --out entities

Data, all with licences that allow training and publishing: WNUT-17 (CC BY 4.0), the Broad Twitter Corpus (CC BY 4.0), WikiGold
(CC BY 4.0) and the English Web Treebank in Universal NER (CC BY-SA 4.0), of which the dev part is used to train. The development part
is WNUT-17's and the second half of the Twitter corpus' section H, as its authors recommend. Both test parts stay separate: WNUT-17's,
and the English Web Treebank's. Companies and groups become organizations; products, creative works and miscellaneous names are no
entities here. Mentions such as @name are no entities either: the Twitter corpus marks most of them, WNUT-17 none.
"""

import argparse
import gzip
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from kerasbert.data.entities import convert_tags

TYPES = {
    "per": "person", "person": "person", "loc": "location", "location": "location", "org": "organization",
    "corporation": "organization", "group": "organization",
}  # fmt: skip

Sentence = tuple[list[str], list[str]]


def main() -> None:
    """Write `train.conll`, `dev.conll`, `test-wnut17.conll` and `test-web.conll`."""
    arguments = _arguments()
    tweets = {name: _read(arguments.twitter / f"{name}.conll") for name in "abegh"}
    middle = len(tweets["h"]) // 2
    wnut = {part: _read(arguments.wnut / f"{part}.conll.gz") for part in ("train", "dev", "test")}
    web = {part: _read(arguments.web / f"en_ewt-ud-{part}.iob2", word=1, tag=2) for part in ("dev", "test")}
    parts = {
        "train": [
            *wnut["train"], *(row for name in "abeg" for row in tweets[name]), *tweets["h"][:middle],
            *_read(arguments.wikigold), *web["dev"],
        ],
        "dev": [*wnut["dev"], *tweets["h"][middle:]],
        "test-wnut17": wnut["test"],
        "test-web": web["test"],
    }  # fmt: skip
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, sentences in parts.items():
        path = arguments.out / f"{name}.conll"
        rows = ["\n".join(f"{word}\t{tag}" for word, tag in zip(*sentence, strict=True)) for sentence in sentences]
        path.write_text("\n\n".join(rows) + "\n", "utf-8")
        types = Counter(tag[2:] for _, tags in sentences for tag in tags if tag.startswith("B-"))
        print(f"{path}: {len(rows):,} sentences; " + ", ".join(f"{kind} {types[kind]:,}" for kind in sorted(types)))


def _read(path: Path, word: int = 0, tag: int = -1) -> list[Sentence]:
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
    with opened as file:
        blocks = re.split(r"\n\s*\n", file.read())  # lines of spaces end sentences too, as in WNUT-17's training part
    sentences = []
    for block in blocks:
        lines = [line.split() for line in block.splitlines() if line.strip() and not line.startswith("# ")]
        rows = [line for line in lines if len(line) > 1 and line[0] != "-DOCSTART-"]
        if rows:
            words = [row[word] for row in rows]
            sentences.append((words, _tags(words, [row[tag] for row in rows])))
    return sentences


def _tags(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """The tags of the three types in IOB2, without mentions."""
    mentions = set(_mentions(words))
    kinds = [TYPES.get(tag[2:].lower()) for tag in tags]
    kept = [
        f"{tag[0]}-{kind}" if kind and index not in mentions else "O"
        for index, (tag, kind) in enumerate(zip(tags, kinds, strict=True))
    ]
    return convert_tags(kept)


def _mentions(words: Sequence[str]) -> Iterator[int]:
    """Indices of @name, or of @ and the name after it."""
    for index, word in enumerate(words):
        if word.startswith("@"):
            yield index
            if word == "@":
                yield index + 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wnut", type=Path, required=True, metavar="FOLDER", help="train.conll.gz, dev and test")
    parser.add_argument("--twitter", type=Path, required=True, metavar="FOLDER", help="a.conll, b, e, g and h")
    parser.add_argument("--wikigold", type=Path, required=True, metavar="FILE", help="wikigold.conll.txt")
    parser.add_argument("--web", type=Path, required=True, metavar="FOLDER", help="en_ewt-ud-dev.iob2 and test")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where the four files are written")
    return parser.parse_args()


if __name__ == "__main__":
    main()
