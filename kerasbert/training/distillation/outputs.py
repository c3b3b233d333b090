"""Objectives on the outputs of the head."""

from collections.abc import Mapping

import tensorflow as tf

from kerasbert.tasks.base import Task
from kerasbert.tasks.masked_lm import MaskedLM
from kerasbert.tasks.sentence_encoder import SentenceEncoder
from kerasbert.training.distillation.forward_features import ForwardFeatures, TeacherTensor
from kerasbert.training.distillation.objective import Objective, mean_over_tokens
from kerasbert.values import is_number

_MASKED = -1e9  # the logit of padding in a softmax over tokens


class SoftLabels(Objective):
    """The teacher's outputs as soft labels (Hinton et al. 2015, "Distilling the Knowledge in a Neural Network", section 2).

    The loss is the KL divergence between the probabilities at temperature T, times T^2, so that its gradients stay as large as those of
    hard labels. Classes use a softmax, multi-label texts a sigmoid for each label. Tags and masked words use the mean over tokens. Spans
    use a softmax over the positions of start and end. Regression scores and sentence embeddings use the mean squared error.

    Args:
        temperature: The temperature T. None uses the mean squared error of logits in place of the divergence (Ba & Caruana 2014).
        weight: Factor of the loss in the sum of all objectives.

    Raises:
        KerasBertError: When the temperature is not above 0; and when it is bound, for tasks of two kinds or with different labels.

    Example:
        ```python
        from kerasbert.training.distillation import Distiller, SoftLabels, student_from
        distiller = Distiller(student_from(task, layers=2), task, [SoftLabels(temperature=2.0)])
        distiller.compile(optimizer=kb.adamw(5e-4))
        ```
    """

    name = "soft_labels"
    heads = True

    def __init__(self, temperature: float | None = 2.0, weight: float = 1.0):
        super().__init__(weight)
        if temperature is not None and not (is_number(temperature, 0) and temperature > 0):
            raise self.error("a temperature above 0, or None", repr(temperature))
        self.temperature = temperature
        self.soft_loss = "softmax"

    def bind(self, student: Task, teacher: Task) -> None:
        student_kind, teacher_kind = (f"{type(task).__name__} ({task.soft_loss})" for task in (student, teacher))
        if student_kind != teacher_kind:
            raise self.error(f"a teacher of the student's kind, {student_kind},", teacher_kind)
        if student.labels != teacher.labels:
            student_labels, teacher_labels = (", ".join(task.labels or ()) for task in (student, teacher))
            raise self.error(f"a teacher with the student's labels in their order ({student_labels})", teacher_labels)
        self.soft_loss, self.per_token = student.soft_loss, student.per_token
        widths = [task.width for task in (student, teacher) if isinstance(task, SentenceEncoder)]
        if len(set(widths)) > 1:
            raise self.error("vectors of one width", f"{widths[0]} and {widths[1]}; HiddenStates bridges widths")
        vocabularies = [task.config.vocab_size for task in (student, teacher)]
        if isinstance(student, MaskedLM) and vocabularies[0] != vocabularies[1]:
            raise self.error("token embeddings of one size", f"{vocabularies[0]} and {vocabularies[1]} rows")

    def teacher_targets(self, teacher: ForwardFeatures) -> dict[str, TeacherTensor]:
        axes = (1,) if self.per_token else ()
        return {f"outputs.{name}": TeacherTensor(values, axes) for name, values in teacher.named_outputs.items()}

    def loss(self, student: ForwardFeatures, targets: Mapping[str, tf.Tensor]) -> tf.Tensor:
        losses = [
            self._output_loss(values, targets[f"outputs.{name}"], student.mask)
            for name, values in student.named_outputs.items()
        ]
        return tf.add_n(losses) / len(losses)

    def _output_loss(self, student: tf.Tensor, teacher: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        if self.soft_loss == "squared_error":
            return tf.reduce_mean(tf.math.squared_difference(student, teacher))
        if self.soft_loss == "token_softmax":
            if self.temperature is None:
                return mean_over_tokens(tf.math.squared_difference(student, teacher), mask)
            padding = (1.0 - mask) * _MASKED
            return tf.reduce_mean(self._soft_loss(student + padding, teacher + padding))
        losses = self._soft_loss(student, teacher)
        if self.per_token and losses.shape.rank == 2:
            return mean_over_tokens(losses, mask)
        count = tf.cast(tf.size(losses), tf.float32)
        return tf.reduce_sum(losses) / tf.maximum(count, 1.0)  # a batch may have no masked words

    def _soft_loss(self, student: tf.Tensor, teacher: tf.Tensor) -> tf.Tensor:
        """Logits (..., C) -> losses (...)."""
        if self.temperature is None:
            return tf.reduce_mean(tf.math.squared_difference(student, teacher), axis=-1)
        student, teacher, scale = student / self.temperature, teacher / self.temperature, self.temperature**2
        if self.soft_loss == "sigmoid":
            positive = tf.sigmoid(teacher) * (tf.math.log_sigmoid(teacher) - tf.math.log_sigmoid(student))
            negative = tf.sigmoid(-teacher) * (tf.math.log_sigmoid(-teacher) - tf.math.log_sigmoid(-student))
            return scale * tf.reduce_mean(positive + negative, axis=-1)
        difference = tf.nn.log_softmax(teacher) - tf.nn.log_softmax(student)
        return scale * tf.reduce_sum(tf.nn.softmax(teacher) * difference, axis=-1)


class Logits(SoftLabels):
    """The mean squared error of logits (Ba & Caruana 2014; Tang et al. 2019): soft labels without a temperature.

    Args:
        weight: Factor of the loss in the sum of all objectives.

    Example:
        ```python
        from kerasbert.training.distillation import Distiller, Logits, student_from
        distiller = Distiller(student_from(task, layers=2), task, [Logits()])
        distiller.compile(optimizer=kb.adamw(5e-4))
        ```
    """

    name = "logits"

    def __init__(self, weight: float = 1.0):
        super().__init__(None, weight)
