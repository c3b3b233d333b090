"""Normalization over the last axis, or what takes its place."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.capture import tap
from kerasbert.layers.lowering.options import TRAINING_LAYOUT, GraphLayout, leading
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part
from kerasbert.layers.quantization.quantizers import ActivationPoint, channels

SQUARES = ("squares", "large_squares")  # the two grids of a row's sum of squares
_SMALLEST = 1e-9  # a sum of squares: its root has a gradient


class Norm(keras.layers.Layer):
    """The base: a scale and a shift of each channel, and in a model without any float the points of every step.

    reads, writes: the streams that it reads and writes, if there are any (`ActivationPoint`); set before it is built.
    """

    steps: tuple[str, ...] = ()

    def __init__(self, path: str, policy: QuantizationPolicy | None = None):
        super().__init__(name=path.replace(".", "_"))
        self.path, self.policy = path, integer_part(policy)
        self.reads: ActivationPoint | None = None
        self.writes: ActivationPoint | None = None
        self.output_point = ActivationPoint(self.policy, f"{path}.output")
        self.points: dict[str, ActivationPoint] = {}
        self._set_points(self.steps)

    def _set_points(self, names) -> None:
        for name in names if self.policy is not None else ():
            self.points[name] = ActivationPoint(self.policy, f"{self.path}.{name}", kept=name in SQUARES)

    def build(self, input_shape):
        # Read in float32 also under mixed precision: it may be a part of a kernel, whose grid is that of the stored one.
        options = {"dtype": "float32", "experimental_autocast": False}
        self.gamma = self.add_weight("gamma", (input_shape[-1],), initializer="ones", **options)
        self.beta = self.add_weight("beta", (input_shape[-1],), initializer="zeros", **options)
        super().build(input_shape)

    def _scaled(self, normal, gamma, training, layout):
        """gamma * normal + beta, scaled as the stream that it is written to."""
        factors, beta = _factors(self.writes), self.beta
        if factors is not None:
            gamma, beta = gamma * factors, beta * factors
        return self.output_point(_each_channel(normal, gamma, beta, layout), training=training)


class LayerNorm(Norm):
    """Layer normalization (Ba et al. 2016) over the last axis, computed in float32. (..., H) -> (..., H).

    Written out instead of Keras' layer: the exporter gets nine operators with every one on the rows, none on (H,) constants.
    """

    steps = ("mean", "centred", *SQUARES, "inverse", "normal")

    def __init__(self, epsilon: float, path: str, policy: QuantizationPolicy | None = None):
        super().__init__(path, policy)
        self.epsilon = epsilon

    def read(self, stream: ActivationPoint) -> None:
        """Says that what comes in is a stream, whose rows have a mean of next to nothing; before that is built."""
        if self.policy is not None:
            self.reads = stream
            self.points.clear()
            self._set_points((*(("unscaled",) if stream.equalized else ()), *SQUARES, "inverse", "normal"))

    def call(self, x, training=None, layout: GraphLayout = TRAINING_LAYOUT):
        if self.policy is not None:
            return self._in_integers(x, training, layout)
        data = tf.cast(x, tf.float32)
        centred = data - tf.reduce_mean(data, axis=-1, keepdims=True)
        variance = tf.reduce_mean(tf.square(centred), axis=-1, keepdims=True)
        normal = centred * tf.math.rsqrt(variance + self.epsilon)
        result = tf.cast(normal * channels(self.gamma, data) + channels(self.beta, data), x.dtype)
        tap("norm", (self.path, x, result))
        return result

    def set_squares(self, turn: int, reach: float, long_rows: bool) -> None:
        """Where the grid of the sums of squares ends in a call. long_rows: larger ones are held on the second grid, in steps of twice that,
        where smaller ones are 0; without, both grids are the same, and files have one.
        """
        for name, largest in zip(SQUARES, (reach, 255 * 2 * reach if long_rows else reach), strict=True):
            self.points[name].ranges[turn][1].assign(largest)

    @property
    def _has_long_rows(self) -> bool:
        """Whether the call whose turn it is needs its second grid, once ranges are fixed."""
        return self.points["large_squares"].maximum > self.points["squares"].maximum

    def _in_integers(self, x, training, layout):
        """The same with a point after every operator, and few operators, since each rounds.

        The sum of squares is a product of rows with themselves, whose accumulator has 32 bits: squares in 8 bits would leave nothing but
        outliers. Of a stream the mean is left out: whoever writes there writes without one (`ActivationPoint.centre`), and the rest, what
        gamma and the normal rows have in common, is about a hundredth of the deviation. What comes in scaled is squared unscaled.

        Some rows are far longer than the others ([CLS] in many BERTs, by a factor of 10 and more), and no 8 bits hold the squares of both.
        So there are two grids, if calibration found that: one for the others, on which long rows are cut off, and a coarse one, on which
        the others are 0. Of the two inverse roots the smaller one is right: that of 0 is the largest there is.
        """

        def point(name, value):
            return self.points[name](value, training=training)

        factors, gamma = _factors(self.reads), self.gamma * float(x.shape[-1]) ** 0.5
        if self.reads is None:
            x = point("centred", x - point("mean", tf.reduce_mean(x, axis=-1, keepdims=True)))
        unscaled = x
        if factors is not None:
            gamma = gamma / factors
            unscaled = point("unscaled", _each_channel(x, 1.0 / factors, None, layout))
        if layout.integer:
            grids = SQUARES if self._has_long_rows else SQUARES[:1]
            sums = [_squares(unscaled, layout, in_columns=name != grids[0]) for name in grids]
            roots = [point("inverse", tf.math.rsqrt(point(name, each))) for name, each in zip(grids, sums, strict=True)]
            inverse = tf.minimum(*roots) if len(roots) > 1 else roots[0]
        else:
            sums = _squares(unscaled, layout)
            grids = (tf.maximum(point(name, sums), _SMALLEST) for name in SQUARES)
            inverse = point("inverse", tf.minimum(*map(tf.math.rsqrt, grids)))
        return self._scaled(point("normal", x * inverse), gamma, training, layout)


class NoNorm(Norm):
    """MobileBERT's scale and shift without statistics (Sun et al. 2020, section 4.3). (..., H) -> (..., H)."""

    def call(self, x, training=None, layout: GraphLayout = TRAINING_LAYOUT):
        if self.policy is not None:
            return self._scaled(x, self.gamma, training, layout)
        return x * channels(self.gamma, x) + channels(self.beta, x)


