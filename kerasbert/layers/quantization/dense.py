"""A Dense layer with fake quantizers of its kernel and its output."""

from dataclasses import replace
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.activations import Activation, gelu, gelu_new
from kerasbert.layers.dense import Dense
from kerasbert.layers.no_norm import FoldedDense
from kerasbert.layers.norms import Norm
from kerasbert.layers.quantization.activation_quantizers import (
    ActivationFakeQuant,
    StaticFakeQuant,
    activation_quantizer,
)
from kerasbert.layers.quantization.policy import QuantizationPolicy
from kerasbert.layers.quantization.weight_quantizers import KernelFakeQuant


class QuantizedDense(Dense):
    """Fully connected layer with fake quantization: (..., in) -> (..., units).

    Attributes:
        kernel_quantizer: the fake quantizer of the kernel, with one scale per output channel.
        output_quantizer: the fake quantizer of the sum before the activation, the tensor that an integer operator writes.
    """

    input_quantizer: ActivationFakeQuant

    def __init__(
        self,
        units: int,
        input_quantizer: ActivationFakeQuant,
        policy: QuantizationPolicy,
        path: str,
        *,
        prevent_bias_folding: bool = False,
        symmetric: bool = False,
        **options: Any,
    ):
        super().__init__(units, input_quantizer, path, **options)
        low, high = flat_outside(self.activation)
        self.output_quantizer = activation_quantizer(
            policy,
            f"{path}.output",
            clip_min=low,
            clip_max=high,
            prevent_bias_folding=prevent_bias_folding,
            symmetric=symmetric,
        )
        self.kernel_quantizer = KernelFakeQuant(policy, f"{path}.kernel")
        self._residual: ActivationFakeQuant | None = None

    def write_to(self, residual: ActivationFakeQuant) -> None:
        """Scale and center the output for the residual that it is added to."""
        self._residual = residual

    def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        x, kernel = self.kernel_input(x, training), self.kernel_quantizer(self.served_kernel())
        if self._is_integer and not training and self.input_quantizer.observer is None:
            product = self._accumulate(x, kernel)
        else:
            product = self.product(x, kernel, self.served_bias(), training)
        if self.activation is tf.nn.relu:  # a part of the operator, which writes the tensor that the next layer reads
            return tf.cast(self.output_quantizer(tf.nn.relu(product), training=training), x.dtype)
        product = tf.cast(self.output_quantizer(product, training=training), x.dtype)
        return self.activated(product, training)

    def served_kernel(self) -> tf.Tensor:
        """Return the kernel (in, units): its rows undo the input's equalization scales, its columns carry those of the residual."""
        kernel = super().served_kernel()
        if self._residual is not None and self._residual.mean_offset is not None:
            kernel = kernel - tf.reduce_mean(kernel, axis=1, keepdims=True)
        kernel = self._scaled(kernel)
        scales = self.input_quantizer.channel_scales
        return kernel if scales is None else kernel * tf.expand_dims(1.0 / scales, 1)

    def served_bias(self) -> tf.Tensor:
        bias = super().served_bias()
        if self._residual is not None and self._residual.mean_offset is not None:
            bias = bias - tf.reduce_mean(bias) - self._residual.mean_offset()
        return self._scaled(bias)

    def _scaled(self, values: tf.Tensor) -> tf.Tensor:
        """Apply the equalization scales of the residual to (..., units)."""
        scales = None if self._residual is None else self._residual.channel_scales
        return values if scales is None else values * scales

    @property
    def _is_integer(self) -> bool:
        """Whether a backend computes this layer in integers with fixed ranges, and float32 holds its sums exactly."""
        sides = (self.input_quantizer, self.output_quantizer)
        static = all(isinstance(side, StaticFakeQuant) for side in sides)
        return self.kernel_quantizer.enabled and static and self.input_quantizer.bits == 8

    def _accumulate(self, x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        """Compute product and bias as an int32 accumulator does, in whole float32 numbers: exact, in any order of summation.

        A float product of the same values differs by some ten-thousandths of a scale. That rounds a few values in a thousand to the other
        side, and later layers amplify it until the model and its file disagree on doubtful texts.
        """
        kernel_scale = self.kernel_quantizer.scale(self.served_kernel())  # (units,)
        input_scale = self.input_quantizer.scale
        scale = input_scale * kernel_scale
        total = tf.matmul(tf.round(tf.cast(x, tf.float32) / input_scale), tf.round(kernel / kernel_scale))
        return (total + tf.round(self.served_bias() / scale)) * scale


class FoldedQuantizedDense(QuantizedDense, FoldedDense):
    """The same with a NoNorm that is folded into it before it is quantized."""


def flat_outside(activation: Activation | None) -> tuple[float | None, float | None]:
    """Return the inputs below and above which an activation is flat, or None: an 8-bit range need not reach beyond them.

    The inputs of BERT's GELUs go down to -30, those of a pooler's tanh beyond 100. GELU is flat to 2e-4 there, and tanh to 7e-4, where 8
    bits have steps of 8e-3. Its two ends put zero on the grid: between two values of it, Keras and a converter may round to either side.
    """
    if activation is None:
        return None, None
    bounds = {gelu: (-4.0, None), gelu_new: (-4.0, None), tf.nn.relu: (0.0, None), tf.tanh: (-4.0, 4.0 * 127 / 128)}
    return bounds.get(activation, (None, None))


def make_dense(
    units: int,
    input_quantizer: ActivationFakeQuant,
    policy: QuantizationPolicy | None,
    path: str,
    *,
    initializer: keras.initializers.Initializer,
    activation: Activation | None = None,
    folded: Norm | None = None,
    prevent_bias_folding: bool = False,
    symmetric: bool = False,
    has_bias: bool = True,
    rank: int | None = None,
) -> Dense:
    """Make a Dense layer in float, or one with fake quantizers.

    Args:
        units: the width of the output.
        input_quantizer: the fake quantizer of the input.
        policy: the quantization policy, or None for float.
        path: the name that policies match.
        initializer: of the kernel.
        activation: the function of the output, or None.
        folded: a NoNorm of the output that is multiplied into kernel and bias.
        prevent_bias_folding: of the output, see `activation_quantizer`.
        symmetric: of the output, see `activation_quantizer`.
        has_bias: whether there is a bias.
        rank: the inner width of two factors in place of the kernel, or None for a whole kernel.
    """
    options: dict[str, Any] = {"initializer": initializer, "activation": activation, "has_bias": has_bias}
    if rank is not None:
        options["factor"], input_quantizer = _first_factor(rank, input_quantizer, policy, path, initializer)
    options |= {} if folded is None else {"folded": folded}
    if policy is None:
        return (Dense if folded is None else FoldedDense)(units, input_quantizer, path, **options)
    options |= {"prevent_bias_folding": prevent_bias_folding, "symmetric": symmetric}
    return (QuantizedDense if folded is None else FoldedQuantizedDense)(units, input_quantizer, policy, path, **options)


def _first_factor(
    rank: int,
    input_quantizer: ActivationFakeQuant,
    policy: QuantizationPolicy | None,
    path: str,
    initializer: keras.initializers.Initializer,
) -> tuple[Dense, ActivationFakeQuant]:
    """Make the first of two factors of a Dense layer, and the quantizer of the tensor between them.

    That tensor has the kind of the layer's input. A static range is shared by both sides, see `connect_quantizers`.
    """
    written, read = policy, policy
    if policy is not None:
        kind = input_quantizer.kind
        written = replace(policy, activations=(("*", "static" if kind == "static" else "float"),), equalized=())
        read = replace(policy, activations=(("*", kind),), equalized=())
    own = type(initializer).from_config(initializer.get_config())  # an instance draws the same values every time
    factor = make_dense(rank, input_quantizer, written, f"{path}.factor", initializer=own, has_bias=False)
    return factor, activation_quantizer(read, f"{path}.factored")
