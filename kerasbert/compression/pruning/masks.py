"""Zeros that stay zeros while a task is trained: masks by magnitude, or those that it came with."""

from collections.abc import Iterable

import tensorflow as tf
import tf_keras as keras

from kerasbert.compression.pruning.magnitude import TWO_OF_FOUR, Sparsity, prunable
from kerasbert.compression.pruning.sparsity_report import zeros_of
from kerasbert.errors import KerasBertError


class _Masked:
    """Kernels with one schedule, and masks of what is kept of each; tfmot's arithmetic on both."""

    def __init__(self, kernels: Iterable[tf.Variable], keeps: bool, sparsity: Sparsity | None = None, schedule=None):
        from tensorflow_model_optimization.python.core.sparsity.keras.pruning_impl import Pruning

        self._once = sparsity is not None and sparsity.pattern == TWO_OF_FOUR
        self._schedule, self._step = schedule, 0
        triples = [
            (kernel, tf.Variable(_mask(kernel, keeps), trainable=False), tf.Variable(0.0, trainable=False))
            for kernel in kernels
        ]
        block = (1, 1) if sparsity is None else sparsity.block
        self._pruning = Pruning(lambda: self._step, triples, schedule, block, "AVG", (2, 4) if self._once else None)

    def update(self, step: int) -> None:
        """Makes the masks anew if it is their turn behind so many steps."""
        turns = range(self._schedule.begin_step, self._schedule.end_step + 1, self._schedule.frequency)
        if step in turns:
            self._step = 1 if self._once else step  # tfmot makes masks of 2:4 in a step of that number
            self._pruning.conditional_mask_update()

    @tf.function(autograph=False)
    def put_zeros_back(self) -> None:
        """Sets to 0 what is masked."""
        self._pruning.weight_mask_op()


def _mask(kernel: tf.Variable, keeps: bool) -> tf.Tensor:
    """1 where a weight may be anything. keeps: whether zeros stay; one that is 0 throughout was never trained, and is left free."""
    ones = tf.ones(kernel.shape, kernel.dtype)
    if not keeps or not tf.reduce_any(kernel != 0):
        return ones
    return tf.cast(kernel != 0, kernel.dtype)


class MagnitudePruning(keras.callbacks.Callback):
    """Prunes a task's kernels while it is trained: a callback of `fit`.

    The masks are tfmot's. After every optimizer step what is masked is exactly 0 again, so a model is saved, scored and exported as it is
    at any time: there is nothing to strip. It must stand before callbacks that save or score.

    sparsity: how far, and when; the steps are counted over all epochs of `fit`. task: what is pruned, by default the model that is trained,
    or its `student` if it has one.
    A training that goes on where it stopped has the same masks: they are where its weights are 0. Works with and without `jit_compile`.

    Raises KerasBertError before the first step for all that `Sparsity.check` refuses, and for data whose number of batches is not known;
    behind it for several steps in one call (`steps_per_execution`), in which zeros would move.
    """

    def __init__(self, sparsity: Sparsity, task=None):
        super().__init__()
        self._supports_tf_logs = True  # otherwise Keras reads the metrics after every batch
        self.sparsity, self._task = sparsity, task
        self._epoch = self._batch = 0
        self._groups: list[_Masked] | None = None

    def on_train_begin(self, logs=None):
        if not self.params.get("steps"):
            raise KerasBertError(
                "expected data with a known number of batches for a schedule of pruning, received none"
            )
        self.sparsity.check(_pruned_in(self), self._steps())
        self.sparsity.note_updates(self._steps())
        self._groups = None

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch

    def on_train_batch_begin(self, batch, logs=None):
        self._batch = batch
        if self._groups is None:
            self._begin(self._epoch * self.params["steps"] + batch)

    def on_train_batch_end(self, batch, logs=None):
        if batch != self._batch:
            raise KerasBertError(
                f"expected one optimizer step a call, received {batch - self._batch + 1}; compile with steps_per_execution=1 to prune"
            )
        self._apply(self._epoch * self.params["steps"] + batch + 1)

    def on_train_end(self, logs=None):
        self._groups = None

    def _steps(self) -> int:
        return self.params["steps"] * self.params["epochs"]

    def _begin(self, done: int) -> None:
        """Makes the masks as they are behind so many steps."""
        shares: dict[float, list[tf.Variable]] = {}
        for kernel, share in self.sparsity.kernels(_pruned_in(self)).values():
            shares.setdefault(share, []).append(kernel)
        self._groups = []
        for share, kernels in shares.items():
            schedule = self.sparsity.schedule(share, self._steps())
            begun = done > 0 and done >= schedule.begin_step
            self._groups.append(_Masked(kernels, begun, self.sparsity, schedule))
        if not done:
            self._apply(0)

    def _apply(self, done: int) -> None:
        for group in self._groups:
            # Before the zeros are put back: the last step moved them too, and one that moved far enough comes back.
            group.update(done)
            group.put_zeros_back()


class PreserveSparsity(keras.callbacks.Callback):
    """Keeps the zeros of a pruned task while it is trained on, quantization-aware or on other data: a callback of `fit`.

    What is 0 when the training begins is exactly 0 after every optimizer step. Kernels are meant that `zeros_of` names. A symmetric grid
    holds 0 as it is, so an int8 file has all of these zeros. task: as of `MagnitudePruning`; with both, this one stands before it.

    Raises KerasBertError before the first step for a task without zeros.
    """

    def __init__(self, task=None):
        super().__init__()
        self._supports_tf_logs = True
        self._task = task
        self._masked: _Masked | None = None

    def on_train_begin(self, logs=None):
        task = _pruned_in(self)
        known = prunable(task)
        kernels = [known[path] for path in zeros_of(task)]
        if not kernels:
            raise KerasBertError(
                f"expected a pruned task whose zeros are to be kept, received {type(task).__name__} without; prune it first"
            )
        self._masked = _Masked(kernels, keeps=True)

    def on_train_batch_end(self, batch, logs=None):
        self._masked.put_zeros_back()

    def on_train_end(self, logs=None):
        self._masked = None


def _pruned_in(callback):
    """The task that a callback is about."""
    return getattr(callback.model, "student", callback.model) if callback._task is None else callback._task
