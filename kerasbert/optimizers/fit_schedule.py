"""A learning rate schedule over the steps of `fit`, whose number it learns when `fit` begins."""

from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.console.output import note
from kerasbert.errors import KerasBertError
from kerasbert.optimizers.schedules import schedule


@keras.utils.register_keras_serializable("kerasbert")
class FitSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """A warm-up and a decay over all steps of a `fit`. Every `fit` begins a schedule of its own; a resumed one continues its schedule.

    Outside `fit` of a task the rate is `peak`.

    Args:
        decay: `linear`, `cosine` or `constant`.
        peak: The learning rate at the end of the warm-up.
        warmup: The fraction of the steps that warm up.
        steps: The number of steps of the last `fit`; None before the first one.
        first: The number of the optimizer step with which that `fit` began, or would have begun if it had not been resumed.
    """

    def __init__(self, decay: str, peak: float, warmup: float, steps: int | None = None, first: int = 0):
        schedule(decay, peak, warmup, steps or 1)  # reports wrong settings
        self.decay, self.peak, self.warmup = decay, float(peak), float(warmup)
        self.steps, self.first = steps, first
        self._variables: tuple[tf.Variable, ...] = ()  # of the values that a traced training step reads

    def __call__(self, step: tf.Tensor) -> tf.Tensor:
        if self._variables:
            first, steps, warmup_steps = (tf.cast(variable, tf.float32) for variable in self._variables)
            known = steps > 0
        elif self.steps is not None:
            first, steps, warmup_steps, known = self.first, self.steps, round(self.warmup * self.steps), True
        else:
            return tf.constant(self.peak, tf.float32)
        shape: Any = schedule(self.decay, self.peak, self.warmup, 1)
        shape.warmup_steps, shape.steps = warmup_steps, steps
        return tf.where(known, shape(tf.cast(step, tf.float32) - first), self.peak)

    def make_variables(self) -> None:
        """Make the variables that a traced training step reads. Call it in the scope of the distribution strategy."""
        values: Any = self._values()
        self._variables = tuple(tf.Variable(value, trainable=False, dtype=tf.int64) for value in values)

    def begin(self, steps: int, first: int) -> None:
        """Begin the schedule of a `fit`.

        Args:
            steps: The number of steps.
            first: The number of the optimizer step with which it begins.
        """
        self.steps, self.first = steps, first
        for variable, value in zip(self._variables, self._values(), strict=False):
            variable.assign(value)

    def _values(self) -> tuple[int, int, int]:
        steps = self.steps or 0
        return self.first, steps, round(self.warmup * steps)

    def get_config(self) -> dict[str, Any]:
        settings = {"decay": self.decay, "peak": self.peak, "warmup": self.warmup}
        return {**settings, "steps": self.steps, "first": self.first}


def begin_fit(task: Any, data: tf.data.Dataset, epochs: int, start: tuple[int, int], steps: int | None) -> None:
    """Tell the optimizer's schedule the number of steps of a `fit`, and print a note if it ends before the `fit` does.

    Args:
        task: The compiled task.
        data: The batches of an epoch. They are counted if their number is unknown.
        epochs: The epoch to end with.
        start: The epoch to begin with, and the number of its batches to skip.
        steps: The number of steps of an epoch, if it is not that of the batches.
    """
    optimizer = compiled_optimizer(task)
    rate = getattr(optimizer, "_learning_rate", None)
    if not isinstance(rate, FitSchedule) and not hasattr(rate, "warmup_steps"):
        return
    batches = steps or count_batches(data)
    done = start[0] * batches + start[1]
    total, iterations = epochs * batches, int(optimizer.iterations.numpy())
    if isinstance(rate, FitSchedule):
        rate.begin(total, iterations - done)
        return
    end = getattr(rate, "steps", None)
    last = iterations + total - done
    if end is not None and last > end and not getattr(optimizer, "_end_noted", False):
        optimizer._end_noted = True
        note(
            f"note: the learning rate is 0 from step {end:,} on, and fit ends with step {last:,}; leave out steps= of kb.adamw, and the "
            "schedule has the steps of fit"
        )


def count_batches(data: tf.data.Dataset) -> int:
    """Return the number of batches of a whole epoch.

    Args:
        data: The batches.

    Raises:
        KerasBertError: When they have no end.
    """
    number = int(data.cardinality())
    if number == tf.data.INFINITE_CARDINALITY:
        raise KerasBertError(
            "expected steps_per_epoch= for a dataset without end, received none; give the steps of an epoch"
        )
    return int(data.reduce(0, lambda count, _: count + 1)) if number < 0 else number


def check_rate_callbacks(task: Any, callbacks: Any) -> None:
    """Check that no callback of Keras sets a learning rate that a schedule of `kb.adamw` sets again at the next step.

    Raises:
        KerasBertError: When one does.
    """
    rate = getattr(compiled_optimizer(task), "_learning_rate", None)
    if not isinstance(rate, keras.optimizers.schedules.LearningRateSchedule):
        return
    kinds = (keras.callbacks.LearningRateScheduler, keras.callbacks.ReduceLROnPlateau)
    for callback in callbacks if isinstance(callbacks, list | tuple) else [callbacks]:
        if isinstance(callback, kinds):
            raise KerasBertError(
                f"expected an optimizer without a schedule for {type(callback).__name__}, received one with "
                f'{type(rate).__name__}; compile with kb.adamw(rate, warmup=0, decay="constant")'
            )


def compiled_optimizer(task: Any) -> Any:
    """Return the optimizer of a compiled model, or None. Under mixed precision it is inside of a loss scale optimizer."""
    optimizer = getattr(task, "optimizer", None)
    return getattr(optimizer, "inner_optimizer", optimizer)
