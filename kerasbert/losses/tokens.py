"""Binary cross-entropy and accuracy over tokens, of which some have no label."""

from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.losses.classes import labelled_losses
from kerasbert.processors.features import IGNORED


@keras.utils.register_keras_serializable("kerasbert")
class TokenBinaryCrossEntropy(keras.losses.Loss):
    """Binary cross-entropy of labels 0 and 1 and logits, `(B, S)` each; the mean is over tokens whose label is not -100.

    Args:
        name: The name of the loss.
        kwargs (Any): Arguments of `keras.losses.Loss`.
    """

    def __init__(self, name: str = "token_binary_cross_entropy", **kwargs):
        super().__init__(name=name, **kwargs)

    def call(self, y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
        logits, labelled = tf.cast(y_pred, tf.float32), tf.not_equal(tf.cast(y_true, tf.int32), IGNORED)
        targets = tf.where(labelled, tf.cast(y_true, tf.float32), 0.0)
        return labelled_losses(tf.nn.sigmoid_cross_entropy_with_logits(targets, logits), labelled)


@keras.utils.register_keras_serializable("kerasbert")
class TokenBinaryAccuracy(keras.metrics.Mean):
    """The fraction of tokens whose logit has the sign of their label, among tokens whose label is not -100."""

    def update_state(self, y_true: tf.Tensor, y_pred: tf.Tensor, sample_weight: tf.Tensor | None = None) -> Any:
        labels = tf.cast(y_true, tf.int32)
        weights = tf.cast(tf.not_equal(labels, IGNORED), tf.float32)
        if sample_weight is not None:
            given = tf.cast(sample_weight, tf.float32)
            weights *= given[:, tf.newaxis] if given.shape.rank == 1 else given
        right = tf.equal(tf.cast(tf.cast(y_pred, tf.float32) > 0, tf.int32), labels)
        return super().update_state(tf.cast(right, tf.float32), weights)
