"""Dropout with a random state that can be saved and restored."""

from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.random_layer import RandomLayer

_RESOLUTION = 1 << 16  # of the rate: 16 random bits an entry take two thirds of the time of a float on a CPU


class Dropout(RandomLayer):
    """Dropout (Srivastava et al. 2014). Any shape.

    Attributes:
        rate: the fraction of entries that are set to 0 while training.
    """

    def __init__(self, rate: float, **kwargs):
        super().__init__(**kwargs)
        self.rate = float(rate)

    def call(self, x: tf.Tensor, training: bool | tf.Tensor | None = None) -> tf.Tensor:
        drops = keras.backend.learning_phase() if training is None else training
        if isinstance(drops, tf.Tensor):
            return tf.cond(tf.cast(drops, tf.bool), lambda: self._drop(x), lambda: tf.identity(x))
        return self._drop(x) if drops and self.rate else x

    def _drop(self, x: tf.Tensor) -> tf.Tensor:
        self.state.assign_add([0, 1])
        replica = tf.distribute.get_replica_context()  # None outside of a replica
        seed = self.state + tf.cast(tf.stack([replica.replica_id_in_sync_group if replica else 0, 0]), tf.int64)
        size = tf.size(x)
        full_range: dict[str, Any] = {"minval": None, "maxval": None, "dtype": tf.uint64}
        words = tf.random.stateless_uniform([(size + 3) // 4], seed=seed, **full_range)
        bits = tf.reshape(tf.bitcast(words, tf.uint16), [-1])[:size]
        kept = tf.reshape(bits, tf.shape(x)) >= tf.constant(round(self.rate * _RESOLUTION), tf.uint16)
        return tf.where(kept, x * tf.constant(1 / (1 - self.rate), x.dtype), tf.zeros([], x.dtype))

    def get_config(self) -> dict:
        return {**super().get_config(), "rate": self.rate}
