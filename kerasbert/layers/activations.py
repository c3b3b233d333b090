"""Activations of Dense layers, and the forms of GELU that training computes: the same values, with fewer operators for the gradient."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import tensorflow as tf

Activation = Callable[[tf.Tensor], tf.Tensor]
gelu = partial(tf.nn.gelu, approximate=False)  # Hendrycks & Gimpel 2016
gelu_new = partial(tf.nn.gelu, approximate=True)  # by tanh, as in the original BERT code
ACTIVATIONS = {"gelu": gelu, "gelu_new": gelu_new, "gelu_pytorch_tanh": gelu_new, "relu": tf.nn.relu}

_CUBIC = 0.044715  # of the approximation by tanh (Hendrycks & Gimpel 2016, section 2)
_SLOPE = math.sqrt(2 / math.pi)


def in_training(activation: Activation) -> Activation:
    """Return the form of an activation that training computes.

    Args:
        activation: The activation.

    Returns:
        A function with the same values up to rounding. Its gradient is written out: that of TensorFlow has twice as many operators, which
        take a fifth of a training step on a CPU.
    """
    return _IN_TRAINING.get(activation, activation)


@tf.custom_gradient
def _trained_gelu(x: tf.Tensor) -> Any:
    """Compute x F(x), where F is the standard normal distribution; the gradient is F(x) + x f(x) with its density f."""
    below = tf.cast(0.5 + 0.5 * tf.math.erf(tf.cast(x, tf.float32) * math.sqrt(0.5)), x.dtype)
    density = tf.constant(1 / math.sqrt(2 * math.pi), x.dtype)

    def gradient(upstream: tf.Tensor) -> tf.Tensor:
        return upstream * (below + x * (density * tf.exp(tf.constant(-0.5, x.dtype) * x * x)))

    return x * below, gradient


@tf.custom_gradient
def _trained_gelu_new(x: tf.Tensor) -> Any:
    """Compute x (1 + t) / 2 with t = tanh(s (x + c x^3)); the gradient is (1 + t) / 2 + x (1 - t^2) s (1 + 3 c x^2) / 2."""
    slope, cubic, half, one = (tf.constant(value, x.dtype) for value in (_SLOPE, _SLOPE * _CUBIC, 0.5, 1.0))
    squares = x * x
    tanh = tf.tanh(x * (slope + cubic * squares))
    below = half + half * tanh

    def gradient(upstream: tf.Tensor) -> tf.Tensor:
        inner = tf.constant(_SLOPE / 2, x.dtype) + tf.constant(1.5 * _SLOPE * _CUBIC, x.dtype) * squares
        return upstream * (below + x * inner * (one - tanh) * (one + tanh))

    return x * below, gradient


_IN_TRAINING: dict[Activation, Activation] = {gelu: _trained_gelu, gelu_new: _trained_gelu_new}
