"""Callbacks that hold pruned weights at zero while a task is trained."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import tensorflow as tf
import tf_keras as keras

from kerasbert.compression.pruning.magnitude import TWO_OF_FOUR, Sparsity, prunable_kernels
from kerasbert.compression.pruning.sparsity_report import pruned_kernels
from kerasbert.errors import KerasBertError
from kerasbert.tasks.base import Task

if TYPE_CHECKING:
    from tensorflow_model_optimization.python.core.sparsity.keras.pruning_schedule import (
        ConstantSparsity,
        PolynomialDecay,
    )


class _MaskedKernels:
    """Kernels with a mask each, 1 for the weights that are free. The masks are applied by tfmot.

    Args:
        kernels: The variables to mask.
        keep_zeros: Whether weights that are 0 now are masked from the start.
        sparsity: The pruning pattern; None for masks without updates.
        schedule: Steps at which masks are updated; None for masks without updates.
    """

    def __init__(
        self,
        kernels: Iterable[tf.Variable],
        keep_zeros: bool,
        sparsity: Sparsity | None = None,
        schedule: "ConstantSparsity | PolynomialDecay | None" = None,
    ):
        from tensorflow_model_optimization.python.core.sparsity.keras.pruning_impl import Pruning

        self._once = sparsity is not None and sparsity.pattern == TWO_OF_FOUR
        self._schedule, self._step = schedule, 0
        triples = [
            (kernel, tf.Variable(_mask(kernel, keep_zeros), trainable=False), _threshold()) for kernel in kernels
        ]
        block = (1, 1) if sparsity is None else sparsity.block
        self._pruning = Pruning(lambda: self._step, triples, schedule, block, "AVG", (2, 4) if self._once else None)

    def update(self, step: int) -> None:
        """Update the masks if the schedule has an update after `step` steps."""
        if self._schedule is None:
            return
        if step in range(self._schedule.begin_step, self._schedule.end_step + 1, self._schedule.frequency):
            self._step = 1 if self._once else step  # tfmot makes 2:4 masks at step 1 only
            self._pruning.conditional_mask_update()

    @tf.function(autograph=False)
    def apply(self) -> None:
        """Set masked weights to 0."""
        self._pruning.weight_mask_op()


def _threshold() -> tf.Variable:
    """The variable that tfmot stores a kernel's magnitude threshold in."""
    return tf.Variable(tf.constant(0.0), trainable=False)


def _mask(kernel: tf.Variable, keep_zeros: bool) -> tf.Tensor:
    """Return a mask that is 1 for free weights. A kernel of zeros alone was never trained, so it stays free."""
    ones = tf.ones(kernel.shape, kernel.dtype)
    if not keep_zeros or not tf.reduce_any(kernel != 0):
        return ones
    return tf.cast(kernel != 0, kernel.dtype)


class _MaskingCallback(keras.callbacks.Callback):
    """A callback about `task`, or about the trained model, or about its student if it is a distiller."""

    model: keras.Model

    def __init__(self, task: Task | None = None):
        super().__init__()
        self._supports_tf_logs = True  # otherwise Keras reads the metrics after every batch
        self._task = task

    def _pruned_task(self) -> Task:
        return getattr(self.model, "student", self.model) if self._task is None else self._task


