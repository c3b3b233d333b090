"""Learning what the teacher's head says."""

import tensorflow as tf

from kerasbert.tasks.masked_lm import MaskedLM
from kerasbert.tasks.sentence_encoder import SentenceEncoder
from kerasbert.training.distillation.objective import Objective, mean_over_tokens
from kerasbert.training.distillation.observation import Part

_NEVER = -1e9  # the logit of padding where tokens compete with each other


class SoftLabels(Objective):
    """The teacher's outputs as targets: Hinton et al. 2015, "Distilling the Knowledge in a Neural Network", section 2.

    KL divergence from the teacher's probabilities softened by a temperature T to the student's, times T^2, which keeps its gradients as
    large as those of the labels. Of classes a softmax, of several labels a text a sigmoid each; of tags and masked words the mean over
    tokens; of answers in a text over the places where they start and end.

    temperature: None for the mean squared error of logits in place of that (Ba & Caruana 2014). Scores of a regression and vectors of a
    sentence encoder are compared by their mean squared error whatever it is.

    Raises KerasBertError for a temperature that is not above 0; when it is bound, for tasks of two kinds and other labels.
    """

    name = "soft_labels"
    heads = True

    def __init__(self, temperature: float | None = 1.0, weight: float = 1.0):
        super().__init__(weight)
        number = isinstance(temperature, int | float) and not isinstance(temperature, bool)
        if temperature is not None and not (number and 0 < temperature < float("inf")):
            raise self._refuse("a temperature above 0, or None", repr(temperature))
        self.temperature = temperature

    def bind(self, student, teacher):
        kinds = [f"{type(task).__name__} ({task.soft_loss})" for task in (student, teacher)]
        if kinds[0] != kinds[1]:
            raise self._refuse(f"a teacher of the student's kind, {kinds[0]},", kinds[1])
        if student.labels != teacher.labels:
            mine, theirs = (", ".join(task.labels or ()) for task in (student, teacher))
            raise self._refuse(f"a teacher with the student's labels in their order ({mine})", theirs)
        self.soft_loss, self.per_token = student.soft_loss, student.per_token
        widths = [task.config.hidden_size for task in (student, teacher)]
        if isinstance(student, SentenceEncoder) and widths[0] != widths[1]:
            raise self._refuse("vectors of one width", f"{widths[0]} and {widths[1]}; HiddenStates bridges widths")
        words = [task.config.vocab_size for task in (student, teacher)]
        if isinstance(student, MaskedLM) and words[0] != words[1]:
            raise self._refuse("word tables of one size", f"{words[0]} and {words[1]} rows")

    def wanted(self, teacher):
        axes = (1,) if self.per_token else ()
        return {f"outputs.{name}": Part(values, axes) for name, values in teacher.named_outputs.items()}

    def loss(self, student, wanted):
        losses = [
            self._of(values, wanted[f"outputs.{name}"], student.mask) for name, values in student.named_outputs.items()
        ]
        return tf.add_n(losses) / len(losses)

    def _of(self, student, teacher, mask):
        if self.soft_loss == "squared_error":
            return tf.reduce_mean(tf.math.squared_difference(student, teacher))
        if self.soft_loss == "token_softmax":
            if self.temperature is None:
                return mean_over_tokens(tf.math.squared_difference(student, teacher), mask)
            padding = (1.0 - mask) * _NEVER
            return tf.reduce_mean(self._softened(student + padding, teacher + padding))
        losses = self._softened(student, teacher)
        if self.per_token and losses.shape.rank == 2:
            return mean_over_tokens(losses, mask)
        return tf.reduce_sum(losses) / tf.maximum(
            tf.cast(tf.size(losses), tf.float32), 1.0
        )  # a batch may have no masked words

    def _softened(self, student, teacher):
        """Logits (..., C) -> (...)."""
        if self.temperature is None:
            return tf.reduce_mean(tf.math.squared_difference(student, teacher), axis=-1)
        student, teacher, scale = student / self.temperature, teacher / self.temperature, self.temperature**2
        if self.soft_loss == "sigmoid":
            yes = tf.sigmoid(teacher) * (tf.math.log_sigmoid(teacher) - tf.math.log_sigmoid(student))
            no = tf.sigmoid(-teacher) * (tf.math.log_sigmoid(-teacher) - tf.math.log_sigmoid(-student))
            return scale * tf.reduce_mean(yes + no, axis=-1)
        difference = tf.nn.log_softmax(teacher) - tf.nn.log_softmax(student)
        return scale * tf.reduce_sum(tf.nn.softmax(teacher) * difference, axis=-1)
