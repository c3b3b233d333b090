"""Losses of pairs of texts by their vectors, (B, 2, H): Reimers & Gurevych 2019, "Sentence-BERT", section 3."""

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError

_NEVER = -1e9  # the logit of what is not to be chosen


class PairLoss(keras.losses.Loss):
    """The base. numbers_texts: whether its targets are the numbers of both texts, (B, 2) int, which pairs without scores get."""

    numbers_texts = False

    def check(self, scores: np.ndarray | None) -> None:
        """Raises KerasBertError for scores, (B,), that this loss cannot learn from; None: there are none."""
        if scores is None:
            raise KerasBertError(f"expected scores of the pairs for {type(self).__name__}, received none")


@keras.utils.register_keras_serializable("kerasbert")
class CosineLoss(PairLoss):
    """The squared difference of a pair's cosine and its score.

    scores: the lowest and the highest score there can be, and cosines: those that they stand for. STS-B: `CosineLoss(scores=(0, 5))`.
    """

    def __init__(self, scores=(0.0, 1.0), cosines=(0.0, 1.0), name: str = "cosine_loss", **kwargs):
        super().__init__(name=name, **kwargs)
        self.scores, self.cosines = _range(scores, "scores"), _range(cosines, "cosines")

    def check(self, scores):
        super().check(scores)
        low, high = self.scores
        wrong = np.flatnonzero(~((scores >= low) & (scores <= high)))
        if wrong.size:
            raise KerasBertError(
                f"row {wrong[0]}: expected a score from {low:g} to {high:g}, received {scores[wrong[0]]:g}; "
                "compile with loss=CosineLoss(scores=(lowest, highest))"
            )

    def call(self, y_true, y_pred):
        share = (_per_pair(y_true) - self.scores[0]) / (self.scores[1] - self.scores[0])
        wanted = self.cosines[0] + share * (self.cosines[1] - self.cosines[0])
        return tf.square(_cosine(y_pred) - wanted)

    def get_config(self):
        return {**super().get_config(), "scores": list(self.scores), "cosines": list(self.cosines)}


@keras.utils.register_keras_serializable("kerasbert")
class ContrastiveLoss(PairLoss):
    """d^2 for pairs that are alike (1), max(margin - d, 0)^2 for others (0), halved (Hadsell et al. 2006); d = 1 - cosine."""

    def __init__(self, margin: float = 0.5, name: str = "contrastive_loss", **kwargs):
        super().__init__(name=name, **kwargs)
        if not 0 < margin <= 2:
            raise KerasBertError(f"expected a margin above 0 and at most 2, received {margin}")
        self.margin = float(margin)

    def check(self, scores):
        super().check(scores)
        wrong = np.flatnonzero((scores != 0) & (scores != 1))
        if wrong.size:
            raise KerasBertError(
                f"row {wrong[0]}: expected 1 for a pair that is alike, else 0, received {scores[wrong[0]]:g}"
            )

    def call(self, y_true, y_pred):
        alike, distance = _per_pair(y_true), 1.0 - _cosine(y_pred)
        apart = tf.square(tf.maximum(self.margin - distance, 0.0))
        return 0.5 * (alike * tf.square(distance) + (1.0 - alike) * apart)

    def get_config(self):
        return {**super().get_config(), "margin": self.margin}


@keras.utils.register_keras_serializable("kerasbert")
class InBatchNegatives(PairLoss):
    """Each first text is to choose its second one among all second texts of the batch (Henderson et al. 2017, section 4): cross-entropy
    over `scale` times the cosines. symmetric: second texts choose among the first ones too, and the mean of both counts.

    Pairs have no scores: every pair is alike. Equal texts (the same token ids) are no negatives of each other; `SentenceEncoder.fit` gives
    their numbers as targets. Batches are large for good reason here: 32 or more. On several devices each has its own negatives.
    """

    numbers_texts = True

    def __init__(self, scale: float = 20.0, symmetric: bool = False, name: str = "in_batch_negatives", **kwargs):
        super().__init__(name=name, **kwargs)
        if not scale > 0:
            raise KerasBertError(f"expected a scale above 0, received {scale}")
        self.scale, self.symmetric = float(scale), bool(symmetric)

    def check(self, scores):
        if scores is not None:
            raise KerasBertError(
                "expected pairs that are all alike, without scores, for InBatchNegatives, received scores; keep the pairs with high ones"
            )

    def call(self, y_true, y_pred):
        vectors = _unit(y_pred)
        logits = self.scale * tf.matmul(vectors[:, 0], vectors[:, 1], transpose_b=True)  # (B, B)
        logits = tf.where(_alike(y_true), _NEVER, logits)
        losses = _chooses_its_own(logits)
        if self.symmetric:
            losses = 0.5 * (losses + _chooses_its_own(tf.transpose(logits)))
        return losses

    def get_config(self):
        return {**super().get_config(), "scale": self.scale, "symmetric": self.symmetric}


@keras.utils.register_keras_serializable("kerasbert")
class SentenceLoss(PairLoss):
    """What a SentenceEncoder is compiled with by default, by what it is given: scores of pairs from 0 to 1, `CosineLoss`; pairs alone,
    `InBatchNegatives`; vectors for single texts, the mean squared error.
    """

    numbers_texts = True

    def __init__(self, name: str = "sentence_loss", **kwargs):
        super().__init__(name=name, **kwargs)
        self._scored, self._unscored = CosineLoss(), InBatchNegatives()

    def check(self, scores):
        if scores is not None:
            self._scored.check(scores)

    def call(self, y_true, y_pred):
        if y_pred.shape.rank == 2:
            return tf.reduce_mean(tf.math.squared_difference(tf.cast(y_true, tf.float32), y_pred), axis=-1)
        return (self._unscored if y_true.dtype.is_integer else self._scored).call(y_true, y_pred)


def text_numbers(rows) -> np.ndarray:
    """A number for each text of pairs, (rows, 2) int32, the same for the same token ids. rows: `kerasbert.processors.Rows`."""
    numbers: dict[tuple, int] = {}
    found = [numbers.setdefault(tuple(map(int, ids)), len(numbers)) for ids in rows.tokens.input_ids]
    return np.array(found, np.int32).reshape(-1, 2)


def _range(values, what: str) -> tuple[float, float]:
    try:
        low, high = map(float, values)
    except (TypeError, ValueError) as error:
        raise KerasBertError(f"expected {what} as (lowest, highest), received {values!r}") from error
    if not low < high:
        raise KerasBertError(f"expected {what} as (lowest, highest), received {values!r}")
    return low, high


def _per_pair(y_true):
    return tf.reshape(tf.cast(y_true, tf.float32), (-1,))


def _unit(vectors):
    vectors = tf.cast(vectors, tf.float32)
    square = tf.reduce_sum(tf.square(vectors), axis=-1, keepdims=True)
    return vectors * tf.math.rsqrt(tf.maximum(square, 1e-12))


def _cosine(pairs):
    vectors = _unit(pairs)
    return tf.reduce_sum(vectors[:, 0] * vectors[:, 1], axis=-1)


def _chooses_its_own(logits):
    own = tf.range(tf.shape(logits)[0])
    return tf.nn.sparse_softmax_cross_entropy_with_logits(own, logits)


def _alike(numbers):
    """(B, B): whether the second text of the column may be right for the first text of the row, other than its own."""
    first, second = numbers[:, 0], numbers[:, 1]
    alike = _equal(first, first) | _equal(second, second) | _equal(first, second)
    return tf.linalg.set_diag(alike, tf.zeros_like(first, tf.bool))


def _equal(one, other):
    return one[:, None] == other[None, :]
