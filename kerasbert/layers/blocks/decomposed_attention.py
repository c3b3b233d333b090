"""Attention for processors with convolutions, element-wise products and sums, and no product of two computed matrices.

The documentation of the Edge TPU has no BATCH_MATMUL, and a SOFTMAX of one dimension only. A matrix product can be written as element-wise
products of broadcast tensors and a sum, and an exponential with LOGISTIC and RSQRT. No axis is ever moved: heads lie side by side in
the last one.
"""

from collections.abc import Callable
from typing import NamedTuple, cast

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.quantization.activation_quantizers import SOFTMAX_RANGE

_LOWEST = -8.0  # the exponential of lower values is less than half a scale of 8 bits
_LARGEST_SUM = 1.5  # of probabilities that were divided by their sum in 8 bits


class _Part(NamedTuple):
    """What a probability has above a bound, up to the bound of the next part.

    Attributes:
        above: the bound, on the grid of probabilities.
        grid: how coarse the grid of its products is; also their factors in the sum.
    """

    above: float
    grid: float


# The grids hold what each part can be. As factors of a sum they are exact in 8 bits: 8, 32 and 127.
_PARTS = (_Part(0.0, 1.0), _Part(16 / 255, 4.0), _Part(64 / 255, 127 / 8))

Quantize = Callable[[tf.Tensor, float, float], tf.Tensor]


