"""Cross-entropy over the tokens of a vocabulary."""

from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.losses.classes import class_numbers


@keras.utils.register_keras_serializable("kerasbert")
class VocabularyCrossEntropy(keras.losses.Loss):
    """The values of `keras.losses.SparseCategoricalCrossentropy(from_logits=True)`, up to rounding, in less than half of the time.

    The gradient is written out. TensorFlow's kernel takes a tenth of a step of masked language modelling on a CPU.

    Args:
        name: The name of the loss.
        kwargs (Any): Arguments of `keras.losses.Loss`.
    """

    def __init__(self, name: str = "vocabulary_cross_entropy", **kwargs: Any):
        super().__init__(name=name, **kwargs)

    def call(self, y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
        """Return the loss of each token, float32 `(...)`.

        Args:
            y_true: Ids of tokens, int `(...)` or `(..., 1)`.
            y_pred: Logits, float `(..., V)`.
        """
        ids, logits = class_numbers(tf.convert_to_tensor(y_true), y_pred), tf.cast(y_pred, tf.float32)
        losses = _cross_entropy(tf.reshape(ids, [-1]), tf.reshape(logits, [-1, tf.shape(logits)[-1]]))
        return tf.reshape(losses, tf.shape(ids))


@tf.custom_gradient
def _cross_entropy(ids: tf.Tensor, logits: tf.Tensor) -> Any:
    """Compute log(sum(exp(logits))) - logits[id] of each row; the gradient is softmax(logits), less 1 at the id."""
    highest = tf.reduce_max(logits, axis=-1, keepdims=True)
    exponentials = tf.exp(logits - highest)
    sums = tf.reduce_sum(exponentials, axis=-1, keepdims=True)
    places = tf.stack([tf.range(tf.shape(ids)[0]), ids], axis=-1)

    def gradient(upstream: tf.Tensor) -> tuple[None, tf.Tensor]:
        slopes = exponentials * (tf.expand_dims(upstream, -1) / sums)
        return None, tf.tensor_scatter_nd_sub(slopes, places, upstream)

    return tf.squeeze(tf.math.log(sums) + highest, -1) - tf.gather_nd(logits, places), gradient
