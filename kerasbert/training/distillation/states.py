"""Objectives on hidden states."""

from collections.abc import Mapping, Sequence

import tensorflow as tf
import tf_keras as keras

from kerasbert.tasks.base import Task
from kerasbert.training.distillation.forward_features import ForwardFeatures, TeacherTensor
from kerasbert.training.distillation.layer_maps import LayerMap
from kerasbert.training.distillation.objective import (
    LayerObjective,
    Objective,
    mean_over_tokens,
    num_layer_calls,
    sum_losses,
)

_SMALLEST = 1e-12  # floor of a sum of squares


class CosineHidden(Objective):
    """1 - cosine similarity of the last hidden states, the mean over tokens (Sanh et al. 2019, "DistilBERT", section 2).

    Both models have the same width.

    Args:
        weight: Factor of the loss in the sum of all objectives.

    Raises:
        KerasBertError: When it is bound, for models of different widths.

    Example:
        ```python
        from kerasbert.training.distillation import Distiller, CosineHidden, student_from
        distiller = Distiller(student_from(task, layers=2), task, [CosineHidden()])
        distiller.compile(optimizer=kb.adamw(5e-4))
        ```
    """

    name = "cosine"

    def bind(self, student: Task, teacher: Task) -> None:
        _check_widths(self, student, teacher)
        self.layer = num_layer_calls(teacher)

    def teacher_targets(self, teacher: ForwardFeatures) -> dict[str, TeacherTensor]:
        return {_key(self.layer): TeacherTensor(teacher.hidden_states[self.layer], (1,))}

    def loss(self, student: ForwardFeatures, targets: Mapping[str, tf.Tensor]) -> tf.Tensor:
        cosines = tf.reduce_sum(_unit(student.hidden_states[-1]) * _unit(targets[_key(self.layer)]), axis=-1)
        return mean_over_tokens(1.0 - cosines, student.mask)


class HiddenStates(LayerObjective):
    """The mean squared error of hidden states, summed over layers (Jiao et al. 2020, "TinyBERT", section 3.1).

    If widths differ, the student's states are projected first: by one learned matrix for all layers and one for the embedding output.
    These matrices are trained with the student and are not part of it.

    Args:
        layers: Layers to compare, see `layer_map`.
        embeddings: Whether the embedding output is compared too.
        weight: Factor of the loss in the sum of all objectives.

    Raises:
        KerasBertError: When it is bound, for layers that do not exist; see `layer_map`.

    Example:
        ```python
        from kerasbert.training.distillation import Distiller, HiddenStates, student_from
        distiller = Distiller(student_from(task, layers=2), task, [HiddenStates("uniform", embeddings=True)])
        distiller.compile(optimizer=kb.adamw(5e-4))
        ```
    """

    name = "hidden"

    def __init__(self, layers: LayerMap = "uniform", embeddings: bool = True, weight: float = 1.0):
        super().__init__(layers, weight)
        self.embeddings = embeddings

    def bind(self, student: Task, teacher: Task) -> None:
        super().bind(student, teacher)
        student_width, teacher_width = (task.config.hidden_size for task in (student, teacher))
        if student_width == teacher_width:
            return
        names = ("hidden", "embeddings") if self.embeddings else ("hidden",)
        self.projections = tuple(
            keras.layers.Dense(teacher_width, use_bias=False, name=f"{name}_projection") for name in names
        )
        for projection in self.projections:
            projection.build((None, None, student_width))

    def teacher_targets(self, teacher: ForwardFeatures) -> dict[str, TeacherTensor]:
        indices = [*([0] if self.embeddings else []), *(teacher_layer + 1 for teacher_layer in self.pairs.values())]
        return {_key(index): TeacherTensor(teacher.hidden_states[index], (1,)) for index in indices}

    def loss(self, student: ForwardFeatures, targets: Mapping[str, tf.Tensor]) -> tf.Tensor:
        losses = []
        if self.embeddings and self.active is None:
            losses.append(_squared_error(student, 0, targets[_key(0)], self.projections[1:]))
        for student_layer, teacher_layer in self.active_pairs().items():
            target = targets[_key(teacher_layer + 1)]
            losses.append(_squared_error(student, student_layer + 1, target, self.projections[:1]))
        return sum_losses(losses)


def _squared_error(
    student: ForwardFeatures, index: int, target: tf.Tensor, projections: Sequence[keras.layers.Dense] = ()
) -> tf.Tensor:
    states = student.hidden_states[index]
    for projection in projections:
        states = tf.cast(projection(states), tf.float32)
    return mean_over_tokens(tf.reduce_mean(tf.math.squared_difference(states, target), axis=-1), student.mask)


