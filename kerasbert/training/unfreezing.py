"""Gradual unfreezing: Howard & Ruder 2018, "Universal Language Model Fine-tuning for Text Classification", section 3.3."""

import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.optimizers.adamw import fused_adamw_of
from kerasbert.optimizers.parameter_groups import depths, part_of, trainable_variables_by_path


class GradualUnfreezing(keras.callbacks.Callback):
    """Trains the head first and opens one layer more from the top every so many epochs, the embeddings last.

    For a task compiled with `kb.adamw`, and passed to `fit` as a callback. What is closed has a learning rate of 0; its gradients are
    computed all the same, so an epoch takes as long as ever. What is open follows from the number of the epoch alone, so a training that
    goes on where it stopped opens the same. When `fit` is over everything is open.

    Raises KerasBertError for another optimizer, for `every` below 1, and for layers that share their weights.
    """

    def __init__(self, task, every: int = 1):
        super().__init__()
        if every < 1:
            raise KerasBertError(f"expected to open a layer every 1 or more epochs, received {every}")
        self._supports_tf_logs = True  # otherwise Keras reads the metrics after every batch
        self.every, self.stages = every, _stages(task)
        stage_of = {part: number for number, stage in enumerate(self.stages) for part in stage}
        paths = {path: stage_of.get(part_of(path), 0) for path in trainable_variables_by_path(task)}
        self._open_to = fused_adamw_of(task).open_by(paths, task)
        task.train_function = None  # what was traced knows of no closed layers

    @property
    def open_parts(self) -> list[str]:
        """The parts that are trained now."""
        return [part for stage in self.stages[: int(self._open_to.numpy()) + 1] for part in stage]

    def on_epoch_begin(self, epoch, logs=None):
        self._open_to.assign(min(epoch // self.every, len(self.stages) - 1))

    def on_train_end(self, logs=None):
        self._open_to.assign(len(self.stages) - 1)


def _stages(task) -> list[list[str]]:
    """The parts that open together, in their order; without those that are not trained at all."""
    below = depths(task, "gradual unfreezing")
    trained = {id(variable) for variable in task.trainable_variables}
    parts = {part_of(path) for path, variable in task.variables_by_path().items() if id(variable) in trained}
    stages = [
        [part for part in below if part in parts and below[part] == depth] for depth in sorted(set(below.values()))
    ]
    return [stage for stage in stages if stage]
