"""Means and covariances of what Dense layers read, over the tokens of some data."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from kerasbert.compression.quantization.calibration_rows import CALIBRATION_ROWS
from kerasbert.compression.quantization.known_tokens import check_known_tokens
from kerasbert.compression.quantization.observers import attended_values, pack_rows
from kerasbert.data.sampling import spread
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant
from kerasbert.layers.traversal import dense_layers
from kerasbert.processors import Features
from kerasbert.tasks.base import Task


@dataclass
class Moments:
    """Sums over the inputs `(rows, in)` of a Dense layer.

    Attributes:
        count: Number of rows.
        total: The sum of the rows, `(in,)`.
        products: The sum of their outer products, `(in, in)`.
    """

    count: int
    total: np.ndarray
    products: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """The mean row, `(in,)`."""
        return self.total / max(self.count, 1)

    @property
    def covariance(self) -> np.ndarray:
        """The mean outer product of rows from which the mean is subtracted, `(in, in)`."""
        return self.second_moment - np.outer(self.mean, self.mean)

    @property
    def second_moment(self) -> np.ndarray:
        """The mean outer product of the rows, `(in, in)`."""
        return self.products / max(self.count, 1)


def input_moments(task: Task, paths: Sequence[str], features: Features, batch_size: int) -> dict[str, Moments]:
    """Return the moments of what some Dense layers read. Padding is left out; of many rows some are used, spread evenly.

    Args:
        task: The task, in float.
        paths: The paths of the layers.
        features: Token ids of the data.
        batch_size: Rows in a batch.

    Raises:
        KerasBertError: When no row has a known token.
    """
    check_known_tokens(task, features, "weight directions by what layers read")
    copy = task.with_policy(None)  # leaves the caller's task without observers
    readers = {dense.path: dense.input_quantizer for dense in dense_layers(copy) if dense.path in paths}
    observer = _MomentsObserver()
    for quantizer in readers.values():
        quantizer.observer = observer
    index = [int(i) for i in spread(len(features), CALIBRATION_ROWS)]
    for start in range(0, len(index), batch_size):
        inputs = pack_rows(copy, features, index[start : start + batch_size])
        observer.attended = inputs["attention_mask"].numpy().astype(bool)
        copy(inputs, training=False)
    return {path: observer.moments[id(quantizer)] for path, quantizer in readers.items()}


class _MomentsObserver:
    """Observer that adds up the moments of the tensors of quantizers."""

    before_scaling = True

    def __init__(self):
        self.attended = np.zeros((0, 0), bool)
        self.moments: dict[int, Moments] = {}

    def __call__(self, quantizer: ActivationFakeQuant, x: tf.Tensor) -> tf.Tensor:
        rows = attended_values(tf.cast(x, tf.float32).numpy(), self.attended)[0]
        width = rows.shape[1]
        found = self.moments.setdefault(id(quantizer), Moments(0, np.zeros(width), np.zeros((width, width))))
        found.count += len(rows)
        found.total += rows.sum(0)
        found.products += rows.T @ rows
        return x
