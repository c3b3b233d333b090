"""The base classes of distillation objectives, and losses that several of them share."""

import copy
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.tasks.base import Task
from kerasbert.training.distillation.forward_features import ForwardFeatures, TeacherTensor
from kerasbert.training.distillation.layer_maps import LayerMap, layer_map
from kerasbert.values import Rule

TINY = 1e-9  # added to probabilities before the logarithm


class Objective:
    """A loss between a student and a teacher on one batch.

    A distiller works on a copy that is bound to its two models. `teacher_targets` selects tensors of the teacher, under names that
    objectives share and a cache stores. `loss` compares them with the student's.

    Args:
        weight: Factor of the loss in the sum of all objectives.

    Attributes:
        name: Name of the loss in the training history; the command line has dashes for its underscores.
        per_token: Whether tokens are compared with tokens, so that both models need one tokenization.
        heads: Whether outputs of the heads are compared.
        paused: Whether the loss counts as 0; a change takes effect at the next `compile`.
        projections: Layers that are trained with the student and are not part of it.

    Raises:
        KerasBertError: When the weight is negative or not a finite number.

    Example:
        ```python
        from kerasbert.training.distillation import Objective, SoftLabels
        objective = SoftLabels(weight=0.5)
        isinstance(objective, Objective), objective.name
        ```
    """

    name: ClassVar[str]
    per_token: bool = True
    heads: ClassVar[bool] = False

    def __init__(self, weight: float = 1.0):
        self.weight = Rule(float, at_least=0).check(weight, f"a weight of {type(self).__name__}")
        self.paused = False
        self.projections: tuple[keras.layers.Dense, ...] = ()

    def bind_copy(self, student: Task, teacher: Task) -> Self:
        """Return a copy that is bound to these models.

        Args:
            student: The student.
            teacher: The teacher.

        Raises:
            KerasBertError: When the objective cannot compare them.
        """
        bound = copy.copy(self)
        bound.bind(student, teacher)
        return bound

    def bind(self, student: Task, teacher: Task) -> None:
        """Check both models and make the `projections`.

        Args:
            student: The student.
            teacher: The teacher.

        Raises:
            KerasBertError: When the objective cannot compare the models.
        """

    def teacher_targets(self, teacher: ForwardFeatures) -> dict[str, TeacherTensor]:
        """Return the tensors that `loss` compares, by name.

        Args:
            teacher: The teacher's forward pass.
        """
        raise NotImplementedError

    def loss(self, student: ForwardFeatures, targets: Mapping[str, tf.Tensor]) -> tf.Tensor:
        """Return the loss as a scalar, without the weight.

        Args:
            student: The student's forward pass.
            targets: The values of `teacher_targets`, by name.
        """
        raise NotImplementedError

    def error(self, expected: str, received: str) -> KerasBertError:
        """Return an error that names this objective.

        Args:
            expected: What the objective needs.
            received: What the models have.
        """
        return KerasBertError(f"expected {expected} for {type(self).__name__}, received {received}")


class LayerObjective(Objective):
    """An objective summed over layers of the student, each compared with a layer of the teacher.

    Args:
        layers: Layers to compare, see `layer_map`.
        weight: Factor of the loss in the sum of all objectives.

    Attributes:
        pairs: Student layer -> teacher layer, once bound.
        active: The student layers that count; None counts all. A change takes effect at the next `compile`.

    Example:
        ```python
        from kerasbert.training.distillation import Distiller, FeatureMaps, LayerObjective, student_from
        distiller = Distiller(student_from(task, layers=2), task, [FeatureMaps("last")])
        isinstance(distiller.objectives[0], LayerObjective), distiller.objectives[0].pairs
        ```
    """

    def __init__(self, layers: LayerMap = "uniform", weight: float = 1.0):
        super().__init__(weight)
        self.layers = layers
        self.pairs: dict[int, int] = {}
        self.active: set[int] | None = None

    def bind(self, student: Task, teacher: Task) -> None:
        self.pairs = layer_map(self.layers, num_layer_calls(student), num_layer_calls(teacher))

    def active_pairs(self) -> dict[int, int]:
        """Return the pairs of layers that count."""
        return {
            student: teacher for student, teacher in self.pairs.items() if self.active is None or student in self.active
        }


def num_layer_calls(task: Task) -> int:
    """Return the number of calls of an encoder's blocks: its layers, also where they share weights."""
    return len(list(task.encoder.stack()))


def static_size(tensor: tf.Tensor, axis: int) -> int:
    """Return the size of an axis that every batch shares.

    Raises:
        KerasBertError: When the size is not known while tracing.
    """
    size = tensor.shape[axis]
    if size is None:
        raise KerasBertError(f"expected a tensor of known size along axis {axis}, received shape {tensor.shape}")
    return size


def mean_over_tokens(values: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Return the mean of values (B, S) where the mask (B, S) is 1."""
    return tf.reduce_sum(values * mask) / tf.maximum(tf.reduce_sum(mask), 1.0)


def sum_losses(losses: Sequence[tf.Tensor]) -> tf.Tensor:
    """Return the sum of scalars; 0 for none."""
    return tf.add_n(list(losses)) if losses else tf.zeros(())


def kl_divergence(teacher: tf.Tensor, student: tf.Tensor) -> tf.Tensor:
    """Return the KL divergence of probabilities over the last axis, (..., n) -> (...)."""
    return tf.reduce_sum(teacher * (tf.math.log(teacher + TINY) - tf.math.log(student + TINY)), axis=-1)