def _factors(stream: ActivationPoint | None):
    return None if stream is None else stream.factors


def _each_channel(x, factors, shifts, layout: GraphLayout):
    """x (..., H) times (H,) factors, plus (H,) shifts if there are any.

    For integer operators a depthwise convolution, whose kernel has a scale for each channel and whose bias has 32 bits: nothing is
    rounded but the result, where a product and a sum would each round, and hold their constants in 8 bits of one scale.
    """
    if not layout.integer:
        product = x * channels(factors, x)
        return product if shifts is None else product + channels(shifts, x)
    width = x.shape[-1]
    rows = tf.reshape(x, (1, -1, 1, width))
    product = tf.nn.depthwise_conv2d(rows, tf.reshape(factors, (1, 1, width, 1)), [1, 1, 1, 1], "VALID")
    product = tf.nn.bias_add(product, tf.zeros_like(factors) if shifts is None else shifts)
    return tf.reshape(product, (*leading(x), width))


def _squares(x, layout: GraphLayout, in_columns: bool = False):
    """(..., H) -> (..., 1): the sum of squares.

    in_columns: the same with other operators. Converters make one product of two alike, and one product has one grid.
    """
    if not layout.integer:
        return tf.reduce_sum(tf.square(x), axis=-1, keepdims=True)
    width = x.shape[-1]
    rows = tf.reshape(x, (-1, 1, width))
    columns = tf.reshape(x, (-1, width, 1)) if in_columns else rows
    return tf.reshape(tf.matmul(rows, columns, transpose_b=not in_columns), (*leading(x), 1))


# transformers' MobileBERT gives two of its LayerNorms PyTorch's own epsilon instead of the config's: the embeddings' and the one after the
# last feed-forward network. (Google's code has 1e-12 throughout; published checkpoints use NoNorm, which has none.)
MOBILEBERT_EPSILON = 1e-5
NORMS = ("layer_norm", "no_norm")


def make_norm(kind: str, epsilon: float, path: str, policy: QuantizationPolicy | None = None) -> Norm:
    """The norm that a config's `normalization_type` names. Raises ValueError for another."""
    if kind not in NORMS:
        raise ValueError(f"Expected a norm of {NORMS}. Received: {kind!r}")
    return LayerNorm(epsilon, path, policy) if kind == "layer_norm" else NoNorm(path, policy)
