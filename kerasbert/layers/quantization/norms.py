"""Norms of integer-only models: a fake quantizer after every step, in forms that integer operators compute."""

from typing import Any

import tensorflow as tf

from kerasbert.layers.lowering.options import leading, lowering_options
from kerasbert.layers.no_norm import NoNorm
from kerasbert.layers.norms import LayerNorm, Norm, per_channel
from kerasbert.layers.quantization.activation_quantizers import (
    ActivationFakeQuant,
    StaticFakeQuant,
    activation_quantizer,
)
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part

NORMS = ("layer_norm", "no_norm")
SQUARES = ("squares", "large_squares")  # the two grids of the sums of squares
_SMALLEST = 1e-9  # sum of squares: its root has a gradient


class IntegerNorm(Norm):
    """The base of both norms: the quantizer of the output, and the residuals whose equalization scales input and output carry.

    Attributes:
        output_quantizer: the quantizer of the result.
    """

    def _quantize_output(self, policy: QuantizationPolicy) -> None:
        self.policy = policy
        self.output_quantizer = activation_quantizer(policy, f"{self.path}.output")
        self._residuals: dict[str, ActivationFakeQuant] = {}

    @property
    def reads(self) -> ActivationFakeQuant | None:
        """The residual that is normalized; None if it is not scaled. Set before the norm is built."""
        return self._residuals.get("reads")

    def write_to(self, residual: ActivationFakeQuant) -> None:
        """Scale the result for the residual that it is added to."""
        self._residuals["writes"] = residual

    def _scaled(
        self,
        normal: tf.Tensor,
        gamma: tf.Tensor | tf.Variable,
        training: bool | None,
        source: ActivationFakeQuant | None,
    ) -> tf.Tensor:
        """Return gamma * normal + beta, with the scales of the residual that it is added to.

        Args:
            normal: (..., H).
            gamma: the factors, (H,).
            training: whether the model is trained.
            source: the quantizer that writes `normal`.
        """
        scales, beta = _scales(self._residuals.get("writes")), self.beta
        if scales is not None:
            gamma, beta = gamma * scales, beta * scales
        in_float = not training and not lowering_options().integer
        if isinstance(source, StaticFakeQuant) and source.observer is None and in_float:
            beta = _accumulated(beta, source.scale * tf.abs(gamma) / 127.0)
        return self.output_quantizer(_affine(normal, gamma, beta), training=training)


class IntegerNoNorm(IntegerNorm, NoNorm):
    """A scale and a shift of each channel, in 8 bits: (..., H) -> (..., H)."""

    def __init__(self, policy: QuantizationPolicy, path: str, has_bias: bool = True):
        super().__init__(path, has_bias)
        self._quantize_output(policy)

    def read_from(self, residual: ActivationFakeQuant) -> None:
        """Declare the sum that is read, whose scales are undone."""
        self._residuals["reads"] = residual

    def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        scales = _scales(self.reads)
        gamma = self.gamma if scales is None else self.gamma / scales
        return self._scaled(x, gamma, training, self.reads)


