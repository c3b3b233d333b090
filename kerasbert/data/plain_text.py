"""Running text from a file, and sentence pairs for pretraining."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Self

import numpy as np

from kerasbert.data.dataset import Dataset
from kerasbert.data.encodings import check_encoding
from kerasbert.data.file_options import FileOptions
from kerasbert.data.limits import check_max_rows
from kerasbert.data.lines import read_lines
from kerasbert.data.row_stream import RowStream
from kerasbert.errors import KerasBertError
from kerasbert.text.strings import as_strings

UNITS = ("line", "paragraph")
# The labels of each objective: of an unchanged pair, and of a changed one.
OBJECTIVES = {"next_sentence": ("next", "not next"), "sentence_order": ("in order", "swapped")}
# Up to a sentence-final mark with the closing quotes and brackets after it. Only Chinese and Japanese marks need no space after them.
_SENTENCE = re.compile(
    r"""\S.*?(?:[.!?\u2026]+["'\u201d\u2019)\]]*(?=\s|$)|[\u3002\uff01\uff1f]+[\u300d\u300f\uff09]*|$)""", re.DOTALL
)


@dataclass(frozen=True)
class PlainText(Dataset):
    """Running text: `x` holds texts, `y` is None.

    Attributes:
        starts: The indices of the texts with which the documents begin.
    """

    starts: tuple[int, ...] = (0,)

    def label_summary(self) -> str:
        count = len(self.starts)
        return f"{count:,} document{'s' * (count != 1)}"

    def select(self, rows: Sequence[int]) -> Self:
        document, starts = None, []
        for place, row in enumerate(rows):
            row_document = int(np.searchsorted(self.starts, row, side="right"))
            if row_document != document:
                starts.append(place)
            document = row_document
        return replace(super().select(rows), starts=tuple(starts))

    def documents(self) -> list[list[str]]:
        """Return the texts of each document."""
        ends = [*self.starts[1:], len(self.x)]
        return [self.x[start:end] for start, end in zip(self.starts, ends, strict=True)]


@dataclass(frozen=True)
class PairTable(Dataset):
    """Sentence pairs: `x` holds pairs of texts, `y` the label of each by name."""

    def kind(self) -> str:
        return "pairs"

    def label_summary(self) -> str:
        if self.y is None:
            return "no labels"
        return "labels " + ", ".join(f"{label}: {count:,}" for label, count in Counter(self.y).items())

    def full_texts(self) -> list[str]:
        return [" ".join(pair) for pair in self.x]


def read_text(
    path: str | os.PathLike, *, unit: str = "line", max_rows: int | None = None, encoding: str | None = None
) -> PlainText:
    """Read a text file, which may be compressed as `.gz`.

    Args:
        path: The file. Blank lines separate documents.
        unit: The unit of one text: a "line", or a "paragraph". A paragraph is all lines up to a blank one, and a document of its own.
        max_rows: The maximum number of texts to read.
        encoding: As for `read_table`.

    Returns:
        The texts and their documents.

    Raises:
        KerasBertError: When the file cannot be read or has no text; when the unit is unknown.

    Example:
        ```python
        texts = kb.data.read_text("texts.txt", max_rows=100)
        texts.x[0], len(texts.documents())
        ```
    """
    check_max_rows(max_rows)
    check_encoding(encoding)
    return open_text(path, FileOptions(max_rows=max_rows, encoding=encoding), unit).whole()  # type: ignore[return-value]


def open_text(path: str | os.PathLike, options: FileOptions, unit: str = "line") -> RowStream:
    """Open a text file for reading its texts; see `read_text`. A part begins with a document, or goes on with one.

    Args:
        path: The file.
        options: `max_rows` and `encoding` are used.
        unit: The unit of one text.

    Raises:
        KerasBertError: When the unit is unknown.
    """
    path = Path(path)
    if unit not in UNITS:
        raise KerasBertError(f"expected a unit of {', '.join(UNITS)}, received {unit!r}")

    def build(units: list[tuple[bool, str, int]], done: int) -> PlainText:
        starts = tuple(number for number, (begins_document, *_) in enumerate(units) if begins_document or not number)
        return PlainText(path, [text for _, text, _ in units], None, starts, lines=[line for *_, line in units])

    units = islice(_split_units(path, unit, options.encoding), options.max_rows)
    return RowStream(units, build, lambda: KerasBertError(f"expected text in {path}, received none"))


def pairs_from_text(texts: PlainText | Sequence[str], objective: str = "next_sentence", seed: int = 0) -> PairTable:
    """Make sentence pairs for pretraining: all adjacent sentences of each document, half of the pairs changed.

    Sentences are split as in `split_sentences`.

    Args:
        texts: The result of `read_text`, or a list of texts in which empty ones separate documents.
        objective: "next_sentence" (Devlin et al. 2018) or "sentence_order" (Lan et al. 2019). In a changed pair, the second sentence
            comes from another document, or the two sentences are swapped.
        seed: Random seed for the changed pairs and their new sentences.

    Returns:
        The pairs with their labels.

    Raises:
        KerasBertError: When the objective is unknown, no document has two sentences, or "next_sentence" has a single document.

    Example:
        ```python
        documents = ["It rained. We left.", "", "The soup was cold. I complained."]
        pairs = kb.data.pairs_from_text(documents, objective="sentence_order")
        pairs.x[0], pairs.y[0]
        ```
    """
    if objective not in OBJECTIVES:
        raise KerasBertError(f"expected an objective of {', '.join(OBJECTIVES)}, received {objective!r}")
    documents = texts.documents() if isinstance(texts, PlainText) else _split_documents(as_strings(texts))
    documents = [[sentence for text in document for sentence in split_sentences(text)] for document in documents]
    pairs = [(number, i) for number, document in enumerate(documents) for i in range(len(document) - 1)]
    if not pairs:
        raise KerasBertError("expected texts with sentences that follow each other, received none in any document")
    if objective == "next_sentence" and sum(map(bool, documents)) < 2:
        raise KerasBertError("expected two or more documents with empty lines between them, received one")
    random = np.random.default_rng(seed)
    changed = set(random.permutation(len(pairs))[: len(pairs) // 2].tolist())
    change = _SecondSentenceSampler(documents, random) if objective == "next_sentence" else _swap
    x = [
        change(number, *documents[number][i : i + 2]) if row in changed else tuple(documents[number][i : i + 2])
        for row, (number, i) in enumerate(pairs)
    ]
    y = [OBJECTIVES[objective][row in changed] for row in range(len(pairs))]
    return PairTable(texts.path if isinstance(texts, PlainText) else Path("texts"), x, y)


def split_sentences(text: str) -> list[str]:
    """Split a text into sentences, without white space around them.

    A sentence ends with `.`, `!`, `?` or an ellipsis before white space, or with a Chinese or Japanese mark. Abbreviations are not
    recognized.
    """
    return [match.group().strip() for match in _SENTENCE.finditer(text)]


def sentence_ends(text: str) -> list[int]:
    """Return the characters at which sentences and lines end, rising; see `split_sentences`."""
    lines = {match.start() for match in re.finditer("\n", text)}
    return sorted(lines | {match.end() for match in _SENTENCE.finditer(text)})


def _split_units(path: Path, unit: str, encoding: str | None) -> Iterator[tuple[bool, str, int]]:
    """Yield (is the first of a document, text, line on which it begins)."""
    begins_document, lines = True, []
    for number, line in chain(((number, line.strip()) for number, line in read_lines(path, encoding)), [(0, "")]):
        if unit == "line" and line:
            yield begins_document, line, number
        elif line:
            lines.append((number, line))
        elif lines:
            yield True, " ".join(line for _, line in lines), lines[0][0]
            lines = []
        begins_document = not line


def _split_documents(texts: list[str]) -> list[list[str]]:
    documents: list[list[str]] = [[]]
    for text in texts:
        if text.strip():
            documents[-1].append(text)
        elif documents[-1]:
            documents.append([])
    return documents


def _swap(document: int, first: str, second: str) -> tuple[str, str]:
    return second, first


class _SecondSentenceSampler:
    """Replaces the second sentence of a pair by one of another document, drawn uniformly."""

    def __init__(self, documents: list[list[str]], random: np.random.Generator) -> None:
        self.sentences = [sentence for document in documents for sentence in document]
        self.ends = np.cumsum([len(document) for document in documents])
        self.random = random

    def __call__(self, document: int, first: str, second: str) -> tuple[str, str]:
        start, end = self.ends[document - 1] if document else 0, self.ends[document]
        place = int(self.random.integers(len(self.sentences) - (end - start)))
        return first, self.sentences[place if place < start else place + (end - start)]
