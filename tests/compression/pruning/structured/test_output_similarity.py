"""Similarities of outputs against NumPy."""

import numpy as np
import pytest

from kerasbert.compression.pruning.structured.output_similarity import OutputSimilarity, measure_name


def similarity(compared_as, reference, outputs):
    found = OutputSimilarity(compared_as)
    for one, other in zip(reference, outputs, strict=True):  # a batch for each row
        found.add([{"x": np.array([one])}], [{"x": np.array([other])}])
    return found


def test_decisions_agree():
    reference, outputs = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [[0.6, 0.4], [0.4, 0.6], [0.2, 0.8]]
    found = similarity("single_label", reference, outputs)
    assert found.value == pytest.approx(2 / 3) and measure_name("single_label") == "agreement"
    noise = np.linalg.norm(np.subtract(reference, outputs)) / np.linalg.norm(reference)
    assert found.error == pytest.approx(noise)


def test_each_label_is_a_decision():
    found = similarity("multi_label", [[0.9, 0.1], [0.8, 0.2]], [[0.6, 0.6], [0.7, 0.1]])
    assert found.value == 0.75


def test_vectors_have_a_cosine():
    found = similarity("embedding", [[1.0, 0.0], [0.0, 2.0]], [[1.0, 1.0], [0.0, -1.0]])
    assert found.value == pytest.approx((0.5**0.5 - 1) / 2) and measure_name("embedding") == "cosine"


def test_scores_are_correlated_over_all_rows():
    reference, outputs = [[1.0], [2.0], [3.0]], [[10.0], [12.0], [13.0]]
    found = similarity("regression", reference, outputs)
    assert found.value == pytest.approx(np.corrcoef([1, 2, 3], [10, 12, 13])[0, 1])
    assert measure_name("regression") == "correlation"


def test_no_decisions_are_no_similarity():
    found = OutputSimilarity("single_label")
    assert (found.value, found.error) == (0, 0)
    found.add([{"x": np.zeros((0, 3))}], [{"x": np.zeros((0, 3))}])  # a text without a mask
    assert found.value == 0
