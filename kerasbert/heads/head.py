"""The head of most tasks: dropout and a Dense layer on the pooled vector, or on every token."""

from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder, EncoderOutput
from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.quantization.activation_quantizers import activation_quantizer
from kerasbert.layers.quantization.connections import tie_pooled, tie_sequence
from kerasbert.layers.quantization.dense import make_dense


class Head(keras.layers.Layer):
    """Dropout, the fake quantizer of the input, and a Dense layer: (..., H) -> (..., outputs), float32.

    Args:
        encoder: The encoder. Its output has the range of this head's input.
        outputs: Numbers that the head returns.
        reads: The output of the encoder that it reads, `pooled` or `sequence`.
        path: The path that quantization policies match.
        rate: The dropout rate; None for no dropout.
    """

    def __init__(self, encoder: Encoder, outputs: int, reads: str, path: str = "classifier", rate: float | None = None):
        super().__init__(name=path)
        config, policy = encoder.config, encoder.policy
        self.reads = reads
        self.dropout = None if rate is None else Dropout(rate)
        self.input_quantizer = activation_quantizer(policy, f"{path}.input")
        (tie_pooled if reads == "pooled" else tie_sequence)(encoder, self.input_quantizer)
        self.dense = make_dense(outputs, self.input_quantizer, policy, path, initializer=truncated_normal(config))
        self.built = True  # its layers build themselves

    def stand_in(self, task: keras.Model, name: str) -> None:
        """Make this head's layers attributes of a task: the Dense layer is `name`, and `.keras` files have their variables by these names.

        Args:
            task: The task. It tracks the layers, and not this head.
            name: The attribute of the Dense layer.
        """
        if self.dropout is not None:
            task.dropout = self.dropout
        setattr(task, f"{name}_input", self.input_quantizer)
        setattr(task, name, self.dense)

    def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        x = x if self.dropout is None else self.dropout(x, training=training)
        return tf.cast(self.dense(self.input_quantizer(x, training=training), training=training), tf.float32)

    def logits(self, encoded: EncoderOutput, mask: Any = None, training: bool | None = None) -> tf.Tensor:
        """Return the outputs on what the encoder returned; the mask is not read."""
        return self.call(
            getattr(encoded, self.reads), training=training
        )  # without a scope of its own in the graph's names


def classifier_dropout(encoder: Encoder) -> float:
    """Return the dropout rate of a head for classes."""
    return getattr(encoder.config, "classifier_dropout_prob", encoder.config.hidden_dropout_prob)
