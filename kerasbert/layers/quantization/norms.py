"""Norms of integer-only models: a fake quantizer after every step, in forms that integer operators compute."""

import tensorflow as tf

from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions, leading
from kerasbert.layers.no_norm import NoNorm
from kerasbert.layers.norms import LayerNorm, Norm, per_channel
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant, activation_quantizer
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part

NORMS = ("layer_norm", "no_norm")
SQUARES = ("squares", "large_squares")  # the two grids of a row's sum of squares
_SMALLEST = 1e-9  # a sum of squares: its root has a gradient


class IntegerNorm(Norm):
    """What both norms share: the output's quantizer, and the residuals whose equalization scales input and output carry.

    Attributes:
        output_quantizer: of the result.
        reads, writes: the residual that is normalized, and the one that the result is added to; None: not scaled. Set by
            `residual_streams` before the norm is built.
    """

    def __init__(self, policy: QuantizationPolicy, path: str, *arguments):
        super().__init__(*arguments, path)
        self.policy = policy
        self.output_quantizer = activation_quantizer(policy, f"{path}.output")
        self._residuals: dict[str, ActivationFakeQuant] = {}

    @property
    def reads(self) -> ActivationFakeQuant | None:
        return self._residuals.get("reads")

    def write_to(self, residual: ActivationFakeQuant) -> None:
        """Notes the residual that the result is added to."""
        self._residuals["writes"] = residual

    def _scaled(self, normal, gamma, training, layout: LoweringOptions):
        """gamma * normal + beta, with the scales of the residual that it is added to."""
        scales, beta = _scales(self._residuals.get("writes")), self.beta
        if scales is not None:
            gamma, beta = gamma * scales, beta * scales
        return self.output_quantizer(_affine(normal, gamma, beta, layout), training=training)


class IntegerNoNorm(IntegerNorm, NoNorm):
    """A scale and a shift of each channel, in 8 bits."""

    def call(self, x, training=None, layout: LoweringOptions = TRAINING_OPTIONS):
        return self._scaled(x, self.gamma, training, layout)


class IntegerLayerNorm(IntegerNorm, LayerNorm):
    """Layer normalization in 8 bits, of few operators, since each rounds. (..., H) -> (..., H).

    The sum of squares is a product of rows with themselves, whose accumulator has 32 bits: squares in 8 bits would leave nothing but
    outliers. Of a centered residual the mean is left out: the layers that write to it write without one, and the rest, which gamma and the
    normal rows have in common, is about a hundredth of the deviation. A scaled input is squared unscaled.

    A few tokens ([CLS] in many BERTs) have norms ten times as large, and no 8 bits hold the squares of both. So there are two grids, if
    calibration found that (twin uniform quantization, Yuan et al. 2022): one for the others, on which outlier tokens are clipped, and a
    coarse one, on which the others are 0. Of the two inverse roots the smaller one is right: that of 0 is the largest there is.
    """

    def __init__(self, policy: QuantizationPolicy, path: str, epsilon: float):
        super().__init__(policy, path, epsilon)
        self.quantizers: dict[str, ActivationFakeQuant] = {}
        self._add_quantizers("mean", "centred", *SQUARES, "inverse", "normal")

    def _add_quantizers(self, *names: str) -> None:
        for name in names:
            self.quantizers[name] = activation_quantizer(
                self.policy, f"{self.path}.{name}", calibration_only=name in SQUARES
            )

    def read_from(self, residual: ActivationFakeQuant) -> None:
        """Notes that the input is a centered residual, whose rows have a mean of next to nothing; before the norm is built."""
        self._residuals["reads"] = residual
        self.quantizers.clear()
        self._add_quantizers(*(["unscaled"] if residual.equalized else []), *SQUARES, "inverse", "normal")

    def set_squares(self, call: int, reach: float, outlier_tokens: bool) -> None:
        """Sets where the grid of the sums of squares ends in a call.

        outlier_tokens: larger sums are held on the second grid, of twice that scale; otherwise both grids are the same, and files have one.
        """
        for name, largest in zip(SQUARES, (reach, 255 * 2 * reach if outlier_tokens else reach), strict=True):
            self.quantizers[name].ranges[call][1].assign(largest)

    @property
    def _has_outlier_tokens(self) -> bool:
        """Whether the call at `call_index` needs its second grid, once ranges are frozen."""
        return self.quantizers["large_squares"].maximum > self.quantizers["squares"].maximum

    def call(self, x, training=None, layout: LoweringOptions = TRAINING_OPTIONS):
        def quantize(name, value):
            return self.quantizers[name](value, training=training)

        scales, gamma = _scales(self.reads), self.gamma * float(x.shape[-1]) ** 0.5
        if self.reads is None:
            x = quantize("centred", x - quantize("mean", tf.reduce_mean(x, axis=-1, keepdims=True)))
        unscaled = x
        if scales is not None:
            gamma = gamma / scales
            unscaled = quantize("unscaled", _affine(x, 1.0 / scales, None, layout))
        if layout.integer:
            grids = SQUARES if self._has_outlier_tokens else SQUARES[:1]
            sums = [_squares(unscaled, layout, in_columns=name != grids[0]) for name in grids]
            roots = [
                quantize("inverse", tf.math.rsqrt(quantize(name, each))) for name, each in zip(grids, sums, strict=True)
            ]
            inverse = tf.minimum(*roots) if len(roots) > 1 else roots[0]
        else:
            sums = _squares(unscaled, layout)
            grids = (tf.maximum(quantize(name, sums), _SMALLEST) for name in SQUARES)
            inverse = quantize("inverse", tf.minimum(*map(tf.math.rsqrt, grids)))
        return self._scaled(quantize("normal", x * inverse), gamma, training, layout)


