"""What finds candidates among many vectors, of which the exact search then takes the best."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from kerasbert.optional import import_optional
from kerasbert.retrieval.stored_vectors import StoredVectors, largest

EXACT, BITS, FAISS_FLAT, FAISS_HNSW = "exact", "bits", "faiss-flat", "faiss-hnsw"
_LEAST, _EACH = 100, 10  # candidates: at least, and for each row to find
# Of HNSW: links of a node, candidates when it is built, and when it is searched.
_LINKS, _CONSTRUCTION, _SEARCH = 32, 80, 128
_ADDED = 1 << 16  # rows at a time


class Engine(Protocol):
    """Finds candidates."""

    def candidates(self, query: StoredVectors, count: int) -> np.ndarray | None:
        """Return the numbers of rows that are near a query, rising; None for all rows.

        Args:
            query: One vector.
            count: The number of rows that will be taken of them.
        """
        ...


class Exact:
    """All rows are candidates."""

    def __init__(self, vectors: StoredVectors) -> None:
        pass

    def candidates(self, query: StoredVectors, count: int) -> np.ndarray | None:
        """See `Engine.candidates`."""
        return None


class Bits:
    """The rows whose numbers have the signs of the query's, as far as possible: one bit a number, an eighth of the memory to read."""

    def __init__(self, vectors: StoredVectors) -> None:
        self._words = _words(vectors.values)

    def candidates(self, query: StoredVectors, count: int) -> np.ndarray | None:
        """See `Engine.candidates`."""
        differing = np.zeros(len(self._words), np.int32)
        for place, word in enumerate(_words(query.values)[0]):
            differing += np.bitwise_count(self._words[:, place] ^ word)
        return np.sort(largest(-differing, _number(count)))


class Faiss:
    """An index of the package faiss over the vectors in 8 bits: flat, or a graph (HNSW, Malkov & Yashunin 2016)."""

    def __init__(self, vectors: StoredVectors, graph: bool) -> None:
        faiss = import_optional("faiss", f"the engine {FAISS_HNSW if graph else FAISS_FLAT}")
        kind, dimensions = faiss.ScalarQuantizer.QT_8bit, vectors.values.shape[1]
        if graph:
            self._index = faiss.IndexHNSWSQ(dimensions, kind, _LINKS, faiss.METRIC_INNER_PRODUCT)
            self._index.hnsw.efConstruction, self._index.hnsw.efSearch = _CONSTRUCTION, _SEARCH
        else:
            self._index = faiss.IndexScalarQuantizer(dimensions, kind, faiss.METRIC_INNER_PRODUCT)
        rows = np.linspace(0, len(vectors) - 1, min(len(vectors), _ADDED)).astype(np.int64)
        self._index.train(_floats(vectors, rows))
        for start in range(0, len(vectors), _ADDED):
            self._index.add(_floats(vectors, slice(start, start + _ADDED)))

    def candidates(self, query: StoredVectors, count: int) -> np.ndarray | None:
        """See `Engine.candidates`."""
        _, found = self._index.search(_floats(query, slice(None)), _number(count))
        return np.unique(found[found >= 0])


ENGINES: dict[str, Callable[[StoredVectors], Engine]] = {
    EXACT: Exact,
    BITS: Bits,
    FAISS_FLAT: lambda vectors: Faiss(vectors, graph=False),
    FAISS_HNSW: lambda vectors: Faiss(vectors, graph=True),
}


def _number(count: int) -> int:
    return max(_LEAST, _EACH * count)


def _floats(vectors: StoredVectors, rows: np.ndarray | slice) -> np.ndarray:
    return vectors.values[rows].astype(np.float32) * vectors.scales[rows, None]


def _words(values: np.ndarray) -> np.ndarray:
    """Return the signs of numbers, 64 to a word, uint64 `(rows, words)`."""
    bits = np.packbits(values > 0, axis=1)
    padded = np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8)))
    return np.asfortranarray(padded.view(np.uint64))
