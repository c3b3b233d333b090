"""A dense layer whose kernel and output pass through named quantization points."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.activations import flat_below
from kerasbert.layers.norms import NoNorm
from kerasbert.layers.quantization.policy import QuantizationPolicy
from kerasbert.layers.quantization.quantizers import ActivationPoint, KernelPoint


class Dense(keras.layers.Layer):
    """(..., in) -> (..., units), float.

    reads: the point that its input has passed through; several denses may read one. The exporter needs it to know the range of the input.
    The output point sits before the activation, because that is the tensor which a backend's integer dense writes.
    writes_to: the stream whose scaled channels it writes; set before it is built.
    folded: a scale and shift of the output that is computed as a part of kernel and bias, as converters would make it: training then sees
    the grid of the kernel that is stored. keeps_bias, symmetric: see `ActivationPoint`.
    """

    def __init__(
        self,
        units: int,
        reads: ActivationPoint,
        policy: QuantizationPolicy | None,
        path: str,
        *,
        initializer,
        activation=None,
        folded: NoNorm | None = None,
        keeps_bias: bool = False,
        symmetric: bool = False,
    ):
        super().__init__(name=path.replace(".", "_"))
        self.units, self.path, self.reads = units, path, reads
        self.writes = ActivationPoint(
            policy, f"{path}.output", floor=flat_below(activation), keeps_bias=keeps_bias, symmetric=symmetric
        )
        self.kernel_point = KernelPoint(policy, f"{path}.kernel")
        self.activation, self.folded = activation, folded
        self.writes_to: ActivationPoint | None = None
        self._initializer = initializer

    def build(self, input_shape):
        # Read as it is, in float32, also under mixed precision: the grid of a kernel is that of the stored one.
        options = {"dtype": "float32", "experimental_autocast": False}
        self.kernel = self.add_weight("kernel", (input_shape[-1], self.units), initializer=self._initializer, **options)
        self.bias = self.add_weight("bias", (self.units,), initializer="zeros", **options)
        if self.folded is not None:
            self.folded.build((None, self.units))
        super().build(input_shape)

    def call(self, x, training=None):
        kernel = self.kernel_point(self.served_kernel())
        if self._integer and not training and self.reads.observer is None:
            product = self._accumulate(x, kernel)
        else:
            kernel, bias = tf.cast(kernel, x.dtype), tf.cast(self.served_bias(), x.dtype)
            product = (self._product_of_rows(x, kernel) if training else tf.matmul(x, kernel)) + bias
        product = tf.cast(self.writes(product, training=training), x.dtype)
        return self.activation(product) if self.activation else product

    def _product_of_rows(self, x, kernel):
        """The product over all rows of a batch at once: the gradient of a product by texts would add up one kernel gradient a text."""
        if x.shape.rank == 2:
            return tf.matmul(x, kernel)
        product = tf.matmul(tf.reshape(x, (-1, kernel.shape[0])), kernel)
        return tf.reshape(product, tf.concat([tf.shape(x)[:-1], [self.units]], 0))

    def served_kernel(self):
        """The kernel (in, units) for the input as `reads` gives it: its rows undo an equalizer, its columns are scaled as a stream is."""
        kernel = tf.convert_to_tensor(self.kernel)
        if self.folded is not None:
            kernel = kernel * self.folded.gamma
        if self.writes_to is not None and self.writes_to.offset is not None:
            kernel = kernel - tf.reduce_mean(kernel, axis=1, keepdims=True)
        kernel = self._written(kernel)
        if self.reads.factors is None:
            return kernel
        return kernel * tf.expand_dims(1.0 / self.reads.factors, 1)

    def served_bias(self):
        """The bias (units,), with what is folded into it."""
        bias = tf.convert_to_tensor(self.bias)
        if self.folded is not None:
            bias = bias * self.folded.gamma + self.folded.beta
        if self.writes_to is not None and self.writes_to.offset is not None:
            bias = bias - tf.reduce_mean(bias) - self.writes_to.offset()
        return self._written(bias)

    def _written(self, values):
        """(..., units) as a stream takes them, scaled."""
        if self.writes_to is None or self.writes_to.factors is None:
            return values
        return values * self.writes_to.factors

    @property
    def _integer(self) -> bool:
        """Whether a backend computes this dense in integers with ranges that are known beforehand, and float32 holds its sums exactly."""
        return self.kernel_point.enabled and self.reads.kind == self.writes.kind == "static" and self.reads.bits == 8

    def _accumulate(self, x, kernel):
        """The product and bias as an int32 accumulator holds them, in whole float32 numbers: exact, whatever the order of summation.

        A float product of the same values differs by some ten-thousandths of an 8-bit step, which is enough to round a few values in a
        thousand the other way; later layers amplify that until the model and its file disagree on doubtful texts.
        """
        kernel_step = self.kernel_point.step(self.served_kernel())  # (units,)
        step = self.reads.step * kernel_step
        total = tf.matmul(tf.round(tf.cast(x, tf.float32) / self.reads.step), tf.round(kernel / kernel_step))
        return (total + tf.round(self.served_bias() / step)) * step
