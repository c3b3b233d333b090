"""Pooling: one vector for a text from the vectors of its tokens."""

import tensorflow as tf

from kerasbert.encoders.base import first_token

POOLINGS = ("mean", "cls", "max")


def pool(sequence: tf.Tensor, attention_mask: tf.Tensor, mode: str) -> tf.Tensor:
    """Pool a sequence: (B, S, H), mask (B, S) -> (B, H).

    Args:
        sequence: the output of an encoder.
        attention_mask: ones for tokens, zeros for padding.
        mode: the `mean` or `max` over tokens, or `cls`, the vector of the first token.

    Raises:
        ValueError: when there is no such mode.
    """
    if mode == "cls":
        return first_token(sequence)
    mask = tf.expand_dims(tf.cast(attention_mask, sequence.dtype), -1)  # (B, S, 1)
    if mode == "mean":
        # A product with the reciprocal: the divisor of a quantized division can round to its zero point.
        count = tf.maximum(tf.reduce_sum(mask, axis=1), 1.0)
        return tf.reduce_sum(sequence * mask, axis=1) * tf.math.reciprocal(count)
    if mode == "max":
        return tf.reduce_max(sequence - (1.0 - mask) * 1e4, axis=1)
    raise ValueError(f"expected a pooling of {POOLINGS}, received {mode!r}")
