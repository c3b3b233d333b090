"""Normalization over the hidden size."""

import tensorflow as tf
import tf_keras as keras


class LayerNorm(keras.layers.Layer):
    """Layer normalization (Ba et al. 2016) over the last axis, computed in float32. (..., H) -> (..., H).

    Written out instead of Keras' layer: the exporter gets nine operators with every one on the rows, none on (H,) constants.
    """

    def __init__(self, epsilon: float, path: str):
        super().__init__(name=path.replace(".", "_"))
        self.epsilon, self.path = epsilon, path

    def build(self, input_shape):
        self.gamma = self.add_weight("gamma", (input_shape[-1],), initializer="ones")
        self.beta = self.add_weight("beta", (input_shape[-1],), initializer="zeros")
        super().build(input_shape)

    def call(self, x):
        data = tf.cast(x, tf.float32)
        centred = data - tf.reduce_mean(data, axis=-1, keepdims=True)
        variance = tf.reduce_mean(tf.square(centred), axis=-1, keepdims=True)
        normal = centred * tf.math.rsqrt(variance + self.epsilon)
        # A shift of full rank: TFLite's converter folds a (H,) shift into the next dense, whose input would then not be the tensor that
        # training gave a quantization range.
        shift = tf.reshape(tf.cast(self.beta, tf.float32), [1] * (len(x.shape) - 1) + [-1])
        return tf.cast(normal * tf.cast(self.gamma, tf.float32) + shift, x.dtype)
