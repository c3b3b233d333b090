"""Gradual unfreezing: Howard & Ruder 2018, "Universal Language Model Fine-tuning for Text Classification", section 3.3."""

from collections.abc import Mapping
from typing import Any

import tf_keras as keras

from kerasbert.console.output import note
from kerasbert.errors import KerasBertError
from kerasbert.optimizers.adamw import fused_adamw_of
from kerasbert.optimizers.parameter_groups import depths, part_of, trainable_variables_by_path


class GradualUnfreezing(keras.callbacks.Callback):
    """Callback that trains the head first, then one more layer from the top every few epochs, and the embeddings last.

    See Howard & Ruder 2018, section 3.3.

    The callback is for `fit` of a task compiled with `kb.adamw`. Frozen layers have a learning rate of 0. Their gradients are still
    computed, so an epoch takes as long as without the callback. The trained parts depend on the epoch number alone, so a resumed run
    trains the same ones. All parts are trainable after `fit`. A note names the parts for which `fit` has too few epochs.

    Args:
        task: The compiled task.
        every: Number of epochs between two layers.

    Raises:
        KerasBertError: When the optimizer is another one, `every` is below 1, or layers share their weights.

    Example:
        ```python
        from kerasbert.training import GradualUnfreezing
        task.compile(optimizer=kb.adamw(5e-4))
        task.fit(texts, labels, epochs=2, callbacks=[GradualUnfreezing(task, every=1)])
        ```
    """

    def __init__(self, task: Any, every: int = 1):
        super().__init__()
        if every < 1:
            raise KerasBertError(
                f"expected `every` as 1 or more epochs, received {every}; each unfreezes one more layer"
            )
        self._supports_tf_logs = True  # otherwise Keras reads the metrics after every batch
        self.every, self.stages = every, _stages(task)
        stage_of = {part: number for number, stage in enumerate(self.stages) for part in stage}
        paths = {path: stage_of.get(part_of(path), 0) for path in trainable_variables_by_path(task)}
        self._open_to = fused_adamw_of(task).open_by(paths, task)
        task.train_function = None  # a function traced before has no frozen layers

    @property
    def open_parts(self) -> list[str]:
        """The parts that are trained now."""
        return [part for stage in self.stages[: int(self._open_to.numpy()) + 1] for part in stage]

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        # A run that ends before its last stage keeps pretrained layers, which no score tells.
        epochs = int((self.params or {}).get("epochs") or 0)
        closed = [part for stage in self.stages[(epochs - 1) // self.every + 1 :] for part in stage]
        if epochs and closed:
            needed = (len(self.stages) - 1) * self.every + 1
            note(
                f"note: gradual unfreezing leaves {', '.join(closed)} untrained in {epochs} epoch{'s'[: epochs > 1]}; "
                f"with {needed} or more all parts are trained"
            )

    def on_epoch_begin(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        self._open_to.assign(min(epoch // self.every, len(self.stages) - 1))

    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
        self._open_to.assign(len(self.stages) - 1)


def _stages(task: Any) -> list[list[str]]:
    """Return the trained parts in the order of unfreezing, with the parts that start together in one list."""
    below = depths(task, "gradual unfreezing")
    trained = {id(variable) for variable in task.trainable_variables}
    parts = {part_of(path) for path, variable in task.variables_by_path().items() if id(variable) in trained}
    stages = [
        [part for part in below if part in parts and below[part] == depth] for depth in sorted(set(below.values()))
    ]
    return [stage for stage in stages if stage]
