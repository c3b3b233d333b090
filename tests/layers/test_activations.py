import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.activations import gelu, gelu_new, in_training
from kerasbert.layers.dense import Dense


@pytest.mark.parametrize("activation", [gelu, gelu_new])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 3e-6), ("bfloat16", 0.03)])
def test_the_form_of_training_has_the_same_values_and_gradients(activation, dtype, tolerance):
    x = tf.constant(np.linspace(-8, 8, 1001), dtype)
    upstream = tf.constant(np.linspace(1, 2, 1001), dtype)
    found = []
    for function, values in ((activation, tf.cast(x, tf.float32)), (in_training(activation), x)):
        with tf.GradientTape() as tape:
            tape.watch(values)
            results = function(values)
        gradients = tape.gradient(results, values, tf.cast(upstream, values.dtype))
        found.append((tf.cast(results, tf.float32), tf.cast(gradients, tf.float32)))
    np.testing.assert_allclose(found[1][0], found[0][0], atol=10 * tolerance)
    np.testing.assert_allclose(found[1][1], found[0][1], atol=4 * tolerance)


def test_second_derivatives():
    x = tf.constant(np.linspace(-4, 4, 33), tf.float32)
    found = []
    for function in (gelu, in_training(gelu)):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                results = function(x)
            first = inner.gradient(results, x)
        found.append(outer.gradient(first, x))
    np.testing.assert_allclose(found[1], found[0], atol=1e-5)


def test_other_activations_have_one_form():
    assert in_training(tf.nn.relu) is tf.nn.relu


def test_a_dense_layer_trains_with_it_and_predicts_without():
    layer = Dense(3, keras.layers.Layer(), "d", initializer=keras.initializers.Ones(), activation=gelu)
    layer(tf.ones((2, 4)))
    graphs = [
        tf.function(layer).get_concrete_function(tf.TensorSpec((2, 4)), training=training).graph.as_graph_def()
        for training in (True, False)
    ]
    operators = [{node.op for node in graph.node} for graph in graphs]
    assert "Erf" in operators[0] and "Erfc" not in operators[0]
    assert "Erf" not in operators[1] and "Erfc" in operators[1]
