"""Training texts of the zoo's encoders: sentences and passages of plain text files, in fixed random samples."""

import gzip
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kerasbert.errors import KerasBertError

FEWEST_WORDS, MOST_WORDS = 2, 50  # of a sentence
PASSAGE_WORDS = (45, 95)  # of a passage: about 60 to 128 tokens
BALANCE = 0.7  # exponent of a file's size in its share of the sample: below 1, small files count for more

_SENTENCE_END = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"'\u201d\u2019)]))\s+")
_UNCLEAN = re.compile(r"<unk>|[@\[\]{}|_*#=\\]")
_SUFFIXES = (".txt", ".txt.gz")


@dataclass(frozen=True)
class TextCounts:
    """The number of texts of each kind, at most.

    Attributes:
        sentences: Single sentences, utterances and questions.
        passages: Several sentences of one paragraph.
    """

    sentences: int
    passages: int


def text_files(paths: Sequence[Path]) -> list[Path]:
    """Return the text files among these files and in these folders, sorted by name in each folder.

    Args:
        paths: Files `.txt` or `.txt.gz`, one paragraph a line, and folders of such files.

    Raises:
        KerasBertError: When a path does not exist, is another kind of file, or is a folder without text files.
    """
    files: list[Path] = []
    for path in paths:
        found = sorted(path.iterdir()) if path.is_dir() else [path]
        found = [file for file in found if file.name.endswith(_SUFFIXES) and file.is_file()]
        if not found:
            received = "a folder without any" if path.is_dir() else "another file" if path.exists() else "nothing there"
            raise KerasBertError(f"{path}: expected text files (.txt, .txt.gz), received {received}")
        files += found
    if not files:
        raise KerasBertError("expected text files or folders of them, received none; give --texts")
    return files


def sample_texts(files: Sequence[Path], counts: TextCounts, seed: int) -> list[str]:
    """Draw distinct sentences and passages from text files.

    The share of a file grows with its number of texts to the power of `BALANCE`. The sample depends on the names and the contents of the
    files, their order, the counts and the seed.

    Args:
        files: Text files, one paragraph a line.
        counts: The number of texts of each kind.
        seed: The seed of the sample.

    Returns:
        Sentences, then passages.
    """
    sentences, passages = [], []
    for file in files:
        paragraphs = list(read_lines(file))
        sentences.append(_distinct(sentence for paragraph in paragraphs for sentence in split_sentences(paragraph)))
        passages.append(_distinct(filter(None, map(_passage, paragraphs))))
    generator = random.Random(seed)
    chosen = _balanced_sample(sentences, counts.sentences, generator) + _balanced_sample(
        passages, counts.passages, generator
    )
    return _distinct(chosen)


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file that are not empty, with single spaces between words."""
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8")
    with opened as file:
        yield from (" ".join(line.split()) for line in file if line.strip())


def split_sentences(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph that have a usual length and no markup."""
    for sentence in _SENTENCE_END.split(paragraph):
        sentence = sentence.strip(' "\u201c\u201d-')
        if FEWEST_WORDS <= len(sentence.split()) <= MOST_WORDS and not _UNCLEAN.search(sentence):
            yield sentence


def _passage(paragraph: str) -> str:
    """The first words of a long paragraph; "" for a short one."""
    fewest, most = PASSAGE_WORDS
    words = paragraph.split()
    return " ".join(words[:most]) if len(words) >= fewest and not _UNCLEAN.search(paragraph) else ""


def _balanced_sample(groups: Sequence[Sequence[str]], count: int, generator: random.Random) -> list[str]:
    """Draw `count` texts; groups that are smaller than their share leave the rest to the others."""
    sizes, left = [0] * len(groups), count
    open_groups = [number for number, group in enumerate(groups) if group]
    while left > 0 and open_groups:
        shares = {number: len(groups[number]) ** BALANCE for number in open_groups}
        scale, before = left / sum(shares.values()), left
        for number in open_groups:
            added = min(int(shares[number] * scale) + 1, len(groups[number]) - sizes[number], left)
            sizes[number] += added
            left -= added
        open_groups = [number for number in open_groups if sizes[number] < len(groups[number])]
        if left == before:
            break
    return [text for group, size in zip(groups, sizes, strict=True) for text in generator.sample(group, size)]


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))
