"""Normalization over the last axis."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.capture import capture
from kerasbert.layers.lowering.half_range import in_half_range


class Norm(keras.layers.Layer):
    """The base: a scale `gamma` and a shift `beta` of each channel, (H,)."""

    def __init__(self, path: str, has_bias: bool = True):
        super().__init__(name=path.replace(".", "_"))
        self.path, self.has_bias = path, has_bias

    def build(self, input_shape: tf.TensorShape) -> None:
        # float32 also under mixed precision: they may be folded into a kernel, whose quantization grid is that of the stored one.
        options = {"dtype": "float32", "experimental_autocast": False}
        self.gamma = self.add_weight("gamma", (input_shape[-1],), initializer="ones", **options)
        self.beta = self.add_weight("beta", (input_shape[-1],), initializer="zeros", trainable=self.has_bias, **options)
        super().build(input_shape)


class LayerNorm(Norm):
    """Layer normalization (Ba et al. 2016), computed in float32: (..., H) -> (..., H).

    Written out, because Keras' layer becomes operators on (H,) constants in an exported graph.
    """

    def __init__(self, epsilon: float, path: str, has_bias: bool = True):
        super().__init__(path, has_bias)
        self.epsilon = epsilon

    def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        data = tf.cast(x, tf.float32)
        centered = data - tf.reduce_mean(data, axis=-1, keepdims=True)
        centered, epsilon = in_half_range(centered, self.epsilon)
        variance = tf.reduce_mean(tf.square(centered), axis=-1, keepdims=True)  # (..., 1)
        normal = centered * tf.math.rsqrt(variance + epsilon)
        result = tf.cast(normal * per_channel(self.gamma, data) + per_channel(self.beta, data), x.dtype)
        capture("norm", (self.path, x, result))
        return result


def per_channel(values: tf.Tensor | tf.Variable, x: tf.Tensor) -> tf.Tensor:
    """Reshape (H,) values to the rank of x (..., H): converters fold a vector into the next Dense layer."""
    return tf.cast(tf.reshape(values, [1] * (len(x.shape) - 1) + [-1]), x.dtype)