class FeatureMaps(LayerObjective):
    """MobileBERT's feature map transfer: the mean squared error of each layer's output (Sun et al. 2020, section 3.4).

    There is no projection, so both models have the same width. `progressive_stages` trains one layer after the other.

    Args:
        layers: Layers to compare, see `layer_map`.
        weight: Factor of the loss in the sum of all objectives.

    Raises:
        KerasBertError: When it is bound, for models of different widths.

    Example:
        ```python
        from kerasbert.training.distillation import Distiller, FeatureMaps, student_from
        distiller = Distiller(student_from(task, layers=2), task, [FeatureMaps("last")])
        distiller.compile(optimizer=kb.adamw(5e-4))
        ```
    """

    name = "features"

    def bind(self, student: Task, teacher: Task) -> None:
        super().bind(student, teacher)
        _check_widths(self, student, teacher)

    def teacher_targets(self, teacher: ForwardFeatures) -> dict[str, TeacherTensor]:
        return {
            _key(teacher_layer + 1): TeacherTensor(teacher.hidden_states[teacher_layer + 1], (1,))
            for teacher_layer in self.pairs.values()
        }

    def loss(self, student: ForwardFeatures, targets: Mapping[str, tf.Tensor]) -> tf.Tensor:
        return sum_losses(
            [
                _squared_error(student, student_layer + 1, targets[_key(teacher_layer + 1)])
                for student_layer, teacher_layer in self.active_pairs().items()
            ]
        )


class PatientStates(LayerObjective):
    """The squared distance of normalized states of the first token, summed over layers (Patient Knowledge Distillation).

    See Sun et al. 2019, "Patient Knowledge Distillation for BERT Model Compression", section 3. Both models have the same width. Only the
    first token is compared, so the teacher may have another vocabulary. A rule leaves the student's last layer out, as the paper does: the
    head reads its states, and soft labels teach them. The paper's rules are `skip` and `last`.

    Args:
        layers: Layers to compare, see `layer_map`.
        weight: Factor of the loss in the sum of all objectives.

    Raises:
        KerasBertError: When it is bound, for models of different widths.

    Example:
        ```python
        from kerasbert.training.distillation import Distiller, PatientStates, student_from
        distiller = Distiller(student_from(task, layers=2), task, [PatientStates("skip")])
        distiller.compile(optimizer=kb.adamw(5e-4))
        ```
    """

    name = "patient"
    per_token = False

    def __init__(self, layers: LayerMap = "skip", weight: float = 1.0):
        super().__init__(layers, weight)

    def bind(self, student: Task, teacher: Task) -> None:
        super().bind(student, teacher)
        _check_widths(self, student, teacher)
        if isinstance(self.layers, str):
            self.pairs.pop(max(self.pairs))
        if not self.pairs:
            raise self.error(
                "a student of 2 or more layers, or a map {student: teacher},", "1 layer, which a rule leaves out"
            )

    def teacher_targets(self, teacher: ForwardFeatures) -> dict[str, TeacherTensor]:
        return {
            _first_token_key(teacher_layer + 1): TeacherTensor(teacher.hidden_states[teacher_layer + 1][:, 0])
            for teacher_layer in self.pairs.values()
        }

    def loss(self, student: ForwardFeatures, targets: Mapping[str, tf.Tensor]) -> tf.Tensor:
        losses = []
        for student_layer, teacher_layer in self.active_pairs().items():
            states = student.hidden_states[student_layer + 1][:, 0]
            difference = _unit(states) - _unit(targets[_first_token_key(teacher_layer + 1)])
            losses.append(tf.reduce_mean(tf.reduce_sum(tf.square(difference), axis=-1)))
        return sum_losses(losses)


def _key(index: int) -> str:
    return f"states.{index}"


def _first_token_key(index: int) -> str:
    return f"first.{index}"


def _unit(vectors: tf.Tensor) -> tf.Tensor:
    """Vectors scaled to Euclidean norm 1."""
    square = tf.reduce_sum(tf.square(vectors), axis=-1, keepdims=True)
    return vectors * tf.math.rsqrt(tf.maximum(square, _SMALLEST))


def _check_widths(objective: Objective, student: Task, teacher: Task) -> None:
    student_width, teacher_width = (task.config.hidden_size for task in (student, teacher))
    if student_width != teacher_width:
        raise objective.error(
            "hidden states of one width",
            f"{student_width} of the student and {teacher_width} of the teacher; HiddenStates projects them",
        )
