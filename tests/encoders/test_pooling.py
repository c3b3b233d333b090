import numpy as np
import pytest

from kerasbert.encoders.pooling import pool


def test_pooling_reads_only_real_tokens():
    draw = np.random.default_rng(1)
    sequence = draw.normal(-3, 1, (2, 6, 8)).astype(np.float32)
    mask = np.array([[1, 1, 1, 1, 1, 1], [1, 1, 0, 0, 0, 0]], np.int32)
    np.testing.assert_allclose(pool(sequence, mask, "mean")[1], sequence[1, :2].mean(0), atol=1e-6)
    np.testing.assert_allclose(pool(sequence, mask, "mean")[0], sequence[0].mean(0), atol=1e-6)
    np.testing.assert_allclose(pool(sequence, mask, "max")[1], sequence[1, :2].max(0), atol=1e-6)
    np.testing.assert_array_equal(pool(sequence, mask, "cls"), sequence[:, 0])
    with pytest.raises(ValueError, match="'median'"):
        pool(sequence, mask, "median")


def test_mean_of_a_row_without_tokens_is_zero_and_not_nan():
    np.testing.assert_array_equal(pool(np.ones((1, 3, 4), np.float32), np.zeros((1, 3), np.int32), "mean"), 0)
