"""The attention bias of padding in integer-only models."""

import tensorflow as tf

# The bias of padding in 8 bits. A larger one would widen the range of the scores; exp(-20) is below one scale of a probability.
INTEGER_MASK = -20.0


def integer_attention_bias(attention_mask: tf.Tensor) -> tf.Tensor:
    """Turn a mask (B, S) into a bias of scores (B, 1, 1, S): 0 for 1, `INTEGER_MASK` for 0, from a lookup without float operators."""
    attended = tf.expand_dims(tf.expand_dims(attention_mask, 1), 1)
    bias = tf.gather(tf.constant([INTEGER_MASK, 0.0]), attended)
    return tf.quantization.fake_quant_with_min_max_args(bias, INTEGER_MASK, 0.0)
