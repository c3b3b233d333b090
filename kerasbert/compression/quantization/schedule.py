"""When in a quantization-aware training activations are quantized, and when their ranges stop moving."""

import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers


class QuantizationSchedule(keras.callbacks.Callback):
    """Delays the quantization of activations, and freezes their ranges at the end (Jacob et al. 2018, section 3.1).

    delay: for this share of all steps only kernels and tables are quantized, and ranges follow the data. freeze: from this share on ranges
    stay where they are, so that the last steps train for the very grid that is exported. What is true of a step follows from its number,
    so a training that goes on where it stopped is the same. When `fit` is over everything is as it was before.

    task: a quantized one.

    Raises KerasBertError for a task without static ranges, for shares that are none, and for a freeze before the delay ends.
    """

    def __init__(self, task, delay: float = 0.0, freeze: float = 1.0):
        super().__init__()
        if not 0 <= delay < freeze <= 1:
            raise KerasBertError(
                "expected shares of the steps, activations quantized before ranges are frozen, received "
                f"delay {delay} and freeze {freeze}"
            )
        self._points = [point for point in activation_quantizers(task) if point.kind == "static"]
        if not self._points:
            raise KerasBertError(
                f"expected a task with static ranges, received {type(task).__name__} without; quantize it first"
            )
        self._supports_tf_logs = True  # otherwise Keras reads the metrics after every batch
        self.delay, self.freeze = delay, freeze

    def phase(self, step: int, steps: int) -> str:
        """`waiting`, `moving` or `frozen`: of the step with that number, from 0 on, of so many."""
        if step < self.delay * steps:
            return "waiting"
        return "moving" if step < self.freeze * steps else "frozen"

    def on_train_batch_begin(self, batch, logs=None):
        steps = self.params["steps"] * self.params["epochs"]
        self._set(self.phase(int(self.model.optimizer.iterations.numpy()), steps))

    def on_train_end(self, logs=None):
        self._set("moving")

    def _set(self, phase: str) -> None:
        if self._points[0].phase == phase:
            return
        for point in self._points:
            point.phase = phase
        self.model.make_train_function(force=True)  # the phase is fixed in a trace
