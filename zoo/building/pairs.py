"""Pairs of texts in one row, with the cosine of the teacher's vectors: a student learns from them to compare two texts, as for MRPC."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.processors import metrics
from kerasbert.processors.base import RawResult, check_same_number, concatenate
from kerasbert.processors.embedding import Embedding
from kerasbert.processors.features import Features, TokenLists
from kerasbert.text import Tokenizer

SINGLE = 2.0  # in place of a cosine: the row is a single text
SIMILAR, ANY, ALTERED = range(3)  # kinds of second texts
KINDS = (0.4, 0.15, 0.45)  # their shares
BLOCK, SLICE = 32_768, 4_096  # texts among which similar ones are searched, and so many at a time
NEAREST = 3  # a similar text is one of so many most similar ones
MOST_EDITS = 0.4  # largest share of a text's words that are left out or replaced
ROTATED = 0.3  # share of altered texts whose end comes first

Example = str | tuple[str, str]


class JointEmbedding(Embedding):
    """One vector for each row: a text, or both texts of a pair with a separator, as a classifier reads them.

    Labels are target vectors and a cosine, `(rows, width + 1)`; see `make_rows`. The main metric is the correlation of all cosines between
    two rows: a student may learn them in directions of its own, which may be fewer than the target's.
    """

    def examples(self, x: Any) -> list:
        return list(x)

    def features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Features:
        paired = [isinstance(example, tuple) for example in examples]
        singles, pairs = np.flatnonzero(np.logical_not(paired)).tolist(), np.flatnonzero(paired).tolist()
        first, second = ([examples[row][side] for row in pairs] for side in (0, 1))
        parts = ((singles, [examples[row] for row in singles], None), (pairs, first, second))
        ids: list[Sequence[int]] = [()] * len(examples)
        types: list[Sequence[int]] = [()] * len(examples)
        truncated = 0
        for rows, texts, others in parts:
            encoded = tokenizer.encode(texts, others, max_length=length)
            truncated += encoded.truncated
            for row, row_ids, row_types in zip(rows, encoded.input_ids, encoded.token_type_ids, strict=True):
                ids[row], types[row] = row_ids, row_types
        return replace(Features(TokenLists(ids, types), np.arange(len(examples))), truncated=truncated)

    def encode_labels(self, y: Any, examples: Sequence, features: Features) -> np.ndarray:
        check_same_number(y, examples)
        y = np.asarray(y, np.float32)
        if y.ndim != 2:
            raise KerasBertError(f"expected vectors and a cosine of shape (rows, width + 1), received {y.shape}")
        return y

    def metrics(
        self, y: Any, examples: Sequence, features: Features, raw_results: Sequence[RawResult]
    ) -> dict[str, float]:
        truth, found = self.encode_labels(y, examples, features)[:, :-1], concatenate(raw_results, "embedding")
        pairs = np.triu_indices(len(truth), 1)
        cosines = [(each @ each.T)[pairs] for each in (truth, found)]
        same_width = truth.shape == found.shape  # only then a vector may be compared with its target
        return {
            "correlation": metrics.pearson(*cosines),
            **({"cosine": float(metrics.cosine(truth, found).mean())} if same_width else {}),
        }


def single_rows(vectors: np.ndarray) -> np.ndarray:
    """Return the labels of single texts.

    Args:
        vectors: The target vectors `(texts, width)`.
    """
    return np.concatenate([vectors, np.full((len(vectors), 1), SINGLE, vectors.dtype)], axis=1)


def make_rows(
    texts: list[str], vectors: np.ndarray, share: float, seed: int, encode: Callable[[list[str]], np.ndarray]
) -> tuple[list[Example], np.ndarray]:
    """Give some texts a second one: a similar text, any other text, or the same one with some words left out, replaced or moved.

    Args:
        texts: The texts.
        vectors: The teacher's unit vectors `(texts, width)`.
        share: The share of texts that get a second one.
        seed: The seed of the choice.
        encode: The teacher's unit vectors of other texts.

    Returns:
        The texts and pairs, each pair in either order; and the cosine of both vectors for each row, `SINGLE` without a second text.
    """
    generator = np.random.default_rng(seed)
    rows = np.flatnonzero(generator.random(len(texts)) < share).tolist()
    similar = _similar(vectors, generator)
    others, kinds = similar[rows], generator.choice(len(KINDS), len(rows), p=KINDS)
    others[kinds == ANY] = generator.integers(0, len(texts), int((kinds == ANY).sum()))
    second, second_vectors = [texts[other] for other in others.tolist()], vectors[others]
    altered = np.flatnonzero(kinds == ALTERED).tolist()
    for place in altered:
        second[place] = alter(texts[rows[place]], texts[others[place]], generator)
    if altered:
        second_vectors[altered] = encode([second[place] for place in altered])
    examples: list[Example] = list(texts)
    cosines = np.full(len(texts), SINGLE, np.float32)
    for row, other in zip(rows, second, strict=True):
        examples[row] = (texts[row], other) if generator.random() < 0.5 else (other, texts[row])
    cosines[rows] = (vectors[rows] * second_vectors).sum(axis=1)
    return examples, cosines


def alter(text: str, other: str, generator: np.random.Generator) -> str:
    """Leave out some words of a text, put words of another one in place of some, and sometimes begin in the middle.

    Args:
        text: The text.
        other: The text that new words are from.
        generator: Draws the number of changes and their places.
    """
    words, new_words = text.split(), other.split()
    edits = MOST_EDITS * generator.random()
    kept = []
    for word in words:
        draw = generator.random()
        if draw >= edits:
            kept.append(word)
        elif draw >= edits / 2:
            kept.append(new_words[generator.integers(len(new_words))])
    if len(kept) > 2 and generator.random() < ROTATED:
        middle = generator.integers(1, len(kept))
        kept = kept[middle:] + kept[:middle]
    return " ".join(kept) or text


def _similar(vectors: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """The number of one of the most similar texts of the same block, for each text."""
    similar = np.arange(len(vectors))
    for first in range(0, len(vectors), BLOCK):
        block = vectors[first : first + BLOCK]
        count = min(NEAREST, len(block) - 1)
        for start in range(0, len(block) if count else 0, SLICE):
            cosines = block[start : start + SLICE] @ block.T
            places = np.arange(len(cosines))
            cosines[places, start + places] = -np.inf
            nearest = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
            similar[first + start + places] = first + nearest[places, generator.integers(0, count, len(cosines))]
    return similar