def decomposed_attention(
    attention: keras.layers.Layer, q: tf.Tensor, k: tf.Tensor, v: tf.Tensor, bias: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Compute attention by products and sums: q, k, v (1, S, W), bias (1, 1, 1, S) -> context (1, S, W), probabilities (1, N, S, S).

    Args:
        attention: the layer, a `SelfAttention`.
        q: scaled queries.
        k: keys.
        v: values.
        bias: the attention bias.
    """
    quantize, ranges = in_float, {}
    if attention.scores.kind == "static":
        quantize = in_eight_bits
        layers = {"query": attention.query, "key": attention.key, "value": attention.value}
        ranges = {
            name: (float(layer.output_quantizer.minimum), float(layer.output_quantizer.maximum))
            for name, layer in layers.items()
        }
    largest = [max(map(abs, ranges.get(name, (0.0,)))) for name in ("query", "key")]
    scores = attention.scores(scores_by_sums(q, k, attention.heads, quantize, largest[0] * largest[1]))
    scores = attention.masked_scores(scores + tf.reshape(bias, (1, 1, -1, 1)))
    probabilities = logistic_softmax(scores, quantize)
    context = context_by_sums(probabilities, v, quantize, *ranges.get("value", ()))
    return context, tf.transpose(probabilities, (0, 3, 1, 2))


def in_eight_bits(x: tf.Tensor, low: float, high: float) -> tf.Tensor:
    """Quantize x to 8 bits between two bounds."""
    return tf.quantization.fake_quant_with_min_max_args(x, low, high)


def in_float(x: tf.Tensor, low: float, high: float) -> tf.Tensor:
    """Return x as it is."""
    return x


def scores_by_sums(q: tf.Tensor, k: tf.Tensor, heads: int, quantize: Quantize, bound: float = 0.0) -> tf.Tensor:
    """Multiply every query with every key, head by head: q, k (1, S, W) -> (1, S, S, N).

    Args:
        q: queries.
        k: keys.
        heads: N.
        quantize: applied to the element-wise products.
        bound: the largest magnitude of a product.
    """
    _, length, width = cast("tuple[int, int, int]", q.shape)
    products = tf.reshape(q, (1, length, 1, width)) * tf.reshape(k, (1, 1, length, width))
    return _convolved(quantize(products, -bound, bound), _membership(width, heads))


def context_by_sums(
    probabilities: tf.Tensor, v: tf.Tensor, quantize: Quantize, low: float = 0.0, high: float = 0.0
) -> tf.Tensor:
    """Sum the values, weighted by their probabilities: (1, S, S, N), v (1, S, W) -> (1, S, W).

    Each product rounds. On one grid, which has to hold a whole value, the many products with small probabilities would be half a step or
    less, and their sum would be lost. So a probability is cut into `_PARTS`, and the products of each part have a grid of their own.

    Args:
        probabilities: of each query and key.
        v: values.
        quantize: applied to every step.
        low: the lower end of the range of the values.
        high: the upper end.
    """
    _, length, width = cast("tuple[int, int, int]", v.shape)
    values = tf.reshape(v, (1, 1, length, width))
    spread = tf.transpose(_membership(width, cast(int, probabilities.shape[-1])))
    bounds = min(low, 0.0) / _PARTS[-1].grid, max(high, 0.0) / _PARTS[-1].grid
    products, factors, rest = [], [], probabilities
    for part in reversed(_PARTS):
        share = rest if part.above == 0.0 else quantize(tf.nn.relu(rest - part.above), 0.0, 1.0)
        rest = rest if part.above == 0.0 else quantize(rest - share, 0.0, 1.0)
        # On one scale, so that all are summed at once: the factors of the sum undo what divides here.
        share = quantize(_convolved(share, spread / part.grid), 0.0, 1.0 / part.grid)
        products.append(quantize(share * values, *bounds))
        factors += [part.grid] * length
    return tf.reshape(_summed(tf.concat(products, axis=2), tf.constant(factors)), (1, length, width))


def logistic_softmax(scores: tf.Tensor, quantize: Quantize) -> tf.Tensor:
    """Compute a softmax over axis 2 of (1, S, S, N), by exp(x) = s / (1 - s) with the logistic s of x.

    A quotient is a product with a reciprocal root, twice. The division by the sum is done twice too: in 8 bits the first one is coarse,
    since a sum may be of one large number or of many equal ones, and the second sum is near 1.
    """
    below = quantize(scores - tf.reduce_max(scores, axis=2, keepdims=True), _LOWEST, 0.0)
    logistic = quantize(tf.sigmoid(below), *SOFTMAX_RANGE)  # at most 1/2
    inverse = quantize(tf.math.rsqrt(quantize(1.0 - logistic, 0.0, 1.0)), 0.0, 2**0.5)
    power = quantize(quantize(logistic * inverse, 0.0, 0.5**0.5) * inverse, 0.0, 1.0)
    once = _divided_by_sum(power, quantize, float(cast(int, scores.shape[2])), 1.0)
    return _divided_by_sum(once, quantize, _LARGEST_SUM, _LARGEST_SUM)


def _divided_by_sum(x: tf.Tensor, quantize: Quantize, largest_sum: float, largest_root: float) -> tf.Tensor:
    """Divide x (1, S, S, N) by its sum along axis 2, as two products with the reciprocal root of the sum."""
    total = quantize(_summed(x), 0.0, largest_sum)
    inverse = quantize(tf.math.rsqrt(total), 0.0, largest_root)
    return quantize(quantize(x * inverse, 0.0, 1.0) * inverse, 0.0, 1.0)


def _summed(x: tf.Tensor, factors: tf.Tensor | None = None) -> tf.Tensor:
    """Sum (1, S, T, C) along axis 2 to (1, S, 1, C), by a convolution: the reference SUM of LiteRT 2.3 returns zeros in 8 bits.

    Args:
        x: the summands.
        factors: what each is multiplied with, (T,).
    """
    kernel = tf.ones((1, x.shape[2], x.shape[3], 1))
    if factors is not None:
        kernel *= tf.reshape(factors, (1, -1, 1, 1))
    return tf.nn.depthwise_conv2d(x, kernel, [1, 1, 1, 1], "VALID")


def _convolved(x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
    """Multiply (1, S, S, in) with a kernel (in, out), as a convolution of size 1."""
    return tf.nn.conv2d(x, tf.reshape(kernel, (1, 1, *kernel.shape)), 1, "VALID")


def _membership(width: int, heads: int) -> tf.Tensor:
    """Return (W, N): 1 where a channel belongs to a head."""
    return tf.repeat(tf.eye(heads), width // heads, axis=0)
