"""Attention without products of matrices: the same numbers as with them."""

import numpy as np
import pytest
import tensorflow as tf

from kerasbert.layers.blocks.decomposed_attention import (
    context_by_sums,
    in_eight_bits,
    in_float,
    logistic_softmax,
    scores_by_sums,
)
from kerasbert.layers.quantization.padding import INTEGER_MASK

LENGTH, WIDTH, HEADS = 6, 8, 2


def drawn(*shape, seed=0, size=1.0):
    return tf.constant(size * np.random.default_rng(seed).normal(size=shape), tf.float32)


def by_heads(x):
    """(1, S, W) -> (1, N, S, D)."""
    return tf.transpose(tf.reshape(x, (1, LENGTH, HEADS, WIDTH // HEADS)), (0, 2, 1, 3))


@pytest.fixture
def scores():
    """(1, S, S, N) with two tokens of padding."""
    bias = tf.constant([0.0] * (LENGTH - 2) + [INTEGER_MASK] * 2)
    return drawn(1, LENGTH, LENGTH, HEADS, seed=3, size=2.0) + tf.reshape(bias, (1, 1, -1, 1))


def test_scores_are_those_of_a_product_of_matrices():
    q, k = drawn(1, LENGTH, WIDTH), drawn(1, LENGTH, WIDTH, seed=1)
    expected = tf.matmul(by_heads(q), by_heads(k), transpose_b=True)
    np.testing.assert_allclose(tf.transpose(scores_by_sums(q, k, HEADS, in_float), (0, 3, 1, 2)), expected, atol=1e-5)


def test_contexts_are_those_of_a_product_of_matrices(scores):
    v, probabilities = drawn(1, LENGTH, WIDTH, seed=2), tf.nn.softmax(scores, axis=2)
    expected = tf.matmul(tf.transpose(probabilities, (0, 3, 1, 2)), by_heads(v))
    expected = tf.reshape(tf.transpose(expected, (0, 2, 1, 3)), (1, LENGTH, WIDTH))
    np.testing.assert_allclose(context_by_sums(probabilities, v, in_float), expected, atol=1e-5)


def test_probabilities_are_those_of_softmax(scores):
    np.testing.assert_allclose(logistic_softmax(scores, in_float), tf.nn.softmax(scores, axis=2), atol=1e-6)


def test_decomposed_attention_in_eight_bits_is_close_to_float(scores):
    """Of values from 0 to 1, in a few steps of 1/255, one number alone or all of them equal; padding gets nothing."""
    alike = tf.zeros_like(scores)
    alone = tf.one_hot([[[1, 1]] * LENGTH], LENGTH, 20.0, 0.0, axis=2)
    for case in (scores, alike, alone):
        found = logistic_softmax(case, in_eight_bits).numpy()
        np.testing.assert_allclose(found, tf.nn.softmax(case, axis=2), atol=4 / 255)
        np.testing.assert_allclose(found.sum(axis=2), 1.0, atol=8 / 255)
    assert not logistic_softmax(scores, in_eight_bits)[:, :, -2:].numpy().any()
