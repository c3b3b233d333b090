"""Losses over pairs of text vectors, (B, 2, H): Reimers & Gurevych 2019, "Sentence-BERT", section 3."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError

if TYPE_CHECKING:
    from kerasbert.processors import Features

_EXCLUDED = -1e9  # the logit of a text that must not be chosen


class PairLoss(keras.losses.Loss):
    """The base of losses over pairs. A subclass overrides `call`.

    Attributes:
        numbers_texts: Whether pairs without scores have the numbers of both texts as labels, (B, 2) int; see `text_numbers`.

    Example:
        ```python
        from kerasbert.losses import CosineLoss, PairLoss
        isinstance(CosineLoss(), PairLoss)  # True
        ```
    """

    numbers_texts = False

    def check(self, scores: np.ndarray | None) -> None:
        """Check that this loss can learn from the scores of pairs, (B,), or from pairs without scores.

        Args:
            scores: The scores, or None for pairs without.

        Raises:
            KerasBertError: When it cannot.
        """
        self._required(scores)

    def _required(self, scores: np.ndarray | None) -> np.ndarray:
        if scores is None:
            raise KerasBertError(
                f"expected scores of the pairs for {type(self).__name__}, received none; give scores or another loss"
            )
        return scores


@keras.utils.register_keras_serializable("kerasbert")
class CosineLoss(PairLoss):
    """The squared difference of a pair's cosine and its score (Reimers & Gurevych 2019). For STS-B: `CosineLoss(scores=(0, 5))`.

    Args:
        scores: The lowest and the highest possible score.
        cosines: The cosines that these two stand for.
        name: The name of the loss.
        kwargs (Any): Arguments of `keras.losses.Loss`.

    Raises:
        KerasBertError: When a range is not (lowest, highest).

    Example:
        ```python
        from kerasbert.training import CosineLoss
        sentences = kb.SentenceEncoder.from_pretrained("small-en", sequence_length=32)
        sentences.compile(optimizer=kb.adamw(1e-4), loss=CosineLoss(scores=(0, 5)))
        sentences.fit([("wake me at six", "set an alarm"), ("play jazz", "play some jazz")], [4, 5])
        ```
    """

    def __init__(
        self,
        scores: Sequence[float] = (0.0, 1.0),
        cosines: Sequence[float] = (0.0, 1.0),
        name: str = "cosine_loss",
        **kwargs,
    ):
        super().__init__(name=name, **kwargs)
        self.scores, self.cosines = _range(scores, "scores"), _range(cosines, "cosines")

    def check(self, scores: np.ndarray | None) -> None:
        scores = self._required(scores)
        low, high = self.scores
        wrong = np.flatnonzero(~((scores >= low) & (scores <= high)))
        if wrong.size:
            raise KerasBertError(
                f"row {wrong[0]}: expected a score from {low:g} to {high:g}, received {scores[wrong[0]]:g}; "
                "compile with loss=CosineLoss(scores=(lowest, highest))"
            )

    def call(self, y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
        share = (_per_pair(y_true) - self.scores[0]) / (self.scores[1] - self.scores[0])
        target = self.cosines[0] + share * (self.cosines[1] - self.cosines[0])
        return tf.square(_cosine(y_pred) - target)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "scores": list(self.scores), "cosines": list(self.cosines)}


@keras.utils.register_keras_serializable("kerasbert")
class ContrastiveLoss(PairLoss):
    """d^2 for similar pairs (1), max(margin - d, 0)^2 for others (0), halved (Hadsell et al. 2006); d = 1 - cosine.

    Args:
        margin: The distance from which dissimilar pairs have no loss, above 0 and at most 2.
        name: The name of the loss.
        kwargs (Any): Arguments of `keras.losses.Loss`.

    Raises:
        KerasBertError: When the margin is not above 0 and at most 2.

    Example:
        ```python
        from kerasbert.training import ContrastiveLoss
        sentences = kb.SentenceEncoder.from_pretrained("small-en", sequence_length=32)
        sentences.compile(optimizer=kb.adamw(1e-4), loss=ContrastiveLoss(margin=0.5))
        sentences.fit([("wake me at six", "set an alarm"), ("play jazz", "play some jazz")], [1, 1])
        ```
    """

    def __init__(self, margin: float = 0.5, name: str = "contrastive_loss", **kwargs):
        super().__init__(name=name, **kwargs)
        if not 0 < margin <= 2:
            raise KerasBertError(f"expected a margin above 0 and at most 2, received {margin}")
        self.margin = float(margin)

    def check(self, scores: np.ndarray | None) -> None:
        scores = self._required(scores)
        wrong = np.flatnonzero((scores != 0) & (scores != 1))
        if wrong.size:
            raise KerasBertError(
                f"row {wrong[0]}: expected 1 for a similar pair, else 0, received {scores[wrong[0]]:g}; use CosineLoss for other scores"
            )

    def call(self, y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
        alike, distance = _per_pair(y_true), 1.0 - _cosine(y_pred)
        apart = tf.square(tf.maximum(self.margin - distance, 0.0))
        return 0.5 * (alike * tf.square(distance) + (1.0 - alike) * apart)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "margin": self.margin}


@keras.utils.register_keras_serializable("kerasbert")
class InBatchNegatives(PairLoss):
    """Cross-entropy of finding each first text's partner among all second texts of the batch (Henderson et al. 2017, section 4).

    Every pair is similar, without a score. Equal texts (the same token ids) are no negatives of each other; `SentenceEncoder.fit` passes
    their numbers as labels. Batches should have 32 pairs or more. With several devices each has its own negatives.

    Args:
        scale: The factor of the cosines, which are the logits.
        symmetric: Whether the partner of each second text is found as well, and the mean of both losses is taken.
        name: The name of the loss.
        kwargs (Any): Arguments of `keras.losses.Loss`.

    Raises:
        KerasBertError: When the scale is not above 0.

    Example:
        ```python
        from kerasbert.training import InBatchNegatives
        sentences = kb.SentenceEncoder.from_pretrained("small-en", sequence_length=32)
        sentences.compile(optimizer=kb.adamw(1e-4), loss=InBatchNegatives(scale=20))
        sentences.fit([("wake me at six", "set an alarm"), ("play jazz", "play some jazz")])
        ```
    """

    numbers_texts = True

    def __init__(self, scale: float = 20.0, symmetric: bool = False, name: str = "in_batch_negatives", **kwargs):
        super().__init__(name=name, **kwargs)
        if not scale > 0:
            raise KerasBertError(f"expected a scale above 0, received {scale}")
        self.scale, self.symmetric = float(scale), bool(symmetric)

    def check(self, scores: np.ndarray | None) -> None:
        if scores is not None:
            raise KerasBertError(
                "expected similar pairs, without scores, for InBatchNegatives, received scores; keep the pairs with high scores"
            )

    def call(self, y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
        vectors = _unit(y_pred)
        logits = self.scale * tf.matmul(vectors[:, 0], vectors[:, 1], transpose_b=True)  # (B, B)
        logits = tf.where(_equal_texts(y_true), _EXCLUDED, logits)
        losses = _own_partner_loss(logits)
        if self.symmetric:
            losses = 0.5 * (losses + _own_partner_loss(tf.transpose(logits)))
        return losses

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "scale": self.scale, "symmetric": self.symmetric}


@keras.utils.register_keras_serializable("kerasbert")
class SentenceLoss(PairLoss):
    """The default loss of a `SentenceEncoder`, chosen by the labels.

    It is `CosineLoss` for pairs with scores from 0 to 1, `InBatchNegatives` for pairs without, and the mean squared error for single texts
    with vectors.

    Args:
        name: The name of the loss.
        kwargs (Any): Arguments of `keras.losses.Loss`.

    Example:
        ```python
        from kerasbert.losses import SentenceLoss
        sentences = kb.SentenceEncoder.from_pretrained("small-en", sequence_length=32)
        sentences.compile(optimizer=kb.adamw(1e-4), loss=SentenceLoss())
        sentences.fit([("wake me at six", "set an alarm")], [0.9])
        ```
    """

    numbers_texts = True

    def __init__(self, name: str = "sentence_loss", **kwargs):
        super().__init__(name=name, **kwargs)
        self._scored, self._unscored = CosineLoss(), InBatchNegatives()

    def check(self, scores: np.ndarray | None) -> None:
        if scores is not None:
            self._scored.check(scores)

    def call(self, y_true: tf.Tensor, y_pred: tf.Tensor) -> tf.Tensor:
        if y_pred.shape.rank == 2:
            return tf.reduce_mean(tf.math.squared_difference(tf.cast(y_true, tf.float32), y_pred), axis=-1)
        return (self._unscored if y_true.dtype.is_integer else self._scored).call(y_true, y_pred)


def text_numbers(features: "Features") -> np.ndarray:
    """Number the texts of pairs, (pairs, 2) int32; the same token ids have the same number."""
    numbers: dict[tuple[int, ...], int] = {}
    texts = [numbers.setdefault(tuple(map(int, ids)), len(numbers)) for ids in features.token_lists.input_ids]
    return np.array(texts, np.int32).reshape(-1, 2)


def _range(values: Sequence[float], name: str) -> tuple[float, float]:
    try:
        low, high = map(float, values)
    except (TypeError, ValueError) as error:
        raise KerasBertError(f"expected {name} as (lowest, highest), received {values!r}") from error
    if not low < high:
        raise KerasBertError(f"expected {name} as (lowest, highest), received {values!r}")
    return low, high


def _per_pair(y_true: tf.Tensor) -> tf.Tensor:
    return tf.reshape(tf.cast(y_true, tf.float32), (-1,))


def _unit(vectors: tf.Tensor) -> tf.Tensor:
    vectors = tf.cast(vectors, tf.float32)
    square = tf.reduce_sum(tf.square(vectors), axis=-1, keepdims=True)
    return vectors * tf.math.rsqrt(tf.maximum(square, 1e-12))


def _cosine(pairs: tf.Tensor) -> tf.Tensor:
    vectors = _unit(pairs)
    return tf.reduce_sum(vectors[:, 0] * vectors[:, 1], axis=-1)


def _own_partner_loss(logits: tf.Tensor) -> tf.Tensor:
    own = tf.range(tf.shape(logits)[0])
    return tf.nn.sparse_softmax_cross_entropy_with_logits(own, logits)


def _equal_texts(numbers: tf.Tensor) -> tf.Tensor:
    """Return (B, B): whether the second text of a column may be right for the first text of a row, other than its own."""
    first, second = numbers[:, 0], numbers[:, 1]
    alike = _equal(first, first) | _equal(second, second) | _equal(first, second)
    return tf.linalg.set_diag(alike, tf.zeros_like(first, tf.bool))


def _equal(rows: tf.Tensor, columns: tf.Tensor) -> tf.Tensor:
    return rows[:, None] == columns[None, :]
