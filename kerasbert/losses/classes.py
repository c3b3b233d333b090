"""Losses over classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.processors.features import IGNORED


@keras.utils.register_keras_serializable("kerasbert")
class CrossEntropy(keras.losses.Loss):
    """Cross-entropy of labels and logits: of texts, (B,) and (B, C), or of tokens, (B, S) and (B, S, C).

    The mean is over the positions whose label is not -100 (`kerasbert.processors.IGNORED`). As in Keras, the sum is divided by the number
    of positions and not by the sum of their weights.

    Args:
        label_smoothing: The share of each label that goes to all classes alike (Szegedy et al. 2016, section 7), from 0 to below 1.
        class_weights: A factor for each class, see `balanced_weights`.
        name: The name of the loss.
        kwargs (Any): Arguments of `keras.losses.Loss`.

    Raises:
        KerasBertError: When the share is not from 0 to below 1, or a weight is below 0 or not finite.

    Example:
        ```python
        from kerasbert.training import CrossEntropy
        task.compile(optimizer=kb.adamw(5e-4), loss=CrossEntropy(label_smoothing=0.1, class_weights=[1.0, 2.0]))
        task.fit(texts, labels)
        ```
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

    def call(self, y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
        """Return the loss of each position, (B,) or (B, S), scaled so that Keras' mean is that over the positions with a label.

        Args:
            y_true: Labels, int (B,) or (B, S), or probabilities of the classes, (B, C) or (B, S, C).
            y_pred: Logits, float (B, C) or (B, S, C).
        """
        y_true, logits = tf.convert_to_tensor(y_true), tf.cast(y_pred, tf.float32)
        if self.class_weights is not None and logits.shape[-1] != len(self.class_weights):
            raise KerasBertError(
                f"expected class_weights for {logits.shape[-1]} classes, received {len(self.class_weights)}; give one for each label"
            )
        if are_probabilities(y_true, logits):
            targets = tf.cast(y_true, tf.float32)
            labelled = tf.ones(tf.shape(targets)[:-1], tf.bool)
            losses = tf.nn.softmax_cross_entropy_with_logits(targets, logits)
        else:
            targets = class_numbers(y_true, logits)
            labelled = tf.not_equal(targets, IGNORED)
            targets = tf.where(labelled, targets, 0)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, logits)
        if self.label_smoothing:
            uniform = -tf.reduce_mean(tf.nn.log_softmax(logits), axis=-1)
            losses = (1 - self.label_smoothing) * losses + self.label_smoothing * uniform
        if self.class_weights is not None:
            weights = tf.constant(self.class_weights, tf.float32)
            losses *= tf.gather(weights, targets) if targets.dtype.is_integer else tf.linalg.matvec(targets, weights)
        return labelled_losses(losses, labelled)

    def get_config(self) -> dict[str, Any]:
        settings = {"label_smoothing": self.label_smoothing, "class_weights": self.class_weights}
        return {**super().get_config(), **settings}


def labelled_losses(losses: tf.Tensor, labelled: tf.Tensor) -> tf.Tensor:
    """Return the losses of the positions with a label, scaled so that Keras' mean over all positions is that over these.

    Args:
        losses: The loss of each position, float32 `(...)`.
        labelled: Whether it has a label, bool `(...)`.
    """
    number = tf.reduce_sum(tf.cast(labelled, tf.float32))
    scale = tf.cast(tf.size(labelled), tf.float32) / tf.maximum(number, 1.0)
    return tf.where(labelled, losses, 0.0) * scale


def are_probabilities(y_true: tf.Tensor, y_pred: tf.Tensor) -> bool:
    """Tell whether labels are probabilities of the classes, one-hot vectors among them, and not class numbers.

    Args:
        y_true: Labels, `(..., C)`, `(..., 1)` or `(...)`.
        y_pred: Outputs of the classes, `(..., C)`.
    """
    return y_true.shape.rank == y_pred.shape.rank and y_true.shape[-1] == y_pred.shape[-1] != 1


def class_numbers(y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
    """Return class numbers without the axis that Keras appends, int32 `(...)`.

    Args:
        y_true: Class numbers, `(...)` or `(..., 1)`.
        y_pred: Outputs of the classes, `(..., C)`.
    """
    numbers = tf.cast(y_true, tf.int32)
    return tf.squeeze(numbers, -1) if numbers.shape.rank == y_pred.shape.rank else numbers


def class_probabilities(y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
    """Return labels as probabilities of the classes, float32 `(..., C)`.

    Args:
        y_true: Class numbers, `(...)` or `(..., 1)`, or probabilities `(..., C)`.
        y_pred: Outputs of the classes, `(..., C)`.
    """
    if are_probabilities(y_true, y_pred):
        return tf.cast(y_true, tf.float32)
    return tf.one_hot(class_numbers(y_true, y_pred), tf.shape(y_pred)[-1])


def balanced_weights(targets: np.ndarray | Sequence[np.ndarray], classes: int) -> list[float]:
    """Compute weights for `CrossEntropy` that balance the classes: n / (classes * n of the class) (King & Zeng 2001).

    A class that never occurs gets the weight of one that occurs once.

    Args:
        targets: Labels as numbers, in any shape, or an array for each example; -100 is ignored.
        classes: The number of classes.

    Returns:
        One weight for each class.

    Raises:
        KerasBertError: When no label is left, or one is not below `classes`.

    Example:
        ```python
        from kerasbert.training import balanced_weights
        balanced_weights([0, 0, 0, 1], classes=2)  # [0.67, 2.0]
        ```
    """
    arrays = [targets] if isinstance(targets, np.ndarray) else list(map(np.asarray, targets))
    numbers = np.concatenate([array.reshape(-1) for array in arrays]) if arrays else np.empty(0, int)
    numbers = numbers[numbers != IGNORED].astype(int)
    if not numbers.size:
        raise KerasBertError("expected labels to balance classes by, received none; give examples with labels")
    counts = np.bincount(numbers, minlength=classes)
    if len(counts) > classes:
        raise KerasBertError(f"expected class numbers below {classes}, received {len(counts) - 1}")
    return (numbers.size / (classes * np.maximum(counts, 1))).tolist()
