"""Neighbours of words among the token embeddings of a masked language model."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from kerasbert.processors.word_pieces import readable
from kerasbert.tasks.masked_lm import MaskedLM


class WordNeighbours:
    """The whole words nearest to words of several tokens, by the cosine of their embeddings; those of a word are the mean of its tokens.

    TinyBERT takes the neighbours from GloVe's vectors. These are of the language model itself, so no further file is needed.

    Args:
        model: The language model.
        allowed: Which ids are whole words, `(V,)` bool.
    """

    def __init__(self, model: MaskedLM, allowed: np.ndarray):
        self._tokenizer = model.tokenizer
        self._table = model.encoder.embeddings.word.table.numpy()
        self._ids = np.flatnonzero(allowed)
        self._found: dict[tuple[int, ...], list[str]] = {}

    @cached_property
    def _units(self) -> np.ndarray:
        return _unit(self._table[self._ids])

    def nearest(self, ids: Sequence[int], count: int) -> list[str]:
        """Return the nearest words of a word, the nearest first.

        Args:
            ids: The tokens of the word.
            count: How many.
        """
        key = tuple(map(int, ids))
        if key not in self._found:
            cosines = self._units @ _unit(self._table[list(key)].mean(axis=0))
            best = np.argsort(-cosines, kind="stable")[:count]
            self._found[key] = [readable(self._tokenizer, int(self._ids[each])) for each in best]
        return self._found[key]


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)
