"""Learning where the teacher's attention goes."""

import tensorflow as tf

from kerasbert.training.distillation.layer_maps import LayerMap
from kerasbert.training.distillation.objective import (
    LayerObjective,
    Objective,
    depth,
    divergence,
    mean_over_tokens,
    total,
)
from kerasbert.training.distillation.observation import Observation, Part

MEASURES = ("mse", "kl")
RELATIONS = ("query", "key", "value")
_NEVER = -1e9  # the score of padding


class Attentions(LayerObjective):
    """Attention probabilities of mapped layers, head by head, summed over layers. Both models have as many heads.

    measure: `mse`, the mean squared error (Jiao et al. 2020, "TinyBERT", section 3.1; there of scores before the softmax, here of
    probabilities, so weights are to be larger), or `kl`, the divergence of each token's distribution, the mean over heads (Sun et al.
    2020, "MobileBERT", section 3.4, attention transfer).
    """

    name = "attention"

    def __init__(self, layers: LayerMap = "uniform", measure: str = "mse", weight: float = 1.0):
        super().__init__(layers, weight)
        if measure not in MEASURES:
            raise self._refuse(f"a measure of {', '.join(MEASURES)}", repr(measure))
        self.measure = measure

    def bind(self, student, teacher):
        super().bind(student, teacher)
        mine, theirs = ([block.attention.heads for block in task.encoder.stack()] for task in (student, teacher))
        for one, other in self.pairs.items():
            if mine[one] != theirs[other]:
                raise self._refuse(
                    "as many heads in both models",
                    f"{mine[one]} in layer {one} of the student and {theirs[other]} in layer {other} of the teacher; "
                    "AttentionRelations compares any number",
                )

    def wanted(self, teacher):
        return {_attention(theirs): Part(teacher.attentions[theirs], (2, 3)) for theirs in self.pairs.values()}

    def loss(self, student, wanted):
        return total(
            [
                self._of(student.attentions[mine], wanted[_attention(theirs)], student.mask)
                for mine, theirs in self.counted().items()
            ]
        )

    def _of(self, student, teacher, mask):
        """(B, N, S, S) of each -> scalar; padding as a query does not count, as a key it has probability 0 in both."""
        if self.measure == "kl":
            return mean_over_tokens(tf.reduce_mean(divergence(teacher, student), axis=1), mask)
        keys = tf.maximum(tf.reduce_sum(mask, axis=1, keepdims=True), 1.0)  # (B, 1)
        squares = tf.reduce_sum(tf.math.squared_difference(student, teacher), axis=-1)  # (B, N, S)
        return mean_over_tokens(tf.reduce_mean(squares, axis=1) / keys, mask)


class AttentionRelations(Objective):
    """MiniLM's relations between tokens: Wang et al. 2021, "MiniLMv2", section 3; of values alone Wang et al. 2020, "MiniLM".

    Queries, keys or values of all heads side by side are divided anew into `relation_heads`; the softmax of their scaled products with
    themselves says how each token relates to each. The KL divergence from the relations of one layer of the teacher to those of the
    student's last one, the mean over heads and tokens, is summed over `relations`. Widths, depths and numbers of heads may differ.

    teacher_layer: which of the teacher's; negative numbers count from the top.

    Raises KerasBertError for unknown relations; when it is bound, for a layer that there is not, and relation heads that do not divide
    both widths.
    """

    name = "relations"

    def __init__(
        self, teacher_layer: int = -1, relation_heads: int | None = None, relations=RELATIONS, weight: float = 1.0
    ):
        super().__init__(weight)
        self.relations = (relations,) if isinstance(relations, str) else tuple(relations)
        if not self.relations or any(name not in RELATIONS for name in self.relations):
            raise self._refuse(f"relations of {', '.join(RELATIONS)}", repr(relations))
        self.teacher_layer, self.relation_heads = teacher_layer, relation_heads

    def bind(self, student, teacher):
        layers = depth(teacher)
        if not isinstance(self.teacher_layer, int) or not -layers <= self.teacher_layer < layers:
            raise self._refuse(f"a teacher_layer from 0 to {layers - 1}", repr(self.teacher_layer))
        self.layer = self.teacher_layer % layers
        mine, theirs = list(student.encoder.stack())[-1].attention, list(teacher.encoder.stack())[self.layer].attention
        if self.relation_heads is None:
            self.relation_heads = theirs.heads
        for whose, attention in (("student", mine), ("teacher", theirs)):
            width = attention.heads * attention.head_size
            if self.relation_heads < 1 or width % self.relation_heads:
                raise self._refuse(
                    f"relation_heads that divide the width of attention ({width} in the {whose})",
                    repr(self.relation_heads),
                )

    def wanted(self, teacher):
        places = [RELATIONS.index(name) for name in self.relations]
        return {
            self._named(name): Part(_side_by_side(teacher, self.layer, i), (1,))
            for name, i in zip(self.relations, places, strict=True)
        }

    def loss(self, student, wanted):
        losses = []
        for name in self.relations:
            mine = _side_by_side(student, len(student.vectors) - 1, RELATIONS.index(name))
            losses.append(self._of(mine, wanted[self._named(name)], student.mask))
        return total(losses)

    def _named(self, relation: str) -> str:
        return f"{relation}.{self.layer}"

    def _of(self, student, teacher, mask):
        theirs, mine = (tf.nn.log_softmax(self._scores(vectors, mask)) for vectors in (teacher, student))
        difference = tf.reduce_sum(tf.exp(theirs) * (theirs - mine), axis=-1)  # (B, R, S)
        return mean_over_tokens(tf.reduce_mean(difference, axis=1), mask)

    def _scores(self, vectors, mask):
        """(B, S, W) -> (B, R, S, S)."""
        shape, width = tf.shape(vectors), vectors.shape[-1] // self.relation_heads
        heads = tf.transpose(tf.reshape(vectors, (shape[0], shape[1], self.relation_heads, width)), (0, 2, 1, 3))
        scores = tf.matmul(heads, heads, transpose_b=True) * width**-0.5
        return scores + (1.0 - mask[:, None, None, :]) * _NEVER


def _attention(layer: int) -> str:
    return f"attention.{layer}"


def _side_by_side(seen: Observation, layer: int, which: int):
    """Queries, keys or values of all heads, (B, N, S, D) -> (B, S, N D); queries as the dense gave them."""
    vectors = seen.vectors[layer][which]
    size = vectors.shape[-1]
    if which == 0:
        vectors *= size**0.5
    shape = tf.shape(vectors)
    return tf.reshape(tf.transpose(vectors, (0, 2, 1, 3)), (shape[0], shape[2], vectors.shape[1] * size))
