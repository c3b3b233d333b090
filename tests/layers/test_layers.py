import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.activations import ACTIVATIONS
from kerasbert.layers.blocks.transformer_block import attention_bias
from kerasbert.layers.lowering.options import LoweringOptions, lowered
from kerasbert.layers.norms import LayerNorm
from kerasbert.layers.quantization.dense import flat_outside


def test_activations_are_those_of_their_papers():
    from scipy.special import erf

    x = np.linspace(-6, 6, 200).astype(np.float32)
    tanh = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    np.testing.assert_allclose(ACTIVATIONS["gelu"](x), 0.5 * x * (1 + erf(x / np.sqrt(2))), atol=1e-5)
    for name in ("gelu_new", "gelu_pytorch_tanh"):
        np.testing.assert_allclose(ACTIVATIONS[name](x), tanh, atol=1e-5)
    np.testing.assert_array_equal(ACTIVATIONS["relu"](x), np.maximum(x, 0))


@pytest.mark.parametrize("name", ["gelu", "gelu_new", "relu"])
def test_activations_are_flat_below_the_clip_minimum(name):
    function = ACTIVATIONS[name]
    floor, ceiling = flat_outside(function)
    below = function(tf.constant(np.linspace(floor - 30, floor, 500).astype(np.float32))).numpy()
    assert below.max() - below.min() < 2e-4 and ceiling is None


def test_tanh_is_flat_on_both_sides():
    low, high = flat_outside(tf.tanh)
    assert np.tanh(high) > 1 - 1e-3 and np.tanh(low) < -1 + 1e-3


def test_other_activations_have_no_flat_part():
    assert flat_outside(tf.nn.sigmoid) == flat_outside(None) == (None, None)


def test_layer_norm_is_that_of_numpy():
    draw = np.random.default_rng(0)
    x = draw.normal(3, 20, (4, 5, 16)).astype(np.float32)
    norm = LayerNorm(1e-12, "norm")
    norm(x)
    norm.gamma.assign(draw.normal(1, 0.5, 16))
    norm.beta.assign(draw.normal(0, 0.5, 16))
    exact = (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True) * norm.gamma.numpy() + norm.beta.numpy()
    np.testing.assert_allclose(norm(x), exact, atol=1e-5)


@pytest.mark.parametrize("epsilon", [1e-12, 1e-5])
@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 400.0])
def test_layer_norm_in_the_range_of_float16_is_the_same(epsilon, size):
    draw = np.random.default_rng(0)
    x = (size * draw.normal(0.2, 1, (4, 5, 16))).astype(np.float32)
    x[0, 0] = 2.5  # a constant vector has no deviation
    norm = LayerNorm(epsilon, "norm")
    plain = norm(x)
    with lowered(LoweringOptions(half_range=True)):
        ranged = norm(x)
    np.testing.assert_allclose(ranged, plain, atol=2e-6)
    np.testing.assert_allclose(ranged[0, 0], 0, atol=1e-6)


def test_layer_norm_is_computed_in_float32():
    x = tf.constant([[300.0, -300.0, 301.0, -299.0]], tf.float16)  # squares overflow float16
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        norm = LayerNorm(1e-12, "norm")
    finally:
        keras.mixed_precision.set_global_policy("float32")
    assert norm(x).dtype == tf.float16
    np.testing.assert_allclose(norm(x), [[0.998, -1.002, 1.002, -0.998]], atol=2e-3)


def test_attention_bias_is_zero_where_attended():
    bias = attention_bias(np.array([[1, 1, 0]], np.int32)).numpy()
    np.testing.assert_array_equal(bias, [[[[0, 0, -1e4]]]])
