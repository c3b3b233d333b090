"""One vector a text from one vector a token."""

import tensorflow as tf

POOLINGS = ("mean", "cls", "max")


def pool(sequence, attention_mask, mode: str):
    """(B, S, H), (B, S) -> (B, H): the mean or maximum over unpadded tokens, or the first token's vector."""
    if mode == "cls":
        return first_token(sequence)
    mask = tf.expand_dims(tf.cast(attention_mask, sequence.dtype), -1)  # (B, S, 1)
    if mode == "mean":
        # A product with the reciprocal: a quantized division can meet a divisor that rounds to its zero point.
        count = tf.maximum(tf.reduce_sum(mask, axis=1), 1.0)
        return tf.reduce_sum(sequence * mask, axis=1) * tf.math.reciprocal(count)
    if mode == "max":
        return tf.reduce_max(sequence - (1.0 - mask) * 1e4, axis=1)
    raise ValueError(f"expected a pooling of {POOLINGS}, received {mode!r}")


def first_token(sequence):
    """(B, S, H) -> (B, H), by a slice that keeps the axis and a reshape: delegates refuse a slice that drops one."""
    batch = sequence.shape[0] if sequence.shape[0] is not None else -1
    return tf.reshape(sequence[:, :1], (batch, sequence.shape[-1]))
