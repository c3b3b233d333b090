"""A learned weighted sum of the layers' outputs."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf
import tf_keras as keras


class ScalarMix(keras.layers.Layer):
    """gamma * sum of softmax(scores)_i h_i: `count` tensors (B, S, H) -> (B, S, H) (Peters et al. 2018, section 3.2, equation 1).

    It starts as the mean. Scores and gamma are float32, also under mixed precision.
    """

    def __init__(self, count: int, path: str = "layer_mix"):
        super().__init__(name=path)
        options = {"dtype": "float32", "experimental_autocast": False}
        self.scores = self.add_weight("scores", (count,), initializer="zeros", **options)
        self.gamma = self.add_weight("gamma", (), initializer="ones", **options)

    def layer_weights(self) -> np.ndarray:
        """Return the normalized weight of each layer, (count,): the embeddings' first."""
        return tf.nn.softmax(self.scores).numpy()

    def call(self, states: Sequence[tf.Tensor]) -> tf.Tensor:
        factors = tf.unstack(self.gamma * tf.nn.softmax(self.scores))
        terms = [state * tf.cast(factor, state.dtype) for state, factor in zip(states, factors, strict=True)]
        total = terms[0]
        for term in terms[1:]:  # not tf.add_n, which delegates refuse
            total = total + term
        return total
