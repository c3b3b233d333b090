"""Losses between the weights of two models of different widths, through matrices that all layers share (Zhao et al. 2019, section 3.2)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.arguments import check_choice
from kerasbert.encoders.base import Encoder
from kerasbert.layers.traversal import named_variables
from kerasbert.training.distill_config import PROJECTIONS
from kerasbert.training.distillation.layer_maps import LayerMap, layer_map

_LAYERS, _WORDS = "layers.", "embeddings.word.table"


class WeightProjections:
    """The squared errors of projected kernels and tables, each as a share of the teacher's squares; the mean over all of them.

    One matrix `(teacher's width, student's width)` is learned for each pair of widths: one for the hidden size, one for the feed-forward
    network. All layers share them. `up` compares U S V' with the teacher's kernel T, and `down` compares U' T V with the student's S. Axes
    of equal size are not projected. Biases and norms are not compared.

    Args:
        student: The student's encoder.
        teacher: The teacher's.
        rows: The row of the teacher's token table for each of the student's tokens, `(student's tokens,)`.
        direction: `up` or `down`.
        layers: Which layers are compared, see `layer_map`.

    Attributes:
        matrices: The learned matrices, by the teacher's and the student's width.

    Raises:
        KerasBertError: When the direction is unknown, or the layers do not fit the map.
    """

    def __init__(
        self, student: Encoder, teacher: Encoder, rows: np.ndarray, direction: str = "up", layers: LayerMap = "uniform"
    ):
        check_choice(direction, "a projection of", PROJECTIONS)
        self.direction, self._rows = direction, tf.constant(rows, tf.int32)
        pairs = layer_map(layers, len(student.layers), len(teacher.layers))
        theirs = named_variables(teacher)
        self.matrices: dict[tuple[int, int], tf.Variable] = {}
        self._pairs: list[tuple[str, tf.Variable, tf.Variable]] = []
        for path, variable in named_variables(student).items():
            other = theirs.get(_teacher_path(path, pairs))
            if other is None or len(variable.shape) != 2 or len(other.shape) != 2 or not variable.trainable:
                continue
            self._pairs.append((path, variable, other))
            shape = (len(rows), other.shape[1]) if path == _WORDS else other.shape
            for wide, narrow in zip(_sizes(shape), _sizes(variable.shape), strict=True):
                if wide != narrow and (wide, narrow) not in self.matrices:
                    self.matrices[wide, narrow] = _orthogonal(wide, narrow)

    def variables(self) -> dict[str, tf.Variable]:
        """Return the learned matrices by path."""
        return {f"projections.{wide}x{narrow}": matrix for (wide, narrow), matrix in self.matrices.items()}

    def loss(self) -> tf.Tensor:
        """Return the loss, a scalar."""
        shares = []
        for path, student, teacher in self._pairs:
            wide = tf.gather(teacher, self._rows) if path == _WORDS else tf.convert_to_tensor(teacher)
            narrow = tf.convert_to_tensor(student)
            if self.direction == "up":
                difference = self._projected(narrow, _sizes(wide.shape), up=True) - wide
            else:
                difference = self._projected(wide, _sizes(narrow.shape), up=False) - narrow
            squares = tf.stop_gradient(tf.reduce_sum(tf.square(wide)))
            shares.append(tf.reduce_sum(tf.square(difference)) / tf.maximum(squares, 1e-12))
        return tf.add_n(shares) / len(shares)

    def _projected(self, weights: tf.Tensor, shape: Sequence[int], up: bool) -> tf.Tensor:
        """Bring both axes of weights (a, b) to the sizes of a shape."""
        for axis in (0, 1):
            here, there = _sizes(weights.shape)[axis], shape[axis]
            if here != there:
                matrix = self.matrices[(there, here) if up else (here, there)]  # (wide, narrow)
                matrix = matrix if up else tf.transpose(matrix)  # (there, here)
                weights = tf.matmul(matrix, weights) if axis == 0 else tf.matmul(weights, matrix, transpose_b=True)
        return weights


def _sizes(shape: Any) -> tuple[int, ...]:
    """Return the sizes of a shape that is known."""
    return tuple(int(size) for size in shape)


def _teacher_path(path: str, pairs: dict[int, int]) -> str:
    """Return the teacher's path of a student's variable; an empty one for a layer that is not compared."""
    if not path.startswith(_LAYERS):
        return path
    layer, rest = path.removeprefix(_LAYERS).split(".", 1)
    return f"{_LAYERS}{pairs[int(layer)]}.{rest}" if int(layer) in pairs else ""


def _orthogonal(wide: int, narrow: int) -> tf.Variable:
    """Return a matrix (wide, narrow) whose columns have the norm 1, orthogonal to each other as far as there is room."""
    initial = keras.initializers.Orthogonal(seed=int(np.random.randint(2**31)))((wide, narrow))
    return tf.Variable(initial, name=f"projection_{wide}x{narrow}")
