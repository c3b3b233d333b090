"""Batches of texts about the same: a student learns more from texts that are hard to tell apart than from random ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kerasbert.data.dataset import Dataset, FeatureMaker
from kerasbert.optional import import_optional
from kerasbert.text import Tokenizer

_ITERATIONS = 8  # of k-means
_ORDERS = 4  # clusterings; epochs take them in turn


@dataclass(frozen=True)
class TopicDataset(Dataset):
    """A dataset whose batches of training are of one topic each.

    Attributes:
        topics: The topic of each example, `(orders, examples)`.
    """

    topics: np.ndarray = field(kw_only=True, compare=False, repr=False)

    def features(
        self, processor: FeatureMaker, tokenizer: Tokenizer, length: int, scoring: bool = False
    ) -> tuple[list, Any]:
        """Return the features of `Dataset.features` with the topics."""
        examples, features = super().features(processor, tokenizer, length, scoring)
        return examples, replace(features, topics=self.topics)


def find_topics(vectors: np.ndarray, size: int, epochs: int, seed: int) -> np.ndarray:
    """Return the topic of each text, by k-means of the vectors (Lloyd 1982) with the package faiss.

    Args:
        vectors: Unit vectors `(texts, width)`.
        size: Texts in a topic, on average.
        epochs: Epochs of training; each of the first four has its own clustering.
        seed: The seed of the first one.

    Returns:
        `(orders, texts)` int32, from 0 on.

    Raises:
        KerasBertError: When faiss is not installed.
    """
    faiss = import_optional("faiss", "batches of one topic")
    count = max(1, round(len(vectors) / size))
    vectors = np.ascontiguousarray(vectors, np.float32)
    orders: Sequence[np.ndarray] = [
        _clustered(faiss, vectors, count, seed + number) for number in range(min(max(epochs, 1), _ORDERS))
    ]
    return np.stack(orders)


def _clustered(faiss: Any, vectors: np.ndarray, count: int, seed: int) -> np.ndarray:
    clusters = faiss.Kmeans(vectors.shape[1], count, niter=_ITERATIONS, seed=seed, min_points_per_centroid=1)
    clusters.train(vectors)
    return clusters.index.search(vectors, 1)[1][:, 0].astype(np.int32)
