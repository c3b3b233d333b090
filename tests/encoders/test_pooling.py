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
    np.testing.assert_allclose(pool(sequence, mask, "lasttoken"), sequence[[0, 1], [5, 1]], atol=1e-6)
    sums = np.stack([sequence[0].sum(0) / np.sqrt(6), sequence[1, :2].sum(0) / np.sqrt(2)])
    np.testing.assert_allclose(pool(sequence, mask, "mean_sqrt_len_tokens"), sums, atol=1e-5)
    weights = np.arange(1, 7)[:, None]
    weighted = [(sequence[0] * weights).sum(0) / 21, (sequence[1, :2] * weights[:2]).sum(0) / 3]
    np.testing.assert_allclose(pool(sequence, mask, "weightedmean"), weighted, atol=1e-5)
    with pytest.raises(ValueError, match="'median'"):
        pool(sequence, mask, "median")


def test_weighted_mean_of_a_long_row_stays_within_fp16():
    sequence = np.full((1, 512, 4), 30, np.float16)
    np.testing.assert_allclose(pool(sequence, np.ones((1, 512), np.int32), "weightedmean"), 30, atol=0.1)


def test_mean_of_a_row_without_tokens_is_zero_and_not_nan():
    np.testing.assert_array_equal(pool(np.ones((1, 3, 4), np.float32), np.zeros((1, 3), np.int32), "mean"), 0)
