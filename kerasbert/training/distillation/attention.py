"""Objectives on attention probabilities, and on relations of queries, keys and values."""

import math
from collections.abc import Mapping, Sequence

import tensorflow as tf

from kerasbert.tasks.base import Task
from kerasbert.training.distillation.forward_features import ForwardFeatures, TeacherTensor
from kerasbert.training.distillation.layer_maps import LayerMap
from kerasbert.training.distillation.objective import (
    LayerObjective,
    Objective,
    kl_divergence,
    mean_over_tokens,
    num_layer_calls,
    static_size,
    sum_losses,
)

MEASURES = ("mse", "kl")
RELATIONS = ("query", "key", "value")
_MASKED = -1e9  # the score of padding


class Attentions(LayerObjective):
    """Attention probabilities of mapped layers, head by head, summed over layers. Both models have the same number of heads.

    Args:
        layers: Layers to compare, see `layer_map`.
        measure: `mse`, the mean squared error (Jiao et al. 2020, "TinyBERT", section 3.1). The paper compares scores before the softmax;
            probabilities need larger weights. Or `kl`, the divergence of each token's distribution, the mean over heads (attention
            transfer, Sun et al. 2020, "MobileBERT", section 3.4).
        weight: Factor of the loss in the sum of all objectives.

    Raises:
        KerasBertError: When the measure is unknown; and when it is bound, for different numbers of heads.

    Example:
        ```python
        from kerasbert.training.distillation import Distiller, Attentions, student_from
        distiller = Distiller(student_from(task, layers=2), task, [Attentions(measure="kl")])
        distiller.compile(optimizer=kb.adamw(5e-4))
        ```
    """

    name = "attention"

    def __init__(self, layers: LayerMap = "uniform", measure: str = "mse", weight: float = 1.0):
        super().__init__(layers, weight)
        if measure not in MEASURES:
            raise self.error(f"a measure of {', '.join(MEASURES)}", repr(measure))
        self.measure = measure

    def bind(self, student: Task, teacher: Task) -> None:
        super().bind(student, teacher)
        student_heads, teacher_heads = (
            [block.attention.heads for block in task.encoder.stack()] for task in (student, teacher)
        )
        for student_layer, teacher_layer in self.pairs.items():
            if student_heads[student_layer] != teacher_heads[teacher_layer]:
                raise self.error(
                    "as many heads in both models",
                    f"{student_heads[student_layer]} in layer {student_layer} of the student and {teacher_heads[teacher_layer]} in layer "
                    f"{teacher_layer} of the teacher; AttentionRelations compares any number",
                )

    def teacher_targets(self, teacher: ForwardFeatures) -> dict[str, TeacherTensor]:
        return {
            _key(teacher_layer): TeacherTensor(teacher.attentions[teacher_layer], (2, 3))
            for teacher_layer in self.pairs.values()
        }

    def loss(self, student: ForwardFeatures, targets: Mapping[str, tf.Tensor]) -> tf.Tensor:
        return sum_losses(
            [
                self._layer_loss(student.attentions[student_layer], targets[_key(teacher_layer)], student.mask)
                for student_layer, teacher_layer in self.active_pairs().items()
            ]
        )

    def _layer_loss(self, student: tf.Tensor, teacher: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        """(B, N, S, S) of each -> scalar. Padding does not count as a query; as a key its probability is 0 in both models."""
        if self.measure == "kl":
            return mean_over_tokens(tf.reduce_mean(kl_divergence(teacher, student), axis=1), mask)
        keys = tf.maximum(tf.reduce_sum(mask, axis=1, keepdims=True), 1.0)  # (B, 1)
        squares = tf.reduce_sum(tf.math.squared_difference(student, teacher), axis=-1)  # (B, N, S)
        return mean_over_tokens(tf.reduce_mean(squares, axis=1) / keys, mask)


class AttentionRelations(Objective):
    """MiniLM's relations between tokens (Wang et al. 2021, "MiniLMv2", section 3; for values alone Wang et al. 2020, "MiniLM").

    The concatenated queries, keys or values of all heads are divided into `relation_heads`. The softmax of their scaled products with
    themselves is the relation of each token to each. The loss is the KL divergence from the relations of one teacher layer to those of the
    student's last layer: the mean over heads and tokens, summed over `relations`. Widths, depths and numbers of heads may differ.

    Args:
        teacher_layer: The teacher's layer; negative numbers count from the top.
        relation_heads: Number of relation heads. None: the largest number, up to the teacher's heads, that divides both widths.
        relations: One or several of `query`, `key` and `value`.
        weight: Factor of the loss in the sum of all objectives.

    Raises:
        KerasBertError: When a relation is unknown; and when it is bound, for a layer that does not exist, or relation heads that do not
            divide both widths.

    Example:
        ```python
        from kerasbert.training.distillation import Distiller, AttentionRelations, student_from
        distiller = Distiller(student_from(task, layers=2), task, [AttentionRelations()])
        distiller.compile(optimizer=kb.adamw(5e-4))
        ```
    """

    name = "relations"

    def __init__(
        self,
        teacher_layer: int = -1,
        relation_heads: int | None = None,
        relations: str | Sequence[str] = RELATIONS,
        weight: float = 1.0,
    ):
        super().__init__(weight)
        self.relations = (relations,) if isinstance(relations, str) else tuple(relations)
        if not self.relations or any(name not in RELATIONS for name in self.relations):
            raise self.error(f"relations of {', '.join(RELATIONS)}", repr(relations))
        self.teacher_layer, self.relation_heads = teacher_layer, relation_heads

    def bind(self, student: Task, teacher: Task) -> None:
        layers = num_layer_calls(teacher)
        if not isinstance(self.teacher_layer, int) or not -layers <= self.teacher_layer < layers:
            raise self.error(f"a teacher_layer from 0 to {layers - 1}", repr(self.teacher_layer))
        self.layer = self.teacher_layer % layers
        student_attention = list(student.encoder.stack())[-1].attention
        teacher_attention = list(teacher.encoder.stack())[self.layer].attention
        widths = {
            "student": student_attention.heads * student_attention.head_size,
            "teacher": teacher_attention.heads * teacher_attention.head_size,
        }
        common = math.gcd(*widths.values())
        fitting = max(heads for heads in range(1, teacher_attention.heads + 1) if common % heads == 0)
        self._heads = fitting if self.relation_heads is None else self.relation_heads
        for model, width in widths.items():
            if self._heads < 1 or width % self._heads:
                raise self.error(
                    f"relation_heads that divide the width of attention ({width} in the {model})",
                    repr(self._heads),
                )

    def teacher_targets(self, teacher: ForwardFeatures) -> dict[str, TeacherTensor]:
        return {
            self._key(name): TeacherTensor(_concatenated_heads(teacher, self.layer, name), (1,))
            for name in self.relations
        }

    def loss(self, student: ForwardFeatures, targets: Mapping[str, tf.Tensor]) -> tf.Tensor:
        last = len(student.qkv) - 1
        return sum_losses(
            [
                self._relation_loss(_concatenated_heads(student, last, name), targets[self._key(name)], student.mask)
                for name in self.relations
            ]
        )

    def _key(self, relation: str) -> str:
        return f"{relation}.{self.layer}"

    def _relation_loss(self, student: tf.Tensor, teacher: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        teacher_log, student_log = (
            tf.nn.log_softmax(self._scores(vectors, mask)) for vectors in (teacher, student)
        )  # (B, R, S, S)
        divergence = tf.reduce_sum(tf.exp(teacher_log) * (teacher_log - student_log), axis=-1)  # (B, R, S)
        return mean_over_tokens(tf.reduce_mean(divergence, axis=1), mask)

    def _scores(self, vectors: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        """(B, S, W) -> (B, R, S, S)."""
        shape, width = tf.shape(vectors), static_size(vectors, -1) // self._heads
        heads = tf.transpose(tf.reshape(vectors, (shape[0], shape[1], self._heads, width)), (0, 2, 1, 3))
        scores = tf.matmul(heads, heads, transpose_b=True) * width**-0.5
        return scores + (1.0 - mask[:, None, None, :]) * _MASKED


def _key(layer: int) -> str:
    return f"attention.{layer}"


def _concatenated_heads(features: ForwardFeatures, layer: int, relation: str) -> tf.Tensor:
    """Queries, keys or values of all heads, (B, N, S, D) -> (B, S, N D); queries without their scale."""
    vectors = features.qkv[layer][RELATIONS.index(relation)]
    heads, size = static_size(vectors, 1), static_size(vectors, -1)
    if relation == "query":
        vectors *= size**0.5
    shape = tf.shape(vectors)
    return tf.reshape(tf.transpose(vectors, (0, 2, 1, 3)), (shape[0], shape[2], heads * size))
