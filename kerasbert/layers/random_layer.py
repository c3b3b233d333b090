"""A layer whose random numbers can be continued after an interruption."""

import random

import tensorflow as tf
import tf_keras as keras


class RandomLayer(keras.layers.Layer):
    """Base of layers that draw while training.

    Their randomness depends on `state` alone, so that an interrupted training continues exactly. `keras.utils.set_random_seed` fixes it.

    Attributes:
        state: (seed, number of draws), int64. It is no weight of the model. With distribution every replica has its own.
    """

    _state: tf.Variable

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        state = tf.Variable(
            tf.constant([random.getrandbits(31), 0], tf.int64), trainable=False, name="state",
            synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
        )  # fmt: skip
        object.__setattr__(self, "_state", state)  # Keras would make a weight of it

    @property
    def state(self) -> tf.Variable:
        return self._state