class MagnitudePruning(_MaskingCallback):
    """Callback that prunes a task's kernels while it is trained.

    Masks are tfmot's. After every optimizer step masked weights are exactly 0, so the model can be saved, scored and exported at any time,
    without stripping. List it before callbacks that save or score. A resumed training finds its masks from the zeros in the weights. It
    works with and without `jit_compile`.

    Args:
        sparsity: Targets, pattern and schedule. Steps are counted over all epochs of `fit`.
        task: The task to prune; None for the trained model, or its `student`.

    Raises:
        KerasBertError: Before the first step, when `Sparsity.check` raises it or the number of batches is unknown. After it, when a call
            makes several optimizer steps (`steps_per_execution`), between which zeros would change.

    Example:
        ```python
        from kerasbert.compression import MagnitudePruning, Sparsity, sparsity_report
        task.compile(optimizer=kb.adamw(5e-4))
        task.fit(texts, labels, batch_size=8, callbacks=[MagnitudePruning(Sparsity(0.5, updates=2))])
        sparsity_report(task).dense
        ```
    """

    def __init__(self, sparsity: Sparsity, task: Task | None = None):
        super().__init__(task)
        self.sparsity = sparsity
        self._epoch = self._batch = 0
        self._groups: list[_MaskedKernels] | None = None

    def on_train_begin(self, logs: dict | None = None) -> None:
        if not self.params.get("steps"):
            raise KerasBertError(
                "expected data with a known number of batches for a schedule of pruning, received none"
            )
        self.sparsity.check(self._pruned_task(), self._total_steps())
        self.sparsity.note_updates(self._total_steps())
        self._groups = None

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        self._epoch = epoch

    def on_train_batch_begin(self, batch: int, logs: dict | None = None) -> None:
        self._batch = batch
        if self._groups is None:
            self._groups = self._make_groups(self._epoch * self.params["steps"] + batch)

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        if batch != self._batch:
            raise KerasBertError(
                f"expected one optimizer step a call, received {batch - self._batch + 1}; compile with steps_per_execution=1 to prune"
            )
        _update_and_apply(self._groups or (), self._epoch * self.params["steps"] + batch + 1)

    def on_train_end(self, logs: dict | None = None) -> None:
        self._groups = None

    def _total_steps(self) -> int:
        return self.params["steps"] * self.params["epochs"]

    def _make_groups(self, steps_done: int) -> list[_MaskedKernels]:
        """Kernels by target, with the masks that they have after `steps_done` steps."""
        kernels_by_target: dict[float, list[tf.Variable]] = {}
        for kernel, target in self.sparsity.kernels(self._pruned_task()).values():
            kernels_by_target.setdefault(target, []).append(kernel)
        groups = []
        for target, kernels in kernels_by_target.items():
            schedule = self.sparsity.schedule(target, self._total_steps())
            resumed = steps_done > 0 and steps_done >= schedule.begin_step
            groups.append(_MaskedKernels(kernels, resumed, self.sparsity, schedule))
        if not steps_done:
            _update_and_apply(groups, 0)
        return groups


def _update_and_apply(groups: Iterable[_MaskedKernels], steps_done: int) -> None:
    for group in groups:
        # Update first: the last step changed masked weights as well, and one that became large enough comes back.
        group.update(steps_done)
        group.apply()


class PreserveSparsity(_MaskingCallback):
    """Callback that keeps the zeros of a pruned task while it is trained further, such as quantization-aware.

    Weights of the `pruned_kernels` that are 0 when the training begins are exactly 0 after every optimizer step. A symmetric grid
    represents 0 exactly, so an int8 file has all of these zeros. List it before `MagnitudePruning` where both are used.

    Args:
        task: The pruned task; None for the trained model, or its `student`.

    Raises:
        KerasBertError: Before the first step, when the task has no pruned kernel.

    Example:
        ```python
        from kerasbert.compression import MagnitudePruning, PreserveSparsity, Sparsity
        task.compile(optimizer=kb.adamw(5e-4))
        task.fit(texts, labels, batch_size=8, callbacks=[MagnitudePruning(Sparsity(0.5, updates=2))])
        int8 = kb.compression.quantize(task, calibration=texts)
        int8.compile(optimizer=kb.adamw(1e-4))
        int8.fit(texts, labels, callbacks=[PreserveSparsity()])
        ```
    """

    def __init__(self, task: Task | None = None):
        super().__init__(task)
        self._masked: _MaskedKernels | None = None

    def on_train_begin(self, logs: dict | None = None) -> None:
        task = self._pruned_task()
        prunable = prunable_kernels(task)
        kernels = [prunable[path] for path in pruned_kernels(task)]
        if not kernels:
            raise KerasBertError(
                f"expected a pruned task whose zeros are to be kept, received {type(task).__name__} without; prune it first"
            )
        self._masked = _MaskedKernels(kernels, keep_zeros=True)

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        if self._masked is not None:
            self._masked.apply()

    def on_train_end(self, logs: dict | None = None) -> None:
        self._masked = None
