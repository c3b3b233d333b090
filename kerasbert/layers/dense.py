"""The Dense layer of every encoder and head."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.norms import Norm
from kerasbert.layers.traversal import sublayers


def truncated_normal(config) -> keras.initializers.Initializer:
    """BERT's initializer. A new one for every variable: one instance, called twice, gives the same values twice."""
    return keras.initializers.TruncatedNormal(stddev=config.initializer_range)


class Dense(keras.layers.Layer):
    """A fully connected layer, float: (..., in) -> (..., units).

    Attributes:
        kernel, bias: (in, units) and (units,), float32 also under mixed precision.
        input_quantizer: the fake quantizer that the input has passed through; several layers may read one.
        folded: a NoNorm of the output that is computed as a part of kernel and bias, as converters would fold it.
    """

    def __init__(
        self, units: int, input_quantizer, path: str, *, initializer, activation=None, folded: Norm | None = None
    ):
        super().__init__(name=path.replace(".", "_"))
        self.units, self.path, self.input_quantizer = units, path, input_quantizer
        self.activation, self.folded = activation, folded
        self._initializer = initializer

    def build(self, input_shape):
        options = {"dtype": "float32", "experimental_autocast": False}
        self.kernel = self.add_weight("kernel", (input_shape[-1], self.units), initializer=self._initializer, **options)
        self.bias = self.add_weight("bias", (self.units,), initializer="zeros", **options)
        if self.folded is not None:
            self.folded.build((None, self.units))
        super().build(input_shape)

    def call(self, x, training=None):
        product = self.product(x, self.served_kernel(), self.served_bias(), training)
        return self.activation(product) if self.activation else product

    def product(self, x, kernel, bias, training=None):
        """x (..., in) @ kernel (in, units) + bias (units,) -> (..., units)."""
        kernel, bias = tf.cast(kernel, x.dtype), tf.cast(bias, x.dtype)
        if not training or x.shape.rank == 2:
            return tf.matmul(x, kernel) + bias
        # All rows of a batch at once: the gradient of a batched product would add up one kernel gradient an example.
        rows = tf.matmul(tf.reshape(x, (-1, kernel.shape[0])), kernel)
        return tf.reshape(rows, tf.concat([tf.shape(x)[:-1], [self.units]], 0)) + bias

    def served_kernel(self):
        """The kernel (in, units) that the exported graph holds."""
        kernel = tf.convert_to_tensor(self.kernel)
        return kernel if self.folded is None else kernel * self.folded.gamma

    def served_bias(self):
        """The bias (units,) that the exported graph holds."""
        bias = tf.convert_to_tensor(self.bias)
        return bias if self.folded is None else bias * self.folded.gamma + self.folded.beta


def dense_layers(model: keras.layers.Layer) -> list[Dense]:
    """Every Dense layer of a model: the places of its matrix products."""
    return sublayers(model, Dense)
