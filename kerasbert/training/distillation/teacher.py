"""The forward pass of a teacher for all objectives of a distiller."""

from collections.abc import Callable, Mapping, Sequence

import tensorflow as tf

from kerasbert.ids import INPUT_NAMES
from kerasbert.tasks.base import Task
from kerasbert.training.distillation.cache import TeacherArrays
from kerasbert.training.distillation.forward_features import TeacherTensor, forward_features
from kerasbert.training.distillation.objective import Objective

_Traced = tuple[Callable[[dict[str, tf.Tensor]], dict[str, tf.Tensor]], dict[str, tuple[int, ...]]]


class TeacherRunner:
    """A teacher with the objectives that compare its tensors. As a plain object it hides the teacher's weights from Keras.

    Args:
        model: The teacher.
        objectives: Objectives that are bound to it.
    """

    def __init__(self, model: Task, objectives: Sequence[Objective]):
        self.model, self.objectives = model, tuple(objectives)
        self._traced: _Traced | None = None

    def tensors(self, inputs: Mapping[str, tf.Tensor]) -> dict[str, TeacherTensor]:
        """Return the tensors that all objectives compare, by name, without gradients."""
        heads = any(objective.heads for objective in self.objectives)
        features = forward_features(self.model, inputs, training=False, outputs=heads)
        tensors: dict[str, TeacherTensor] = {}
        for objective in self.objectives:
            tensors |= objective.teacher_targets(features)
        return {
            name: TeacherTensor(tf.stop_gradient(tensor.values), tensor.token_axes) for name, tensor in tensors.items()
        }

    def arrays(self, inputs: dict[str, tf.Tensor]) -> TeacherArrays:
        """Return the same tensors as arrays, outside of a training step."""
        if self._traced is None:
            self._traced = self._trace(rank=len(inputs["input_ids"].shape))
        compute, token_axes = self._traced
        return {name: (values.numpy(), token_axes[name]) for name, values in compute(inputs).items()}

    def names(self) -> list[str]:
        """Return the names of the tensors."""
        shape = (1, 1, 4) if self.model.grouped else (1, 4)
        return list(self.tensors({name: tf.ones(shape, tf.int32) for name in INPUT_NAMES}))

    def _trace(self, rank: int) -> _Traced:
        token_axes: dict[str, tuple[int, ...]] = {}

        def compute(inputs: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
            tensors = self.tensors(inputs)
            token_axes.update({name: tensor.token_axes for name, tensor in tensors.items()})
            return {name: tensor.values for name, tensor in tensors.items()}

        spec = {name: tf.TensorSpec((None,) * rank, tf.int32) for name in INPUT_NAMES}
        return tf.function(compute, input_signature=[spec], autograph=False), token_axes
