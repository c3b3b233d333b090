"""A Dense layer whose kernel and output pass through fake quantizers."""

import tensorflow as tf

from kerasbert.layers.config import Activation, gelu, gelu_new
from kerasbert.layers.dense import Dense
from kerasbert.layers.norms import Norm
from kerasbert.layers.quantization.activation_quantizers import (
    ActivationFakeQuant,
    StaticFakeQuant,
    activation_quantizer,
)
from kerasbert.layers.quantization.policy import QuantizationPolicy
from kerasbert.layers.quantization.weight_quantizers import KernelFakeQuant


class QuantizedDense(Dense):
    """(..., in) -> (..., units), float, on the grids of 8 bits.

    Attributes:
        kernel_quantizer: of the kernel, one scale an output channel.
        output_quantizer: of the sum before the activation: it is the tensor that an integer operator writes.
    """

    def __init__(
        self,
        units: int,
        input_quantizer: ActivationFakeQuant,
        policy: QuantizationPolicy | None,
        path: str,
        *,
        prevent_bias_folding: bool = False,
        symmetric: bool = False,
        **options,
    ):
        super().__init__(units, input_quantizer, path, **options)
        self.output_quantizer = activation_quantizer(
            policy,
            f"{path}.output",
            clip_min=flat_below(self.activation),
            prevent_bias_folding=prevent_bias_folding,
            symmetric=symmetric,
        )
        self.kernel_quantizer = KernelFakeQuant(policy, f"{path}.kernel")
        self._residual: ActivationFakeQuant | None = None

    def write_to(self, residual: ActivationFakeQuant) -> None:
        """Notes the residual that the output is added to: it is scaled and centered for it."""
        self._residual = residual

    def call(self, x, training=None):
        kernel = self.kernel_quantizer(self.served_kernel())
        if self._is_integer and not training and self.input_quantizer.observer is None:
            product = self._accumulate(x, kernel)
        else:
            product = self.product(x, kernel, self.served_bias(), training)
        product = tf.cast(self.output_quantizer(product, training=training), x.dtype)
        return self.activation(product) if self.activation else product

    def served_kernel(self):
        """The kernel (in, units): its rows undo the input's equalization scales, its columns carry those of the residual."""
        kernel = super().served_kernel()
        if self._residual is not None and self._residual.mean_offset is not None:
            kernel = kernel - tf.reduce_mean(kernel, axis=1, keepdims=True)
        kernel = self._scaled(kernel)
        scales = self.input_quantizer.channel_scales
        return kernel if scales is None else kernel * tf.expand_dims(1.0 / scales, 1)

    def served_bias(self):
        bias = super().served_bias()
        if self._residual is not None and self._residual.mean_offset is not None:
            bias = bias - tf.reduce_mean(bias) - self._residual.mean_offset()
        return self._scaled(bias)

    def _scaled(self, values):
        """(..., units) with the equalization scales of the residual."""
        scales = None if self._residual is None else self._residual.channel_scales
        return values if scales is None else values * scales

    @property
    def _is_integer(self) -> bool:
        """Whether a backend computes this layer in integers with fixed ranges, and float32 holds its sums exactly."""
        sides = (self.input_quantizer, self.output_quantizer)
        static = all(isinstance(side, StaticFakeQuant) for side in sides)
        return self.kernel_quantizer.enabled and static and self.input_quantizer.bits == 8

    def _accumulate(self, x, kernel):
        """The product and bias as an int32 accumulator holds them, in whole float32 numbers: exact, whatever the order of summation.

        A float product of the same values differs by some ten-thousandths of a scale, which is enough to round a few values in a thousand
        the other way; later layers amplify that until the model and its file disagree on doubtful texts.
        """
        kernel_scale = self.kernel_quantizer.scale(self.served_kernel())  # (units,)
        input_scale = self.input_quantizer.scale
        scale = input_scale * kernel_scale
        total = tf.matmul(tf.round(tf.cast(x, tf.float32) / input_scale), tf.round(kernel / kernel_scale))
        return (total + tf.round(self.served_bias() / scale)) * scale


def flat_below(activation: Activation | None) -> float | None:
    """Return the input below which an activation is flat, to 2e-4: an 8-bit range need not reach lower.

    The Dense layers before BERT's GELUs go down to -30.
    """
    return {gelu: -4.0, gelu_new: -4.0, tf.nn.relu: 0.0}.get(activation)


def make_dense(
    units: int,
    input_quantizer: ActivationFakeQuant,
    policy: QuantizationPolicy | None,
    path: str,
    *,
    initializer,
    activation=None,
    folded: Norm | None = None,
    prevent_bias_folding: bool = False,
    symmetric: bool = False,
) -> Dense:
    """A Dense layer in float, or one whose kernel and output the policy may quantize.

    prevent_bias_folding, symmetric: of its output, see `activation_quantizer`.
    """
    options = {"initializer": initializer, "activation": activation, "folded": folded}
    if policy is None:
        return Dense(units, input_quantizer, path, **options)
    return QuantizedDense(
        units, input_quantizer, policy, path, prevent_bias_folding=prevent_bias_folding, symmetric=symmetric, **options
    )
