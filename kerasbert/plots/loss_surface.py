"""The loss of a task at other weights: along a line, and over a plane."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kerasbert.console.progress import Progress
from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError
from kerasbert.tasks.base import Task
from kerasbert.tasks.inputs import batches

_BATCH = 32

Weights = Mapping[str, np.ndarray]  # by path


def weights_of(task: Task) -> dict[str, np.ndarray]:
    """Return the trained weights of a task by path, float32."""
    return {path: variable.numpy().astype(np.float32) for path, variable in task.variables_by_path().items()}


def difference(after: Weights, before: Weights) -> dict[str, np.ndarray]:
    """Return the direction from some weights to others.

    Args:
        after: The weights at its end.
        before: The weights at its start.

    Raises:
        KerasBertError: When they are those of models of other sizes.
    """
    for path in (*after, *before):
        if path not in after or path not in before or after[path].shape != before[path].shape:
            shapes = [str(each[path].shape) if path in each else "no such weights" for each in (before, after)]
            raise KerasBertError(
                f"expected models of the same sizes and labels, received {path} with {shapes[0]} and {shapes[1]}; name a model and what "
                "was trained from it"
            )
    return {path: after[path] - before[path] for path in after}


class LossSurface:
    """The loss of a task on some data, without dropout, as a function of the weights.

    Args:
        task: The task; it is compiled, and `at` changes its weights.
        data: Labelled data.
        progress: Receives the progress.
    """

    def __init__(self, task: Task, data: Dataset, progress: Progress):
        self.task, self.progress = task, progress
        self.variables = task.variables_by_path()
        examples, features = task.features(data)
        dataset, _ = batches(task, features, task.encode_targets(data.y, examples, features), batch_size=_BATCH)
        self.batches = list(dataset)
        self.rows = len(features)
        task.compile()
        compiled: Any = task.compiled_loss

        def compute(inputs: Any, labels: Any) -> tf.Tensor:
            return compiled(labels, task(inputs, training=False))

        compute(*self.batches[0])  # Keras makes variables in the first call
        self._loss = tf.function(compute, reduce_retracing=True, autograph=False)

    def at(self, origin: Weights, steps: Sequence[tuple[float, Weights]]) -> float:
        """Return the mean loss at a point.

        Args:
            origin: The weights from which the steps go.
            steps: The length of a step in units of its direction, and the direction.
        """
        for path, variable in self.variables.items():
            value = origin[path]
            for length, direction in steps:
                value = value + np.float32(length) * direction[path]
            variable.assign(value)
        total = 0.0
        for inputs, labels in self.batches:
            total += float(self._loss(inputs, labels)) * int(inputs["input_ids"].shape[0])
        return total / self.rows

    def line(self, origin: Weights, direction: Weights, lengths: Sequence[float], stage: str) -> np.ndarray:
        """Return the losses along a line, `(lengths,)`; NaN where one is not finite."""
        return self._over([[(length, direction)] for length in lengths], origin, stage)

    def plane(
        self, origin: Weights, first: Weights, second: Weights, lengths: Sequence[float], stage: str
    ) -> np.ndarray:
        """Return the losses over a plane, `(lengths of second, lengths of first)`; NaN where one is not finite."""
        points = [[(x, first), (y, second)] for y in lengths for x in lengths]
        return self._over(points, origin, stage).reshape(len(lengths), len(lengths))

    def _over(self, points: Sequence[Sequence[tuple[float, Weights]]], origin: Weights, stage: str) -> np.ndarray:
        self.progress.begin(stage, len(points), "points")
        losses = []
        for number, steps in enumerate(points):
            losses.append(self.at(origin, steps))
            self.progress.advance(number + 1)
        found = np.array(losses)
        if not np.isfinite(found).any():
            raise KerasBertError("expected finite losses, received none; a model is damaged, or its training diverged")
        return np.where(np.isfinite(found), found, np.nan)
