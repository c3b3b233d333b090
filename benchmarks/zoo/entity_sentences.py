"""Writes sentences for the distillation of `entities`: a sample of plain texts, three of four with a capital inside.

    python -m benchmarks.zoo.entity_sentences text-en --out sentences.txt

The folder holds the text files of `zoo/texts.csv`, as `NAME.txt.gz`. Sentences have 4 to 45 words. Words and punctuation are separated by
spaces, one sentence a line.
"""

import argparse
import gzip
import random
import re
from collections.abc import Iterator
from pathlib import Path

# Sentences of each file: news, Wikipedia, speech, reviews, requests, history, government and technology.
COUNTS = {
    "news-wikinews": 3500, "wiki-gap": 3500, "wiki-split": 2500, "press-briefings": 4000, "reviews-dstc11": 2500, "dialogue-sgd": 2500,
    "dialogue-star": 1000, "dialogue-taskmaster": 800, "podcast-changelog": 3000, "tatoeba": 1500, "common-voice": 2000,
    "questions-wellformedness": 1200, "openstax-us-history": 1200, "openstax-world-history": 1200, "openstax-american-government": 1000,
    "gov-digitalgov": 1200, "tech-rust-blog": 500, "summaries-squality": 1000,
}  # fmt: skip
SHARE = 0.75  # of sentences with a capital inside
_WORD = re.compile(r"\w+(?:[-.']\w+)*|[^\w\s]")
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


def main() -> None:
    """Write the sentences in random order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder with the text files")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the file to write")
    arguments = parser.parse_args()
    seen: set[str] = set()
    found: list[list[str]] = []
    for name, count in COUNTS.items():
        rows = list(_sentences(arguments.folder / f"{name}.txt.gz", seen))
        random.Random(1).shuffle(rows)
        named = [words for words in rows if _has_name(words)][: int(count * SHARE)]
        plain = [words for words in rows if not _has_name(words)][: count - len(named)]
        found += [*named, *plain]
        print(f"{name}: {len(named):,} sentences with a capital inside, {len(plain):,} others")
    random.Random(2).shuffle(found)
    arguments.out.write_text("\n".join(map(" ".join, found)) + "\n", "utf-8")
    print(f"{arguments.out}: {len(found):,} sentences")


def _sentences(path: Path, seen: set[str]) -> Iterator[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            for sentence in _END.split(line.strip()):
                words = _WORD.findall(sentence)
                if 4 <= len(words) <= 45 and sentence not in seen:
                    seen.add(sentence)
                    yield words


def _has_name(words: list[str]) -> bool:
    """Tell whether a word has a capital that does not begin the sentence."""
    return any(word[:1].isupper() and word != "I" and not word.startswith("I'") for word in words[1:])


if __name__ == "__main__":
    main()
