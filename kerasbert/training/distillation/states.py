"""Learning the teacher's hidden states."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.training.distillation.layer_maps import LayerMap
from kerasbert.training.distillation.objective import LayerObjective, Objective, depth, mean_over_tokens, total
from kerasbert.training.distillation.observation import Observation, Part

_SMALLEST = 1e-12  # a sum of squares


class CosineHidden(Objective):
    """1 - cosine of the last hidden states of each token (Sanh et al. 2019, "DistilBERT", section 2). Both models are of one width."""

    name = "cosine"

    def bind(self, student, teacher):
        _check_widths(self, student, teacher)
        self.layer = depth(teacher)

    def wanted(self, teacher):
        return {_state(self.layer): Part(teacher.states[self.layer], (1,))}

    def loss(self, student, wanted):
        cosines = tf.reduce_sum(_unit(student.states[-1]) * _unit(wanted[_state(self.layer)]), axis=-1)
        return mean_over_tokens(1.0 - cosines, student.mask)


class HiddenStates(LayerObjective):
    """The mean squared error of hidden states, summed over layers (Jiao et al. 2020, "TinyBERT", section 3.1).

    Where widths differ the student's states are projected first: one learned matrix for all layers, one for the embedding output. They
    are trained with the student, and are no part of it. embeddings: whether the embedding output counts too.
    """

    name = "hidden"

    def __init__(self, layers: LayerMap = "uniform", embeddings: bool = True, weight: float = 1.0):
        super().__init__(layers, weight)
        self.embeddings = embeddings

    def bind(self, student, teacher):
        super().bind(student, teacher)
        mine, theirs = (task.config.hidden_size for task in (student, teacher))
        if mine == theirs:
            return
        names = ("hidden", "embeddings") if self.embeddings else ("hidden",)
        self.projections = tuple(
            keras.layers.Dense(theirs, use_bias=False, name=f"{name}_projection") for name in names
        )
        for projection in self.projections:
            projection.build((None, None, mine))

    def wanted(self, teacher):
        numbers = [*([0] if self.embeddings else []), *(theirs + 1 for theirs in self.pairs.values())]
        return {_state(number): Part(teacher.states[number], (1,)) for number in numbers}

    def loss(self, student, wanted):
        losses = []
        if self.embeddings and self.active is None:
            losses.append(self._error(student, 0, wanted[_state(0)], self.projections[1:]))
        for mine, theirs in self.counted().items():
            losses.append(self._error(student, mine + 1, wanted[_state(theirs + 1)], self.projections[:1]))
        return total(losses)

    @staticmethod
    def _error(student: Observation, number: int, wanted, projections):
        states = student.states[number]
        for projection in projections:
            states = tf.cast(projection(states), tf.float32)
        return mean_over_tokens(tf.reduce_mean(tf.math.squared_difference(states, wanted), axis=-1), student.mask)


class FeatureMaps(LayerObjective):
    """MobileBERT's feature map transfer (Sun et al. 2020, section 3.4): the mean squared error of each layer's output, without any
    projection, so both models are of one width. See `progressive_stages` for one layer after the other.
    """

    name = "features"

    def bind(self, student, teacher):
        super().bind(student, teacher)
        _check_widths(self, student, teacher)

    def wanted(self, teacher):
        return {_state(theirs + 1): Part(teacher.states[theirs + 1], (1,)) for theirs in self.pairs.values()}

    def loss(self, student, wanted):
        losses = []
        for mine, theirs in self.counted().items():
            squares = tf.math.squared_difference(student.states[mine + 1], wanted[_state(theirs + 1)])
            losses.append(mean_over_tokens(tf.reduce_mean(squares, axis=-1), student.mask))
        return total(losses)


class PatientStates(LayerObjective):
    """The squared distance of first tokens' states of length 1, summed over layers: Sun et al. 2019, "Patient Knowledge Distillation for
    BERT Model Compression", section 3. Both models are of one width.

    Only the first token counts, so the teacher may have another vocabulary. By a rule the student's last layer is left out, as in the
    paper: its states are what the head reads, and soft labels teach them. The paper's rules are `skip` and `last`.
    """

    name = "patient"
    per_token = False

    def __init__(self, layers: LayerMap = "skip", weight: float = 1.0):
        super().__init__(layers, weight)

    def bind(self, student, teacher):
        super().bind(student, teacher)
        _check_widths(self, student, teacher)
        if isinstance(self.layers, str):
            self.pairs.pop(max(self.pairs))
        if not self.pairs:
            raise self._refuse(
                "a student of 2 or more layers, or a map {student: teacher},", "1 layer, which a rule leaves out"
            )

    def wanted(self, teacher):
        return {f"first.{theirs + 1}": Part(teacher.states[theirs + 1][:, 0]) for theirs in self.pairs.values()}

    def loss(self, student, wanted):
        losses = []
        for mine, theirs in self.counted().items():
            difference = _unit(student.states[mine + 1][:, 0]) - _unit(wanted[f"first.{theirs + 1}"])
            losses.append(tf.reduce_mean(tf.reduce_sum(tf.square(difference), axis=-1)))
        return total(losses)


def _state(number: int) -> str:
    return f"states.{number}"


def _unit(vectors):
    square = tf.reduce_sum(tf.square(vectors), axis=-1, keepdims=True)
    return vectors * tf.math.rsqrt(tf.maximum(square, _SMALLEST))


def _check_widths(objective: Objective, student, teacher) -> None:
    mine, theirs = (task.config.hidden_size for task in (student, teacher))
    if mine != theirs:
        raise objective._refuse(
            "hidden states of one width",
            f"{mine} of the student and {theirs} of the teacher; HiddenStates projects them",
        )
