"""Stochastic gradient descent with rates of parts."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.optimizers.sgd import PartSGD
from kerasbert.training import sgd

pytestmark = pytest.mark.one_layer


def steps(task, count=1):
    """How far each variable goes in some steps with gradients of ones."""
    before = {path: variable.numpy() for path, variable in task.variables_by_path().items()}
    for _ in range(count):
        task.optimizer.apply_gradients([(tf.ones_like(each), each) for each in task.trainable_variables])
    return {path: before[path] - variable.numpy() for path, variable in task.variables_by_path().items()}


@pytest.mark.parametrize(("momentum", "distance"), [(0.0, 2.0), (0.5, 2.5)])
def test_each_part_has_its_rate(tiny, momentum, distance):
    task = tiny.narrow()
    task.compile(sgd(0.1, momentum, rates={"head": 0.2, "embeddings": 0}))
    for path, moved in steps(task, 2).items():
        rate = 0.2 if path.startswith("classifier") else 0 if path.startswith("encoder.embeddings") else 0.1
        np.testing.assert_allclose(moved, rate * distance, rtol=1e-4)


@pytest.mark.long
def test_without_rates_the_steps_are_those_of_keras(tiny):
    found = []
    for optimizer in (sgd(0.1, 0.9, clip_norm=1.0), keras.optimizers.SGD(0.1, 0.9, global_clipnorm=1.0)):
        task = tiny.narrow()
        task.compile(optimizer)
        found.append(steps(task, 2))
    for path, moved in found[0].items():
        np.testing.assert_array_equal(moved, found[1][path])


def test_gradients_of_some_rows_are_scaled(tiny):
    task = tiny.narrow()
    task.compile(sgd(0.1, rates={"embeddings": 0.2}))
    table, before = task.encoder.embeddings.word.table, task.encoder.embeddings.word.table.numpy()
    task.optimizer.apply_gradients([(tf.IndexedSlices(tf.ones((1, 8)), [3], table.shape), table)])
    moved = before - table.numpy()
    np.testing.assert_allclose(moved[3], 0.2, rtol=1e-4)
    assert not moved[:3].any() and not moved[4:].any()


def test_settings_survive_serializing():
    optimizer = sgd(0.1, rates={"head": 0.2})
    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert isinstance(again, PartSGD) and again.shares == (("head", 2.0),)


def test_wrong_settings_are_refused(tiny):
    for settings, expected in (
        ({"learning_rate": -1}, "learning_rate"),
        ({"learning_rate": 0.1, "momentum": 1}, "momentum.* from 0 to below 1, received 1"),
        ({"learning_rate": 0, "rates": {"head": 1}}, "learning_rate.* above 0 beside .*rates"),
        ({"learning_rate": 0.1, "rates": {"head": float("nan")}}, "rates"),
    ):
        with pytest.raises(KerasBertError, match=expected):
            sgd(**settings)
    with pytest.raises(KerasBertError, match="expected a part of this TextClassifier"):
        tiny.narrow().compile(sgd(0.1, rates={"neck": 1}))
    variable = tf.Variable(1.0)
    with pytest.raises(KerasBertError, match="compiled with this optimizer"):
        sgd(0.1, rates={"head": 1}).apply_gradients([(tf.constant(1.0), variable)])
