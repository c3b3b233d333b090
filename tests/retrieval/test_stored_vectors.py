"""Vectors in 8 bits or one, the search among them, and the engines that find candidates."""

import numpy as np
import pytest

from kerasbert.errors import KerasBertError
from kerasbert.retrieval.engines import BITS, ENGINES, FAISS_FLAT, FAISS_HNSW
from kerasbert.retrieval.projection import fit_projection
from kerasbert.retrieval.stored_vectors import BIT, StoredVectors, largest

RANDOM = np.random.default_rng(0)
VECTORS = RANDOM.normal(size=(3000, 48)) @ RANDOM.normal(size=(48, 48))
QUERY = VECTORS[7] + 0.1 * RANDOM.normal(size=48)


def cosines(vectors, query):
    return vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)


def test_scores_are_near_the_cosines():
    stored, query = StoredVectors.of(VECTORS), StoredVectors.of(QUERY[None])
    scores = stored.scores(query) * query.scales[0]
    np.testing.assert_allclose(scores, cosines(VECTORS, QUERY), atol=0.01)
    found = stored.search(query, 5)
    assert found[0][0] == 7 and [score for _, score in found] == sorted((score for _, score in found), reverse=True)


@pytest.mark.parametrize("dimensions", [3, 48, 1040, 2000])  # beyond 1,040, float32 does not hold every sum
def test_products_are_exact(dimensions):
    values = np.full((5, dimensions), 127, np.int8)
    values[1:] -= np.arange(1, 5, dtype=np.int8)[:, None]
    stored = StoredVectors(values, np.ones(5, np.float32))
    query = StoredVectors(values[:1], np.ones(1, np.float32))
    expected = values.astype(np.int64) @ values[0].astype(np.int64)
    assert (stored.scores(query) == expected).all()
    assert (stored.scores(query, np.array([1, 4])) == expected[[1, 4]]).all()


def test_equal_scores_keep_the_order_of_rows():
    scores = np.array([1.0, 3, 2, 3, 2, 3, 2])
    assert largest(scores, 2).tolist() == [1, 3]
    assert largest(scores, 5).tolist() == [1, 3, 5, 2, 4]
    assert largest(scores, 20).tolist() == [1, 3, 5, 2, 4, 6, 0]


def test_zero_vectors_and_numbers_that_are_not_finite():
    stored = StoredVectors.of(np.array([[0.0, 0], [1, 0]]))
    assert stored.scales[0] == 0 and not stored.values[0].any()
    with pytest.raises(KerasBertError, match="finite"):
        StoredVectors.of(np.array([[1.0, np.nan]]))


def test_bits_keep_the_signs():
    stored = StoredVectors.of(VECTORS, BIT)
    assert set(np.unique(stored.values)) == {-1, 1}
    assert stored.search(StoredVectors.of(QUERY[None]), 1)[0][0] == 7


@pytest.mark.parametrize("engine", [BITS, FAISS_FLAT, FAISS_HNSW])
def test_engines_find_what_the_exact_search_finds(engine):
    if engine.startswith("faiss"):
        pytest.importorskip("faiss")
    stored = StoredVectors.of(VECTORS)
    made, hits = ENGINES[engine](stored), 0
    for row in range(0, 3000, 60):
        query = StoredVectors.of(VECTORS[row : row + 1] + RANDOM.normal(size=48))
        candidates = made.candidates(query, 10)
        assert 10 <= len(candidates) < 3000 and (np.diff(candidates) > 0).all()
        hits += len(set(stored.search(query, 10)) & set(stored.search(query, 10, candidates)))
    assert hits >= (0.6 if engine == BITS else 0.9) * 500  # 100 candidates of 3,000 rows with 48 numbers


def test_a_projection_keeps_cosines():
    low = RANDOM.normal(size=(500, 8)) @ RANDOM.normal(size=(8, 32))
    projection = fit_projection(low, 8)
    assert projection.shape == (32, 8) and projection.dtype == np.float32
    np.testing.assert_allclose(cosines(low @ projection, low[3] @ projection), cosines(low, low[3]), atol=1e-4)
    with pytest.raises(KerasBertError, match="8 texts or more"):
        fit_projection(low[:5], 8)
    with pytest.raises(KerasBertError, match="at most 32"):
        fit_projection(low, 33)
