"""Fake quantizers of kernels and of constants."""

from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.quantization.fake_quant import kernel_fake_quant, kernel_step
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part


class WeightFakeQuant(keras.layers.Layer):
    """A named weight that a policy may quantize; identity where it is not `enabled`.

    observer: called with the quantizer and the values of an enabled one, in place of quantizing.
    """

    def __init__(self, path: str, enabled: bool):
        super().__init__(name=path.replace(".", "_"), dtype="float32", autocast=False)
        self.path, self.enabled, self.observer = path, enabled, None

    def call(self, values):
        if not self.enabled:
            return values
        return self.quantized(values) if self.observer is None else self.observer(self, values)

    def quantized(self, values) -> Any:
        """The values on the quantization grid."""
        raise NotImplementedError


class KernelFakeQuant(WeightFakeQuant):
    """A Dense kernel (in, out) in int8: symmetric, -127..127 (4 bits: -7..7), one scale an output channel.

    The range is read from the kernel at every call, training or not: it is the grid on which the file stores the kernel.
    """

    def __init__(self, policy: QuantizationPolicy | None, path: str):
        super().__init__(path, bool(policy and policy.kernels))
        self.bits = policy.kernel_bits if self.enabled else None

    def quantized(self, values):
        return tf.cast(kernel_fake_quant(tf.cast(values, tf.float32), self.bits), values.dtype)

    def scale(self, kernel) -> tf.Tensor:
        """The scale of each output channel, (out,)."""
        return kernel_step(tf.cast(kernel, tf.float32), self.bits)


class ConstantFakeQuant(WeightFakeQuant):
    """A constant beside an activation: in an integer-only model on the 8-bit grid from its smallest to its largest value."""

    def __init__(self, policy: QuantizationPolicy | None, path: str):
        integer = integer_part(policy)
        super().__init__(path, bool(integer and integer.kernels))

    def quantized(self, values):
        low, high = (tf.stop_gradient(reduce(tf.cast(values, tf.float32))) for reduce in (tf.reduce_min, tf.reduce_max))
        low, high = tf.minimum(low, 0.0), tf.maximum(high, 0.0)
        return tf.quantization.fake_quant_with_min_max_vars(values, low, high)
