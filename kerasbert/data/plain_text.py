"""Running text from a file, and pairs of its sentences."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np

from kerasbert.data.lines import read_lines
from kerasbert.data.table import Table
from kerasbert.errors import KerasBertError
from kerasbert.text.rows import text_rows

UNITS = ("line", "paragraph")
# The labels of each objective: the pair as it was, the pair as it was changed.
OBJECTIVES = {"next_sentence": ("next", "not next"), "sentence_order": ("in order", "swapped")}
# Up to a mark that ends a sentence, with quotes and brackets that close behind it. Only Chinese and Japanese marks need no space after.
_SENTENCE = re.compile(
    r"""\S.*?(?:[.!?\u2026]+["'\u201d\u2019)\]]*(?=\s|$)|[\u3002\uff01\uff1f]+[\u300d\u300f\uff09]*|$)""", re.DOTALL
)


@dataclass(frozen=True)
class PlainText(Table):
    """x: texts; y: None. starts: the numbers of the texts with which the documents begin."""

    starts: tuple[int, ...] = (0,)

    def told_labels(self):
        return f"{len(self.starts):,} documents"

    def documents(self) -> list[list[str]]:
        """The texts of each document."""
        ends = [*self.starts[1:], len(self.x)]
        return [self.x[start:end] for start, end in zip(self.starts, ends, strict=True)]


@dataclass(frozen=True)
class PairTable(Table):
    """x: pairs of texts; y: the label of each by name."""

    def kind(self):
        return "pairs"

    def told_labels(self):
        return "labels " + ", ".join(f"{label}: {self.y.count(label):,}" for label in dict.fromkeys(self.y))

    def texts(self):
        return [" ".join(pair) for pair in self.x]


def read_text(path: str | os.PathLike, *, unit: str = "line", max_rows: int | None = None) -> PlainText:
    """Reads a text file in UTF-8, with `.gz` a compressed one.

    Args:
      path: the file. Blank lines separate documents.
      unit: what one text is: a "line", or a "paragraph", which is all lines up to a blank one and a document of its own.
      max_rows: read no more texts than this.

    Raises:
      KerasBertError: a file that cannot be read, is not UTF-8 or has no text; another unit.
    """
    path = Path(path)
    if unit not in UNITS:
        raise KerasBertError(f"expected a unit of {', '.join(UNITS)}, received {unit!r}")
    if max_rows is not None and max_rows < 1:
        raise KerasBertError(f"expected max_rows of at least 1, received {max_rows}")
    found = list(islice(_texts(path, unit), max_rows))
    if not found:
        raise KerasBertError(f"expected text in {path}, received none")
    starts = tuple(number for number, (begins, *_) in enumerate(found) if begins)
    return PlainText(path, [text for _, text, _ in found], None, starts, lines=[line for *_, line in found])


def pairs_from_text(texts: PlainText | Sequence[str], objective: str = "next_sentence", seed: int = 0) -> PairTable:
    """Each two sentences that follow each other in a document, half of the pairs changed.

    Args:
      texts: from `read_text`, or a list of texts in which empty ones separate documents.
      objective: "next_sentence" (Devlin et al. 2018): the changed pairs have a sentence of another document for their second one; or
        "sentence_order" (Lan et al. 2019): they are swapped.
      seed: fixes which pairs are changed, and to what.

    Sentences end with `.`, `!`, `?` or an ellipsis before white space, or with a Chinese or Japanese mark; abbreviations are not known.

    Raises:
      KerasBertError: another objective, texts without two sentences that follow each other, or for "next_sentence" a single document.
    """
    if objective not in OBJECTIVES:
        raise KerasBertError(f"expected an objective of {', '.join(OBJECTIVES)}, received {objective!r}")
    documents = texts.documents() if isinstance(texts, PlainText) else _documents(text_rows(texts))
    documents = [[sentence for text in document for sentence in sentences(text)] for document in documents]
    pairs = [(number, i) for number, document in enumerate(documents) for i in range(len(document) - 1)]
    if not pairs:
        raise KerasBertError("expected texts with sentences that follow each other, received none in any document")
    if objective == "next_sentence" and sum(map(bool, documents)) < 2:
        raise KerasBertError("expected two or more documents with empty lines between them, received one")
    random = np.random.default_rng(seed)
    changed = set(random.permutation(len(pairs))[: len(pairs) // 2].tolist())
    change = _Replacement(documents, random) if objective == "next_sentence" else _swapped
    x = [
        change(number, *documents[number][i : i + 2]) if row in changed else tuple(documents[number][i : i + 2])
        for row, (number, i) in enumerate(pairs)
    ]
    y = [OBJECTIVES[objective][row in changed] for row in range(len(pairs))]
    return PairTable(texts.path if isinstance(texts, PlainText) else Path("texts"), x, y)


def sentences(text: str) -> list[str]:
    """The sentences of a text, without white space around them."""
    return [match.group().strip() for match in _SENTENCE.finditer(text)]


def _texts(path: Path, unit: str) -> Iterator[tuple[bool, str, int]]:
    """(Whether it begins a document, text, the line it begins on)."""
    begins, lines = True, []
    for number, line in chain(((number, line.strip()) for number, line in read_lines(path)), [(0, "")]):
        if unit == "line" and line:
            yield begins, line, number
        elif line:
            lines.append((number, line))
        elif lines:
            yield True, " ".join(line for _, line in lines), lines[0][0]
            lines = []
        begins = not line


def _documents(texts: list[str]) -> list[list[str]]:
    documents: list[list[str]] = [[]]
    for text in texts:
        if text.strip():
            documents[-1].append(text)
        elif documents[-1]:
            documents.append([])
    return documents


def _swapped(document: int, first: str, second: str) -> tuple[str, str]:
    return second, first


class _Replacement:
    """Puts a sentence of another document in the place of the second one, each of them equally likely."""

    def __init__(self, documents: list[list[str]], random: np.random.Generator):
        self.sentences = [sentence for document in documents for sentence in document]
        self.ends = np.cumsum([len(document) for document in documents])
        self.random = random

    def __call__(self, document: int, first: str, second: str) -> tuple[str, str]:
        start, end = self.ends[document - 1] if document else 0, self.ends[document]
        place = int(self.random.integers(len(self.sentences) - (end - start)))
        return first, self.sentences[place if place < start else place + (end - start)]