def make_norm(kind: str, epsilon: float, path: str, policy: QuantizationPolicy | None = None) -> Norm:
    """The norm that a config's `normalization_type` names, in the form that the policy asks for. Raises ValueError for another name."""
    if kind not in NORMS:
        raise ValueError(f"expected a norm of {NORMS}, received {kind!r}")
    policy = integer_part(policy)
    if policy is None:
        return LayerNorm(epsilon, path) if kind == "layer_norm" else NoNorm(path)
    return IntegerLayerNorm(policy, path, epsilon) if kind == "layer_norm" else IntegerNoNorm(policy, path)


def _scales(residual: ActivationFakeQuant | None):
    return None if residual is None else residual.channel_scales


def _affine(x, scales, shifts, layout: LoweringOptions):
    """x (..., H) times (H,) scales, plus (H,) shifts if there are any.

    For integer operators a depthwise convolution, whose kernel has a scale for each channel and whose bias has 32 bits: nothing is
    rounded but the result, where a product and a sum would each round, and hold their constants in 8 bits of one scale.
    """
    if not layout.integer:
        product = x * per_channel(scales, x)
        return product if shifts is None else product + per_channel(shifts, x)
    width = x.shape[-1]
    rows = tf.reshape(x, (1, -1, 1, width))
    product = tf.nn.depthwise_conv2d(rows, tf.reshape(scales, (1, 1, width, 1)), [1, 1, 1, 1], "VALID")
    product = tf.nn.bias_add(product, tf.zeros_like(scales) if shifts is None else shifts)
    return tf.reshape(product, (*leading(x), width))


def _squares(x, layout: LoweringOptions, in_columns: bool = False):
    """(..., H) -> (..., 1): the sum of squares.

    in_columns: the same with other operators. Converters make one product of two alike, and one product has one grid.
    """
    if not layout.integer:
        return tf.reduce_sum(tf.square(x), axis=-1, keepdims=True)
    width = x.shape[-1]
    rows = tf.reshape(x, (-1, 1, width))
    columns = tf.reshape(x, (-1, width, 1)) if in_columns else rows
    return tf.reshape(tf.matmul(rows, columns, transpose_b=not in_columns), (*leading(x), 1))
