"""What all objectives share."""

import copy
from collections.abc import Mapping
from typing import ClassVar

import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.training.distillation.layer_maps import LayerMap, layer_map
from kerasbert.training.distillation.observation import Observation, Part

TINY = 1e-9  # added to probabilities before their logarithm is taken


class Objective:
    """A loss between two models on one batch. weight: its factor in the sum of all.

    A distiller works on a copy that is `bound` to its two models. `wanted` says what is to be known of the teacher, by names that
    objectives share and that a cache can keep; `loss` compares it with what the student computes.

    Class attributes:
      name: in the training's figures, and on the command line with a dash for an underscore.
      per_token: whether tokens are compared with tokens, which takes one tokenization.
      heads: whether the outputs of the heads are compared.
    """

    name: ClassVar[str]
    per_token: bool = True
    heads: ClassVar[bool] = False

    def __init__(self, weight: float = 1.0):
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or not 0 <= weight < float("inf"):
            raise KerasBertError(f"expected a weight of at least 0 for {type(self).__name__}, received {weight!r}")
        self.weight = float(weight)
        self.paused = False  # not counted now; a change counts from the next `compile` on
        self.projections: tuple[keras.layers.Layer, ...] = ()

    def bound(self, student, teacher) -> "Objective":
        """A copy for these two tasks. Raises KerasBertError where they cannot be compared so."""
        other = copy.copy(self)
        other.bind(student, teacher)
        return other

    def bind(self, student, teacher) -> None:
        """Checks both tasks and makes what is to be learned beside the student (`projections`)."""

    def wanted(self, teacher: Observation) -> dict[str, Part]:
        """What `loss` reads of the teacher."""
        raise NotImplementedError

    def loss(self, student: Observation, wanted: Mapping[str, tf.Tensor]) -> tf.Tensor:
        """A scalar, without the weight."""
        raise NotImplementedError

    def _refuse(self, expected: str, received: str) -> KerasBertError:
        return KerasBertError(f"expected {expected} for {type(self).__name__}, received {received}")


class LayerObjective(Objective):
    """An objective that is the sum over layers of the student, each compared with one of the teacher's.

    layers: see `layer_maps.layer_map`. active: the student's layers that count now; None: all. A change counts from the next `compile` on.
    """

    def __init__(self, layers: LayerMap = "uniform", weight: float = 1.0):
        super().__init__(weight)
        self.layers = layers
        self.pairs: dict[int, int] = {}
        self.active: set[int] | None = None

    def bind(self, student, teacher):
        self.pairs = layer_map(self.layers, depth(student), depth(teacher))

    def counted(self) -> dict[int, int]:
        """Those pairs of layers that count now."""
        return {mine: theirs for mine, theirs in self.pairs.items() if self.active is None or mine in self.active}


def depth(task) -> int:
    """How many times an encoder's blocks are called."""
    return len(list(task.encoder.stack()))


def mean_over_tokens(values, mask) -> tf.Tensor:
    """Values and mask (B, S) -> their mean over real tokens."""
    return tf.reduce_sum(values * mask) / tf.maximum(tf.reduce_sum(mask), 1.0)


def total(values) -> tf.Tensor:
    """The sum of scalars, 0 of none."""
    return tf.add_n(list(values)) if values else tf.zeros(())


def divergence(teacher, student) -> tf.Tensor:
    """KL of probabilities over the last axis, (..., n) -> (...)."""
    return tf.reduce_sum(teacher * (tf.math.log(teacher + TINY) - tf.math.log(student + TINY)), axis=-1)
