"""Pooling: one vector for a text from the vectors of its tokens."""

from typing import Any

import tensorflow as tf

from kerasbert.encoders.base import first_token

POOLINGS = ("mean", "cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")


def pool(sequence: tf.Tensor, attention_mask: tf.Tensor, mode: str) -> tf.Tensor:
    """Pool a sequence: (B, S, H), mask (B, S) -> (B, H). The modes are those of sentence-transformers, under its names.

    Args:
        sequence: the output of an encoder.
        attention_mask: ones for tokens, zeros for padding behind them.
        mode: the `mean` or `max` over tokens; `mean_sqrt_len_tokens`, their sum over the square root of their number; `weightedmean`, with
            the weights 1, 2, 3, ... by position; `cls` or `lasttoken`, the vector of the first or last token.

    Raises:
        ValueError: when there is no such mode.
    """
    if mode == "cls":
        return first_token(sequence)
    mask = tf.expand_dims(tf.cast(attention_mask, sequence.dtype), -1)  # (B, S, 1)
    if mode in ("mean", "mean_sqrt_len_tokens"):
        # A product with the reciprocal: the divisor of a quantized division can round to its zero point.
        count = tf.maximum(tf.reduce_sum(mask, axis=1), 1.0)
        scale = tf.math.reciprocal(count) if mode == "mean" else tf.math.rsqrt(count)
        return tf.reduce_sum(sequence * mask, axis=1) * scale
    if mode == "max":
        return tf.reduce_max(sequence - (1.0 - mask) * 1e4, axis=1)
    if mode == "weightedmean":
        # Weights from 0 to 1: in fp16 the sum of 512 whole numbers would be infinite.
        weights = mask * _positions(sequence)
        total = tf.maximum(tf.reduce_sum(weights, axis=1, keepdims=True), 1e-4)
        return tf.reduce_sum(sequence * (weights * tf.math.reciprocal(total)), axis=1)
    if mode == "lasttoken":
        following = tf.concat([mask[:, 1:], tf.zeros_like(mask[:, :1])], axis=1)
        return tf.reduce_sum(sequence * (mask - following), axis=1)
    raise ValueError(f"expected a pooling of {POOLINGS}, received {mode!r}")


def _positions(sequence: tf.Tensor) -> tf.Tensor:
    """Return 1/S, 2/S, ..., 1 of shape (1, S, 1), a constant where the length is known."""
    length: Any = sequence.shape[1] if sequence.shape[1] is not None else tf.shape(sequence)[1]
    positions = tf.cast(tf.range(1, length + 1), sequence.dtype) / tf.cast(length, sequence.dtype)
    return tf.reshape(positions, (1, -1, 1))
