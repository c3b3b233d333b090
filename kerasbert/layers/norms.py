"""Normalization over the last axis, or what takes its place."""

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


class NoNorm(keras.layers.Layer):
    """MobileBERT's scale and shift without statistics (Sun et al. 2020, section 4.3). (..., H) -> (..., H)."""

    def __init__(self, path: str):
        super().__init__(name=path.replace(".", "_"))
        self.path = path

    def build(self, input_shape):
        # Read in float32 also under mixed precision: it may be a part of a kernel, whose grid is that of the stored one.
        options = {"dtype": "float32", "experimental_autocast": False}
        self.gamma = self.add_weight("gamma", (input_shape[-1],), initializer="ones", **options)
        self.beta = self.add_weight("beta", (input_shape[-1],), initializer="zeros", **options)
        super().build(input_shape)

    def call(self, x):
        shape = [1] * (len(x.shape) - 1) + [-1]  # of full rank, as in LayerNorm
        return x * tf.cast(tf.reshape(self.gamma, shape), x.dtype) + tf.cast(tf.reshape(self.beta, shape), x.dtype)


# transformers' MobileBERT gives two of its LayerNorms PyTorch's own epsilon instead of the config's: the embeddings' and the one after the
# last feed-forward network. (Google's code has 1e-12 throughout; published checkpoints use NoNorm, which has none.)
MOBILEBERT_EPSILON = 1e-5
NORMS = ("layer_norm", "no_norm")


def make_norm(kind: str, epsilon: float, path: str) -> keras.layers.Layer:
    """The norm that a config's `normalization_type` names. Raises ValueError for another."""
    if kind not in NORMS:
        raise ValueError(f"Expected a norm of {NORMS}. Received: {kind!r}")
    return LayerNorm(epsilon, path) if kind == "layer_norm" else NoNorm(path)
