"""Rotary position embeddings."""

from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.quantization.factory import LayerFactory


class Rotary(keras.layers.Layer):
    """Rotate each pair of channels i and i + D / 2 of queries or keys by position / base^(2 i / D): (B, N, S, D) -> (B, N, S, D).

    The products of rotated queries and keys depend on the distance of their positions alone (Su et al. 2021, section 3.2).

    Args:
        make: the factory of the layer.
        base: the base of the wavelengths, such as 10,000.
    """

    def __init__(self, make: LayerFactory, base: float):
        super().__init__(name=make.name)
        self.base = base

    def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        size: Any = x.shape[-1]
        length = x.shape[2] or tf.shape(x)[2]
        frequencies = tf.constant(self.base ** (-np.arange(0, size, 2) / size), tf.float32)  # (D / 2,)
        angles = tf.cast(tf.range(length), tf.float32)[:, tf.newaxis] * tf.concat(
            [frequencies, frequencies], 0
        )  # (S, D)
        first, second = tf.split(x, 2, axis=-1)
        turned = tf.concat([-second, first], -1)  # by a quarter
        return x * tf.cast(tf.cos(angles), x.dtype) + turned * tf.cast(tf.sin(angles), x.dtype)
