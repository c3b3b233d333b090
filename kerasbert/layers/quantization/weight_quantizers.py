"""Fake quantizers of kernels."""

from collections.abc import Callable

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.quantization.fake_quant import block_fake_quant, kernel_fake_quant, kernel_scale
from kerasbert.layers.quantization.policy import QuantizationPolicy


class WeightFakeQuant(keras.layers.Layer):
    """A named weight that a policy may quantize; an identity where it is not `enabled`.

    Attributes:
        path: the name that policies match.
        enabled: whether the weight is quantized.
        observer: called with the quantizer and the values of an enabled one, instead of quantizing.
    """

    observer: "Callable[[WeightFakeQuant, tf.Tensor], tf.Tensor] | None"

    def __init__(self, path: str, enabled: bool):
        super().__init__(name=path.replace(".", "_"), dtype="float32", autocast=False)
        self.path, self.enabled, self.observer = path, enabled, None

    def call(self, values: tf.Tensor) -> tf.Tensor:
        if not self.enabled:
            return values
        return self.quantized(values) if self.observer is None else self.observer(self, values)

    def quantized(self, values: tf.Tensor) -> tf.Tensor:
        """Round the values to the quantization grid."""
        raise NotImplementedError


class KernelFakeQuant(WeightFakeQuant):
    """A Dense kernel (in, out) in int8, -127..127, or int4, -7..7: symmetric, one scale per output channel, in int4 also per block.

    The range is computed from the kernel in every call, training or not: it is the grid on which the file stores the kernel.
    """

    def __init__(self, policy: QuantizationPolicy | None, path: str):
        super().__init__(path, policy is not None and policy.kernels)
        self.bits = 8 if policy is None else policy.bits(path)
        self._block = None if policy is None else policy.kernel_block

    def quantized(self, values: tf.Tensor) -> tf.Tensor:
        data, block = tf.cast(values, tf.float32), self.block(values.shape[0])
        grid = kernel_fake_quant(data, self.bits) if block is None else block_fake_quant(data, self.bits, block)
        return tf.cast(grid, values.dtype)

    def block(self, inputs: int | None) -> int | None:
        """Return the number of inputs that share a scale in a kernel of 4 bits that blocks divide; None where all of a channel do."""
        divides = self._block is not None and self.bits == 4 and inputs is not None and inputs % self._block == 0
        return self._block if divides else None

    def scale(self, kernel: tf.Tensor) -> tf.Tensor:
        """Return the scale of each output channel, (out,)."""
        return kernel_scale(tf.cast(kernel, tf.float32), self.bits)
