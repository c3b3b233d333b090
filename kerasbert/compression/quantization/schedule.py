"""Schedule of quantization-aware training: when activations are quantized, and when their ranges freeze."""

import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.layers.quantization.activation_quantizers import StaticFakeQuant, activation_quantizers
from kerasbert.tasks.base import Task


class QuantizationSchedule(keras.callbacks.Callback):
    """Callback that delays quantization of activations and freezes their ranges at the end (Jacob et al. 2018, section 3.1).

    Until `delay` only kernels and tables are quantized, and ranges follow the data. From `freeze` on ranges stay fixed, so that the last
    steps train for the grid that is exported. The phase depends on the number of the step alone, so a resumed training is the same. After
    `fit` ranges move again.

    Args:
        task: A quantized task.
        delay: Fraction of all steps before activations are quantized.
        freeze: Fraction of all steps after which ranges are frozen.

    Raises:
        KerasBertError: When the task has no static ranges, or not `0 <= delay < freeze <= 1`.

    Example:
        ```python
        from kerasbert.compression import QuantizationSchedule
        int8.compile(optimizer=kb.adamw(1e-4))
        int8.fit(texts, labels, callbacks=[QuantizationSchedule(int8, delay=0.1, freeze=0.8)])
        ```
    """

    model: keras.Model

    def __init__(self, task: Task, delay: float = 0.0, freeze: float = 1.0):
        super().__init__()
        if not 0 <= delay < freeze <= 1:
            raise KerasBertError(
                "expected shares of the steps, activations quantized before ranges are frozen, received "
                f"delay {delay} and freeze {freeze}"
            )
        self._quantizers = [
            quantizer for quantizer in activation_quantizers(task) if isinstance(quantizer, StaticFakeQuant)
        ]
        if not self._quantizers:
            raise KerasBertError(
                f"expected a task with static ranges, received {type(task).__name__} without; quantize it first"
            )
        self._supports_tf_logs = True  # otherwise Keras reads the metrics after every batch
        self.delay, self.freeze = delay, freeze

    def phase(self, step: int, steps: int) -> str:
        """Return the phase of a step.

        Args:
            step: Index of the step, from 0 on.
            steps: Number of all steps.

        Returns:
            `waiting` (activations in float), `moving` (ranges follow the data) or `frozen`.
        """
        if step < self.delay * steps:
            return "waiting"
        return "moving" if step < self.freeze * steps else "frozen"

    def on_train_batch_begin(self, batch: int, logs: dict | None = None) -> None:
        steps = self.params["steps"] * self.params["epochs"]
        self._set_phase(self.phase(int(self.model.optimizer.iterations.numpy()), steps))

    def on_train_end(self, logs: dict | None = None) -> None:
        self._set_phase("moving")

    def _set_phase(self, phase: str) -> None:
        if self._quantizers[0].phase == phase:
            return
        for quantizer in self._quantizers:
            quantizer.phase = phase
        self.model.make_train_function(force=True)  # a trace fixes the phase
