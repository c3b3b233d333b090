"""A projection of vectors to fewer numbers that keeps their cosines as far as possible."""

import numpy as np

from kerasbert.arguments import argument
from kerasbert.errors import KerasBertError


def fit_projection(vectors: np.ndarray, dimensions: int) -> np.ndarray:
    """Find the directions with the largest part of vectors: principal components without centring, which keeps products of vectors.

    Args:
        vectors: float32 `(rows, width)`, of length 1.
        dimensions: The number of directions.

    Returns:
        float32 `(width, dimensions)`.

    Raises:
        KerasBertError: When there are fewer vectors than directions, or fewer numbers in a vector.
    """
    if dimensions > vectors.shape[1]:
        raise KerasBertError(
            f"expected {argument('dimensions')} of at most {vectors.shape[1]:,}, which the model's vectors have, received {dimensions:,}; "
            "lower them"
        )
    if len(vectors) < dimensions:
        raise KerasBertError(
            f"expected {dimensions:,} texts or more for vectors of {dimensions:,} dimensions, received {len(vectors):,}; add more at once, "
            "or leave the dimensions out"
        )
    vectors = vectors.astype(np.float64)
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    return directions[:, ::-1][:, :dimensions].astype(np.float32)


def project(vectors: np.ndarray, projection: np.ndarray | None) -> np.ndarray:
    """Multiply vectors by a projection, in double precision as the other languages do.

    Args:
        vectors: `(rows, width)`.
        projection: `(width, dimensions)`, or None, which leaves the vectors.
    """
    return vectors if projection is None else vectors.astype(np.float64) @ projection.astype(np.float64)
