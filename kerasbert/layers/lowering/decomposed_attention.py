"""Attention for processors that have convolutions, products and sums of tensors, and no product of two computed matrices.

An Edge TPU's documentation knows no BATCH_MATMUL, and a SOFTMAX of one dimension only. Both have another form in what it does know:
a product of matrices multiplies the two element by element, one spread against the other, and sums; an exponential is made of LOGISTIC
and RSQRT. No axis is ever moved: heads lie side by side in the last one.
"""

from collections.abc import Callable

import tensorflow as tf

from kerasbert.layers.quantization.activation_quantizers import SOFTMAX_RANGE

_LOWEST = -8.0  # the exponential of what lies below is less than half a step of 8 bits
_EVENED = 1.5  # what rows sum to at most once they have been divided by their sum in 8 bits

Hold = Callable[[tf.Tensor, float, float], tf.Tensor]


def decomposed_attention(attention, q, k, v, bias):
    """q, k, v (1, S, W), bias (1, 1, 1, S) -> context (1, S, W), probabilities (1, N, S, S). attention: the layer; q is scaled."""
    hold, ranges = unheld, {}
    if attention.scores.kind == "static":
        hold = in_eight_bits
        layers = {"query": attention.query, "key": attention.key, "value": attention.value}
        ranges = {
            name: (float(layer.output_quantizer.minimum), float(layer.output_quantizer.maximum))
            for name, layer in layers.items()
        }
    largest = [max(map(abs, ranges.get(name, (0.0,)))) for name in ("query", "key")]
    scores = attention.scores(scores_by_sums(q, k, attention.heads, hold, largest[0] * largest[1]))
    scores = attention.masked_scores(scores + tf.reshape(bias, (1, 1, -1, 1)))
    probabilities = logistic_softmax(scores, hold)
    context = context_by_sums(probabilities, v, hold, *ranges.get("value", ()))
    return context, tf.transpose(probabilities, (0, 3, 1, 2))


def in_eight_bits(x, low: float, high: float):
    """x as 8 bits between the bounds hold it."""
    return tf.quantization.fake_quant_with_min_max_args(x, low, high)


def unheld(x, low: float, high: float):
    """x."""
    return x


def scores_by_sums(q, k, heads: int, hold: Hold, bound: float = 0.0):
    """q, k (1, S, W) -> (1, S, S, N): the product of every row of one with every row of the other, head by head.

    bound: no product of two numbers is larger in size; for `hold`.
    """
    _, length, width = q.shape
    products = tf.reshape(q, (1, length, 1, width)) * tf.reshape(k, (1, 1, length, width))
    return _convolved(hold(products, -bound, bound), _membership(width, heads))


def context_by_sums(probabilities, v, hold: Hold, low: float = 0.0, high: float = 0.0):
    """(1, S, S, N), v (1, S, W) -> (1, S, W): the sum of the rows of v, each times its probability. low, high: the range of v."""
    _, length, width = v.shape
    spread = hold(_convolved(probabilities, tf.transpose(_membership(width, probabilities.shape[-1]))), 0.0, 1.0)
    products = hold(spread * tf.reshape(v, (1, 1, length, width)), min(low, 0.0), max(high, 0.0))
    return tf.reshape(_summed(products), (1, length, width))


def logistic_softmax(scores, hold: Hold):
    """(1, S, S, N) -> probabilities over axis 2: what softmax gives, by exp(x) = s / (1 - s) with the logistic s of x.

    A quotient is a product with a reciprocal root, twice. Sums are divided by twice as well: in 8 bits the first one is coarse, since a row
    may be one large number or many equal ones, and the second is near to 1.
    """
    below = hold(scores - tf.reduce_max(scores, axis=2, keepdims=True), _LOWEST, 0.0)
    logistic = hold(tf.sigmoid(below), *SOFTMAX_RANGE)  # at most 1/2
    inverse = hold(tf.math.rsqrt(hold(1.0 - logistic, 0.0, 1.0)), 0.0, 2**0.5)
    power = hold(hold(logistic * inverse, 0.0, 0.5**0.5) * inverse, 0.0, 1.0)
    once = _divided_by_sum(power, hold, float(scores.shape[2]), 1.0)
    return _divided_by_sum(once, hold, _EVENED, _EVENED)


def _divided_by_sum(x, hold: Hold, largest: float, root: float):
    """x (1, S, S, N) over its sum along axis 2: the reciprocal root of that, twice. largest: of the sums. root: the largest reciprocal."""
    total = hold(_summed(x), 0.0, largest)
    inverse = hold(tf.math.rsqrt(total), 0.0, root)
    return hold(hold(x * inverse, 0.0, 1.0) * inverse, 0.0, 1.0)


def _summed(x):
    """x (1, S, S, C) -> (1, S, 1, C): the sum along axis 2, by a convolution: LiteRT 2.3's reference SUM gives zeros in 8 bits."""
    return tf.nn.depthwise_conv2d(x, tf.ones((1, x.shape[2], x.shape[3], 1)), [1, 1, 1, 1], "VALID")


def _convolved(x, kernel):
    """x (1, S, S, in) times a kernel (in, out), as a convolution of size 1."""
    return tf.nn.conv2d(x, tf.reshape(kernel, (1, 1, *kernel.shape)), 1, "VALID")


def _membership(width: int, heads: int):
    """(W, N): 1 where a channel is one of a head's."""
    return tf.repeat(tf.eye(heads), width // heads, axis=0)
