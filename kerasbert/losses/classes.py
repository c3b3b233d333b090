"""Losses over classes."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.processors.features import IGNORED


@keras.utils.register_keras_serializable("kerasbert")
class CrossEntropy(keras.losses.Loss):
    """Cross-entropy of class numbers and logits: of texts, (B,) and (B, C), or of tokens, (B, S) and (B, S, C).

    The mean is over the places whose class is not -100 (`kerasbert.processors.IGNORED`). label_smoothing: the share of each target
    that goes
    to all classes alike (Szegedy et al. 2016, section 7). class_weights: one factor for each class, that of a place's true class; see
    `balanced_weights`. As in Keras, weights of classes and samples are factors: the sum is divided by the places, not by the weights.

    Raises KerasBertError for a share outside of 0 to 1, and weights that are no numbers of at least 0.
    """

    def __init__(
        self,
        label_smoothing: float = 0.0,
        class_weights: Sequence[float] | None = None,
        name: str = "cross_entropy",
        **kwargs,
    ):
        super().__init__(name=name, **kwargs)
        if not 0 <= label_smoothing < 1:
            raise KerasBertError(f"expected label_smoothing from 0 to below 1, received {label_smoothing}")
        weights = None if class_weights is None else [float(weight) for weight in class_weights]
        if weights is not None and not all(0 <= weight < float("inf") for weight in weights):
            raise KerasBertError(f"expected class_weights of at least 0, received {weights}")
        self.label_smoothing, self.class_weights = float(label_smoothing), weights

    def call(self, y_true, y_pred):
        """(B,) or (B, S): each place's loss, scaled so that Keras' mean over all places is the mean over those that count."""
        logits = tf.cast(y_pred, tf.float32)
        if self.class_weights is not None and logits.shape[-1] != len(self.class_weights):
            raise KerasBertError(
                f"expected one of the class_weights for each of {logits.shape[-1]} classes, received {len(self.class_weights)}"
            )
        targets = tf.cast(y_true, tf.int32)
        if targets.shape.rank == logits.shape.rank:  # Keras makes (B, 1) of (B,)
            targets = tf.squeeze(targets, -1)
        counts = tf.not_equal(targets, IGNORED)
        targets = tf.where(counts, targets, 0)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, logits)
        if self.label_smoothing:
            even = -tf.reduce_mean(tf.nn.log_softmax(logits), axis=-1)
            losses = (1 - self.label_smoothing) * losses + self.label_smoothing * even
        if self.class_weights is not None:
            losses *= tf.gather(tf.constant(self.class_weights, tf.float32), targets)
        number = tf.reduce_sum(tf.cast(counts, tf.float32))
        scale = tf.cast(tf.size(targets), tf.float32) / tf.maximum(number, 1.0)
        return tf.where(counts, losses, 0.0) * scale

    def get_config(self):
        settings = {"label_smoothing": self.label_smoothing, "class_weights": self.class_weights}
        return {**super().get_config(), **settings}


def balanced_weights(targets, classes: int) -> list[float]:
    """Weights for `CrossEntropy` that make all classes count alike: n / (classes * n of the class) (King & Zeng 2001).

    targets: class numbers in any shape, or a list of arrays, one a row; -100 is left out.
    A class that never occurs weighs as if it did once.

    Raises KerasBertError where no target is left.
    """
    arrays = [targets] if isinstance(targets, np.ndarray) else list(map(np.asarray, targets))
    numbers = np.concatenate([array.reshape(-1) for array in arrays]) if arrays else np.empty(0, int)
    numbers = numbers[numbers != IGNORED].astype(int)
    if not numbers.size:
        raise KerasBertError("expected targets to balance classes by, received none")
    counts = np.bincount(numbers, minlength=classes)
    if len(counts) > classes:
        raise KerasBertError(f"expected class numbers below {classes}, received {len(counts) - 1}")
    return (numbers.size / (classes * np.maximum(counts, 1))).tolist()
