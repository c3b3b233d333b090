"""Sums of squares within the range of 16-bit floats."""

import tensorflow as tf

from kerasbert.layers.lowering.options import lowering_options

# A token's largest deviation after the scaling of `half_range`. Squares, and their sum over 4,096 channels, stay below 65,504, the largest
# 16-bit float. What squares to less than the smallest one adds less than 1 % to the variance of 384 channels.
HALF_LARGEST = 4.0
# A deviation is taken to be at least this: the vector may be constant.
HALF_SMALLEST = 1e-3


def in_half_range(x: tf.Tensor, epsilon: float) -> tuple[tf.Tensor, float | tf.Tensor]:
    """Scale vectors (..., H) and the epsilon of their variance, if the target has 16-bit floats. No scale changes a layer norm's result.

    Without one, MiniLM's first norm squares 344 and exceeds 16 bits.
    """
    if not lowering_options().half_range:
        return x, epsilon
    scale = half_range_scale(x)
    return x * scale, tf.square(epsilon**0.5 * scale)


def half_range_scale(x: tf.Tensor) -> tf.Tensor:
    """Return the factor of each vector (..., H) under which its squares, and their sum, stay in the range of 16-bit floats: (..., 1)."""
    largest = tf.reduce_max(tf.abs(x), axis=-1, keepdims=True)
    return HALF_LARGEST / tf.maximum(largest, HALF_SMALLEST)
