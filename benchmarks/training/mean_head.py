"""A classifier on the mean of the tokens, for encoders that were trained on pairs of sentences."""

from typing import Any

import tensorflow as tf
import tf_keras as keras

import kerasbert as kb


@kb.register_head("mean")
class MeanHead(keras.layers.Layer):
    """Mean of the tokens, dropout, and a Dense layer to the classes."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.pool, self.dropout = keras.layers.GlobalAveragePooling1D(), keras.layers.Dropout(0.1)
        self.dense = keras.layers.Dense(outputs)

    def call(self, encoded: Any, mask: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        """Return the logits of the classes."""
        return self.dense(self.dropout(self.pool(encoded.sequence, mask=mask), training=training))
