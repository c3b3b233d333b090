"""Vectors in 8 bits or in one bit a number, and the exact search among them by cosine.

The products of two such vectors are whole numbers, so a search finds the same rows in the same order on every device, and in Python,
Kotlin and JavaScript.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from kerasbert.errors import KerasBertError

INT8, BIT = "int8", "bit"
FORMS = (INT8, BIT)
_LARGEST = 127
_BLOCK_VALUES = 1 << 18  # converted to float at a time, so that they stay in the processor's cache
_EXACT_DIMENSIONS = 2**24 // _LARGEST**2  # up to which float32 sums the products of 8-bit numbers exactly


@dataclass(frozen=True, eq=False)
class StoredVectors:
    """Vectors of length 1 as whole numbers with a scale each.

    Attributes:
        values: int8 `(rows, dimensions)`; -1 and 1 for vectors in one bit.
        scales: float32 `(rows,)`. A vector is about `values * scale`; that of a zero vector is 0.
    """

    values: np.ndarray
    scales: np.ndarray

    @classmethod
    def of(cls, vectors: np.ndarray, form: str = INT8) -> Self:
        """Round vectors of any length.

        Args:
            vectors: Finite numbers, `(rows, dimensions)`.
            form: `int8`, or `bit`, which keeps the signs only.

        Raises:
            KerasBertError: When a number is NaN or infinite.
        """
        vectors = np.asarray(vectors, np.float64)
        if not np.isfinite(vectors).all():
            raise KerasBertError(
                "expected vectors of finite numbers, received NaN or infinity; the model is damaged, convert it again"
            )
        largest = np.abs(vectors).max(axis=1, initial=0.0)
        present = largest > 0
        if form == BIT:
            scale = np.where(present, 1 / np.sqrt(vectors.shape[1]), 0.0)
            return cls(np.where(vectors < 0, -1, 1).astype(np.int8), scale.astype(np.float32))
        steps = np.where(present, largest, 1.0) / _LARGEST
        values = np.rint(vectors / steps[:, None]).astype(np.int8)
        norms = np.sqrt((vectors**2).sum(axis=1))
        scales = np.where(present, steps / np.where(present, norms, 1.0), 0.0)
        return cls(values, scales.astype(np.float32))

    def __len__(self) -> int:
        return len(self.scales)

    def scores(self, query: "StoredVectors", rows: np.ndarray | None = None) -> np.ndarray:
        """Compute the cosines of one query with rows, without the query's scale: float64 `(rows,)`.

        Args:
            query: One vector.
            rows: The numbers of the rows; None for all.
        """
        if rows is not None:
            products = self.values[rows].astype(np.int64) @ query.values[0].astype(np.int64)
            return products * self.scales[rows].astype(np.float64)
        count, dimensions = self.values.shape
        kind = np.float32 if dimensions <= _EXACT_DIMENSIONS else np.float64
        wanted, products = query.values[0].astype(kind), np.empty(count, kind)
        size = max(1, _BLOCK_VALUES // max(1, dimensions))
        block = np.empty((min(size, count), dimensions), kind)
        for start in range(0, count, size):
            part = self.values[start : start + size]
            converted = block[: len(part)]
            np.copyto(converted, part)
            np.matmul(converted, wanted, out=products[start : start + size])
        return products * self.scales.astype(np.float64)

    def search(self, query: "StoredVectors", top_k: int, rows: np.ndarray | None = None) -> list[tuple[int, float]]:
        """Find the rows with the largest cosines; of equal ones the first rows.

        Args:
            query: One vector.
            top_k: The number of rows to find.
            rows: The numbers of the rows to search, rising; None for all.

        Returns:
            The number of each row and its cosine, the best first.
        """
        scores = self.scores(query, rows)
        scale = np.float64(query.scales[0])
        best = largest(scores, top_k)
        numbers = best if rows is None else rows[best]
        return [
            (int(number), float(np.float32(scores[place] * scale))) for number, place in zip(numbers, best, strict=True)
        ]


def largest(scores: np.ndarray, count: int) -> np.ndarray:
    """Return the places of the largest numbers, the largest first; of equal ones the first places.

    Args:
        scores: Numbers `(rows,)`.
        count: How many.
    """
    if count < len(scores):
        limit = np.partition(scores, len(scores) - count)[len(scores) - count]
        above = np.flatnonzero(scores > limit)
        places = np.concatenate([above, np.flatnonzero(scores == limit)[: count - len(above)]])
    else:
        places = np.arange(len(scores))
    return places[np.lexsort((places, -scores[places]))]
