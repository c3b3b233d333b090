"""Adapters and the mix of layers as layers of their own."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders import BertConfig
from kerasbert.errors import KerasBertError
from kerasbert.layers.blocks.adapters import Adapter, check_size
from kerasbert.layers.quantization.factory import LayerFactory
from kerasbert.layers.scalar_mix import ScalarMix
from kerasbert.layers.traversal import named_variables


@pytest.fixture
def x():
    return tf.constant(np.random.default_rng(0).normal(size=(2, 3, 16)), tf.float32)


def test_an_adapter_is_a_bottleneck_with_a_skip_connection(x):
    adapter = Adapter(LayerFactory(BertConfig(hidden_act="relu"), None, "adapter"), 16, 4)
    adapter(x)
    weights = named_variables(adapter)
    draw = np.random.default_rng(1)
    for variable in weights.values():
        variable.assign(draw.normal(size=variable.shape))
    down, up = ([weights[f"{name}.{part}"].numpy() for part in ("kernel", "bias")] for name in ("down", "up"))
    expected = x + np.maximum(x @ down[0] + down[1], 0) @ up[0] + up[1]
    np.testing.assert_allclose(adapter(x), expected, atol=1e-4)
    assert sum(v.shape.num_elements() for v in weights.values()) == 2 * 16 * 4 + 16 + 4


def test_a_new_adapter_is_nearly_an_identity_and_can_learn(x):
    keras.utils.set_random_seed(0)
    adapter = Adapter(LayerFactory(BertConfig(), None, "adapter"), 16, 4)
    with tf.GradientTape() as tape:
        y = adapter(x)
    assert 0 < np.abs(y - x).max() < 1e-2
    assert all(np.abs(gradient).max() > 0 for gradient in tape.gradient(y, adapter.trainable_variables))


@pytest.mark.parametrize("size", [0, -1, 2.5, True, "64"])
def test_invalid_adapter_sizes_are_refused(size):
    with pytest.raises(KerasBertError, match="expected adapters .*of at least 1, received"):
        check_size(size)


def test_a_new_mix_is_the_mean(x):
    mix, states = ScalarMix(3), [x, 2 * x, -x]
    np.testing.assert_allclose(mix(states), tf.add_n(states) / 3, atol=1e-6)
    np.testing.assert_allclose(mix.layer_weights(), [1 / 3] * 3, rtol=1e-6)


def test_a_mix_weighs_by_softmax_and_gamma(x):
    mix, states = ScalarMix(3), [x, x**2, tf.sin(x)]
    mix.scores.assign(np.log([1.0, 2.0, 5.0]))
    mix.gamma.assign(4.0)
    np.testing.assert_allclose(mix.layer_weights(), [0.125, 0.25, 0.625], rtol=1e-6)
    np.testing.assert_allclose(mix(states), 0.5 * states[0] + states[1] + 2.5 * states[2], atol=1e-5)


def test_gradients_reach_scores_and_gamma(x):
    mix = ScalarMix(3)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(mix([x, x**2, tf.sin(x)]))
    scores, gamma = tape.gradient(loss, [mix.scores, mix.gamma])
    assert np.abs(scores).min() > 0 and abs(float(gamma)) > 0


def test_under_mixed_precision_the_weights_stay_float32(x):
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        mix = ScalarMix(2)
        y = mix([tf.cast(x, tf.float16), tf.cast(x, tf.float16)])
    finally:
        keras.mixed_precision.set_global_policy("float32")
    assert y.dtype == tf.float16 and mix.scores.dtype == mix.gamma.dtype == tf.float32