class IntegerLayerNorm(IntegerNorm, LayerNorm):
    """Layer normalization in 8 bits, of few operators, since each one rounds: (..., H) -> (..., H).

    The sum of squares is a product of vectors with themselves, whose accumulator has 32 bits: squares in 8 bits would keep outliers alone.
    A scaled input is squared unscaled. The mean of a centered residual is left out: the layers that write to it write without one, and
    the rest is about a hundredth of the deviation.

    A few tokens ([CLS] in many BERTs) have ten times the norm, so one int8 scale cannot hold all sums of squares. Where calibration finds
    such tokens there are two grids (twin uniform quantization, Yuan et al. 2022): a fine one, which clips them, and a coarse one, on which
    the others are 0. The smaller of the two reciprocal roots is right, since that of 0 is the largest.
    """

    def __init__(self, policy: QuantizationPolicy, path: str, epsilon: float, has_bias: bool = True):
        super().__init__(epsilon, path, has_bias)
        self._quantize_output(policy)
        self.quantizers: dict[str, ActivationFakeQuant] = {}
        self._add_quantizers("mean", "centred", *SQUARES, "inverse", "normal")

    def _add_quantizers(self, *names: str) -> None:
        for name in names:
            self.quantizers[name] = activation_quantizer(
                self.policy, f"{self.path}.{name}", calibration_only=name in SQUARES
            )

    def read_from(self, residual: ActivationFakeQuant) -> None:
        """Normalize a centered residual, whose mean is next to nothing. Called before the norm is built."""
        self._residuals["reads"] = residual
        self.quantizers.clear()
        self._add_quantizers(*(["unscaled"] if residual.equalized else []), *SQUARES, "inverse", "normal")

    def set_squares(self, call: int, reach: float, outlier_tokens: bool) -> None:
        """Set the ranges of the sums of squares in a call.

        Args:
            call: the index of the call.
            reach: the largest sum on the first grid.
            outlier_tokens: whether larger sums are on a second grid, of twice that scale. Otherwise both grids are the same.
        """
        for name, largest in zip(SQUARES, (reach, 255 * 2 * reach if outlier_tokens else reach), strict=True):
            self.quantizers[name].ranges[call][1].assign(largest)

    @property
    def _has_outlier_tokens(self) -> bool:
        """Whether the call at `call_index` needs its second grid; for frozen ranges."""
        return self.quantizers["large_squares"].maximum > self.quantizers["squares"].maximum

    def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        def quantize(name: str, value: tf.Tensor) -> tf.Tensor:
            return self.quantizers[name](value, training=training)

        width: Any = x.shape[-1]
        scales, gamma = _scales(self.reads), self.gamma * float(width) ** 0.5
        if self.reads is None:
            x = quantize("centred", x - quantize("mean", tf.reduce_mean(x, axis=-1, keepdims=True)))
        unscaled = x
        if scales is not None:
            gamma = gamma / scales
            unscaled = quantize("unscaled", _affine(x, 1.0 / scales, None))
        if lowering_options().integer:
            grids = SQUARES if self._has_outlier_tokens else SQUARES[:1]
            sums = [_squares(unscaled, in_columns=name != grids[0]) for name in grids]
            roots = [
                quantize("inverse", tf.math.rsqrt(quantize(name, each))) for name, each in zip(grids, sums, strict=True)
            ]
            inverse = tf.minimum(roots[0], roots[1]) if len(roots) > 1 else roots[0]
        else:
            sums = _squares(unscaled)
            grids = (tf.maximum(quantize(name, sums), _SMALLEST) for name in SQUARES)
            fine, coarse = map(tf.math.rsqrt, grids)
            inverse = quantize("inverse", tf.minimum(fine, coarse))
        return self._scaled(quantize("normal", x * inverse), gamma, training, self.quantizers["normal"])


def make_norm(
    kind: str, epsilon: float, path: str, policy: QuantizationPolicy | None = None, has_bias: bool = True
) -> Norm:
    """Make the norm that a config's `normalization_type` names, in float or for an integer-only policy.

    Raises:
        ValueError: when there is no such norm.
    """
    if kind not in NORMS:
        raise ValueError(f"expected a norm of {NORMS}, received {kind!r}")
    policy = integer_part(policy)
    if policy is None:
        return LayerNorm(epsilon, path, has_bias) if kind == "layer_norm" else NoNorm(path, has_bias)
    if kind == "layer_norm":
        return IntegerLayerNorm(policy, path, epsilon, has_bias)
    return IntegerNoNorm(policy, path, has_bias)


def _scales(residual: ActivationFakeQuant | None) -> tf.Variable | None:
    return None if residual is None else residual.channel_scales


def _accumulated(bias: tf.Tensor | tf.Variable, scale: tf.Tensor) -> tf.Tensor:
    """Round a bias (H,) to whole scales of a 32-bit accumulator, of input times factor; a channel without a factor keeps its own."""
    step = tf.maximum(scale, 1e-30)
    return tf.where(scale > 0, tf.round(bias / step) * step, bias)


def _affine(x: tf.Tensor, scales: tf.Tensor, shifts: tf.Tensor | None) -> tf.Tensor:
    """Compute x (..., H) times (H,) scales, plus (H,) shifts if there are any.

    For integer operators it is a depthwise convolution, whose kernel has a scale per channel and whose bias has 32 bits: it rounds once.
    A product and a sum would each round, and hold their constants in 8 bits of one scale.
    """
    if not lowering_options().integer:
        product = x * per_channel(scales, x)
        return product if shifts is None else product + per_channel(shifts, x)
    width = x.shape[-1]
    rows = tf.reshape(x, (1, -1, 1, width))
    product = tf.nn.depthwise_conv2d(rows, tf.reshape(scales, (1, 1, width, 1)), [1, 1, 1, 1], "VALID")
    product = tf.nn.bias_add(product, tf.zeros_like(scales) if shifts is None else shifts)
    return tf.reshape(product, (*leading(x), width))


def _squares(x: tf.Tensor, in_columns: bool = False) -> tf.Tensor:
    """Sum the squares: (..., H) -> (..., 1).

    With `in_columns` other operators compute the same. Converters merge two equal products, and one product has one grid.
    """
    if not lowering_options().integer:
        return tf.reduce_sum(tf.square(x), axis=-1, keepdims=True)
    width = x.shape[-1]
    rows = tf.reshape(x, (-1, 1, width))
    columns = tf.reshape(x, (-1, width, 1)) if in_columns else rows
    return tf.reshape(tf.matmul(rows, columns, transpose_b=not in_columns), (*leading(x), 1))
