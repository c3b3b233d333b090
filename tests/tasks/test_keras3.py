"""Optimizers of Keras 3 are converted to tf_keras' with the same updates; its other objects are rejected by name."""

import keras as keras3
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from kerasbert.errors import KerasBertError
from kerasbert.tasks.keras3 import tf_keras_optimizer

pytestmark = pytest.mark.one_layer

SCHEDULES = keras3.optimizers.schedules
STEPS = 12
OPTIMIZERS = {
    "Adadelta": {}, "Adagrad": {"initial_accumulator_value": 0.5}, "Adam": {"amsgrad": True, "epsilon": 1e-4}, "Adamax": {},
    "AdamW": {"weight_decay": 0.05}, "Ftrl": {"l1_regularization_strength": 0.01}, "Lion": {}, "Nadam": {"weight_decay": 0.01},
    "RMSprop": {"momentum": 0.9, "centered": True}, "SGD": {"momentum": 0.9, "nesterov": True},
}  # fmt: skip
RATES = {
    "constant": lambda: 0.01,
    "cosine": lambda: SCHEDULES.CosineDecay(0.1, 8, alpha=0.1, warmup_target=0.2, warmup_steps=3),
    "polynomial": lambda: SCHEDULES.PolynomialDecay(0.1, 8, 0.01, 2.0),
    "exponential": lambda: SCHEDULES.ExponentialDecay(0.1, 3, 0.5, staircase=True),
    "inverse time": lambda: SCHEDULES.InverseTimeDecay(0.1, 3, 0.5),
    "piecewise": lambda: SCHEDULES.PiecewiseConstantDecay([3, 6], [0.1, 0.05, 0.01]),
    "restarts": lambda: SCHEDULES.CosineDecayRestarts(0.1, 4),
}


def updated(optimizer, variable):
    draw = np.random.default_rng(0)
    values = [draw.normal(size=shape).astype("float32") for shape in ((4, 3), (3,))]
    variables = [variable(value) for value in values]
    for _ in range(STEPS):
        gradients = [(draw.normal(size=v.shape) * 10 ** draw.uniform(-3, 1)).astype("float32") for v in values]
        optimizer.apply_gradients(zip(map(tf.constant, gradients), variables, strict=True))
    return [np.asarray(each) for each in variables], values


def same_updates(optimizer):
    ours = tf_keras_optimizer(optimizer)
    assert isinstance(ours, tf_keras.optimizers.Optimizer)
    (expected, begun), (received, _) = updated(optimizer, keras3.Variable), updated(ours, tf.Variable)
    for theirs, mine, first in zip(expected, received, begun, strict=True):
        moved = np.abs(theirs - first).max()
        assert moved > 1e-5
        np.testing.assert_allclose(mine, theirs, atol=2e-6 * moved, rtol=0)


@pytest.mark.long_cases("-Adam]", "-SGD]", "-Lion]")
@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("clipping", [{}, {"clipnorm": 0.5}, {"global_clipnorm": 0.5}, {"clipvalue": 0.1}], ids=str)
def test_updates_of_optimizers_are_those_of_keras_3(name, clipping):
    same_updates(getattr(keras3.optimizers, name)(learning_rate=0.01, **OPTIMIZERS[name], **clipping))


@pytest.mark.parametrize("rate", RATES)
def test_updates_with_schedules_are_those_of_keras_3(rate):
    same_updates(keras3.optimizers.Adam(RATES[rate]()))


@pytest.mark.long
def test_a_task_trains_with_an_optimizer_of_keras_3(tiny):
    texts, labels = tiny.rows(8)
    tables = []
    for keras in (keras3, tf_keras):
        model = tiny.narrow()
        model.compile(keras.optimizers.Adam(1e-2), run_eagerly=True)
        model.fit(texts, labels, batch_size=4, seed=0, verbose=0)
        tables.append(model.encoder.embeddings.word.table.numpy())
    np.testing.assert_array_equal(*tables)


class Own(keras3.optimizers.Adam):
    pass


class OwnRate(SCHEDULES.LearningRateSchedule):
    def __call__(self, step):
        return 0.1

    def get_config(self):
        return {}


def excluding():
    optimizer = keras3.optimizers.AdamW()
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    return optimizer


def used():
    optimizer = keras3.optimizers.SGD(0.1)
    optimizer.apply_gradients([(tf.constant([1.0]), keras3.Variable([1.0]))])
    return optimizer


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (Own, "Own of Keras 3"),
        (keras3.optimizers.Adafactor, "keras's Adafactor of Keras 3"),
        (lambda: keras3.optimizers.Adam(use_ema=True), "without use_ema"),
        (lambda: keras3.optimizers.Adam(gradient_accumulation_steps=2), "without gradient_accumulation_steps"),
        (lambda: keras3.optimizers.Adam(OwnRate()), "received OwnRate of Keras 3"),
        (excluding, "without exclude_from_weight_decay"),
        (used, "SGD of Keras 3 after 1 steps"),
    ],
)
def test_optimizers_without_an_equivalent_are_rejected(make, told):
    with pytest.raises(KerasBertError, match=f"{told}.*import tf_keras as keras"):
        tf_keras_optimizer(make())


def test_losses_metrics_and_callbacks_are_rejected(tiny):
    model = tiny.narrow()
    told = "of tf_keras, received keras's {} of Keras 3; .*`import tf_keras as keras`"
    with pytest.raises(KerasBertError, match=told.format("SparseCategoricalCrossentropy")):
        model.compile("sgd", loss=keras3.losses.SparseCategoricalCrossentropy())
    with pytest.raises(KerasBertError, match=told.format("Accuracy")):
        model.compile("sgd", metrics=[tf_keras.metrics.Mean(), keras3.metrics.Accuracy()])
    model.compile("sgd")
    with pytest.raises(KerasBertError, match=told.format("EarlyStopping")):
        model.fit(*tiny.rows(4), callbacks=[keras3.callbacks.EarlyStopping()], verbose=0)


def test_objects_of_other_libraries_are_returned_as_they_are():
    mine = tf_keras.optimizers.Adam()
    assert tf_keras_optimizer(mine) is mine and tf_keras_optimizer("adam") == "adam"
