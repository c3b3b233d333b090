"""The Dense layer of every encoder and head."""

from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.activations import Activation, in_training
from kerasbert.layers.config import EncoderConfig


def truncated_normal(config: EncoderConfig) -> keras.initializers.Initializer:
    """Make BERT's initializer. Each variable needs one of its own: an instance draws the same values every time."""
    return keras.initializers.TruncatedNormal(stddev=config.initializer_range)


class Dense(keras.layers.Layer):
    """Fully connected layer: (..., in) -> (..., units).

    Its kernel may be the product of two factors: `factor` (in, rank), a Dense layer without bias, and `kernel` (rank, units).

    Attributes:
        kernel: (in, units), or (rank, units) behind a factor, float32 also under mixed precision.
        bias: (units,), float32 also under mixed precision; None where `has_bias` is false.
        input_quantizer: the fake quantizer of the kernel's input; several layers may share one.
        factor: the first factor, or None for a whole kernel.
    """

    def __init__(
        self, units: int, input_quantizer: keras.layers.Layer, path: str, *,
        initializer: keras.initializers.Initializer, activation: Activation | None = None, has_bias: bool = True,
        factor: "Dense | None" = None,
    ):  # fmt: skip
        super().__init__(name=path.replace(".", "_"))
        self.units, self.path, self.input_quantizer = units, path, input_quantizer
        self.activation, self.has_bias, self._initializer = activation, has_bias, initializer
        self.factor = factor
        self.bias: Any = None

    def build(self, input_shape: tf.TensorShape) -> None:
        options = {"dtype": "float32", "experimental_autocast": False}
        width = input_shape[-1] if self.factor is None else self.factor.units
        self.kernel = self.add_weight("kernel", (width, self.units), initializer=self._initializer, **options)
        if self.has_bias:
            self.bias = self.add_weight("bias", (self.units,), initializer="zeros", **options)
        super().build(input_shape)

    def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        x = self.kernel_input(x, training)
        product = self.product(x, self.served_kernel(), self.served_bias(), training)
        return self.activated(product, training)

    def activated(self, product: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        """Apply the activation, if there is one, to the product (..., units) with its bias."""
        if self.activation is None:
            return product
        return in_training(self.activation)(product) if training is True else self.activation(product)

    def kernel_input(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        """Return what the kernel multiplies: x (..., in) itself, or the product (..., rank) of x and the first factor."""
        if self.factor is None:
            return x
        return self.input_quantizer(self.factor(x, training=training), training=training)

    def product(self, x: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        """Compute x (..., in) @ kernel (in, units) + bias (units,) -> (..., units)."""
        kernel, bias = tf.cast(kernel, x.dtype), tf.cast(bias, x.dtype)
        if not training or x.shape.rank == 2:
            return tf.matmul(x, kernel) + bias
        # All rows of a batch at once: a batched product would make one kernel gradient per example and add them up.
        rows = tf.matmul(tf.reshape(x, (-1, kernel.shape[0])), kernel)
        return tf.reshape(rows, tf.concat([tf.shape(x)[:-1], [self.units]], 0)) + bias

    def served_kernel(self) -> tf.Tensor:
        """Return the kernel (in, units) of the exported graph."""
        return tf.convert_to_tensor(self.kernel)

    def served_bias(self) -> tf.Tensor:
        """Return the bias (units,) of the exported graph; zeros where the layer has none."""
        return tf.zeros((self.units,)) if self.bias is None else tf.convert_to_tensor(self.bias)
