"""Learning rate schedules with a linear warm-up."""

import math
from numbers import Real
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.arguments import argument
from kerasbert.errors import KerasBertError


class _Warmup(keras.optimizers.schedules.LearningRateSchedule):
    """A linear warm-up from 0 over `warmup_steps`, to `peak` at the last of them. Steps are counted from 0."""

    def __init__(self, peak: float, warmup_steps: int):
        self.peak, self.warmup_steps = float(peak), int(warmup_steps)

    def _rising(self, step: tf.Tensor) -> tf.Tensor:
        return (tf.cast(step, tf.float32) + 1.0) / _at_least_one(self.warmup_steps)

    def get_config(self) -> dict[str, Any]:
        return {"peak": self.peak, "warmup_steps": self.warmup_steps}


class _WarmupDecay(_Warmup):
    """A warm-up, then a decay to 0 at step `steps`."""

    def __init__(self, peak: float, warmup_steps: int, steps: int):
        super().__init__(peak, warmup_steps)
        self.steps = int(steps)

    def _left(self, step: tf.Tensor) -> tf.Tensor:
        """Return the remaining fraction of the steps after the warm-up; above 1 during the warm-up."""
        return (self.steps - tf.cast(step, tf.float32)) / _at_least_one(self.steps - self.warmup_steps)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "steps": self.steps}


@keras.utils.register_keras_serializable("kerasbert")
class WarmupLinearDecay(_WarmupDecay):
    """A linear warm-up, then a linear decay to 0 at `steps` (Devlin et al. 2018, appendix A).

    Args:
        peak: The learning rate at the end of the warm-up.
        warmup_steps: The number of optimizer steps of the warm-up.
        steps: The number of optimizer steps of the training, the warm-up included.

    Example:
        ```python
        from kerasbert.training import WarmupLinearDecay
        rate = WarmupLinearDecay(5e-4, warmup_steps=10, steps=100)
        float(rate(9))  # the peak: steps count from 0
        ```
    """

    def __call__(self, step: tf.Tensor) -> tf.Tensor:
        return self.peak * tf.maximum(tf.minimum(tf.minimum(self._rising(step), self._left(step)), 1.0), 0.0)


@keras.utils.register_keras_serializable("kerasbert")
class WarmupCosineDecay(_WarmupDecay):
    """A linear warm-up, then half a cosine down to 0 at `steps` (Loshchilov & Hutter 2017, without restarts).

    Args:
        peak: The learning rate at the end of the warm-up.
        warmup_steps: The number of optimizer steps of the warm-up.
        steps: The number of optimizer steps of the training, the warm-up included.

    Example:
        ```python
        from kerasbert.training import WarmupCosineDecay
        rate = WarmupCosineDecay(5e-4, warmup_steps=10, steps=100)
        float(rate(9))  # the peak: steps count from 0
        ```
    """

    def __call__(self, step: tf.Tensor) -> tf.Tensor:
        left = tf.clip_by_value(self._left(step), 0.0, 1.0)
        return self.peak * tf.minimum(self._rising(step), 0.5 - 0.5 * tf.cos(math.pi * left))


@keras.utils.register_keras_serializable("kerasbert")
class WarmupConstant(_Warmup):
    """A linear warm-up, then a constant rate.

    Args:
        peak: The learning rate at the end of the warm-up.
        warmup_steps: The number of optimizer steps of the warm-up.

    Example:
        ```python
        from kerasbert.training import WarmupConstant
        rate = WarmupConstant(5e-4, warmup_steps=10)
        float(rate(9))  # the peak: steps count from 0
        ```
    """

    def __call__(self, step: tf.Tensor) -> tf.Tensor:
        return self.peak * tf.minimum(self._rising(step), 1.0)


def _at_least_one(steps: int | tf.Tensor) -> tf.Tensor:
    return tf.maximum(tf.cast(steps, tf.float32), 1.0)


def check_rate(name: str, value: float, where: str = "") -> None:
    """Check a learning rate or a similar factor.

    Args:
        name: the argument, for the error.
        value: its value.
        where: what the value belongs to, for the error.

    Raises:
        KerasBertError: when it is negative, infinite or not a number.
    """
    if not isinstance(value, Real) or not 0 <= value < math.inf:
        raise KerasBertError(f"expected {argument(name)} of at least 0 and finite, received {value!r}{where}")


DECAYS = ("linear", "cosine", "constant")


def schedule(decay: str, peak: float, warmup: float, steps: int) -> keras.optimizers.schedules.LearningRateSchedule:
    """Make a schedule.

    Args:
        decay: `linear`, `cosine` or `constant`.
        peak: the rate after the warm-up.
        warmup: the fraction of the steps that warm up.
        steps: the number of steps of the training.

    Raises:
        KerasBertError: when the name is unknown, or a number is out of range.
    """
    if decay not in DECAYS:
        raise KerasBertError(f"expected a decay of {', '.join(DECAYS)}, received {decay!r}")
    check_rate("peak", peak)
    if not 0 <= warmup <= 1:
        raise KerasBertError(f"expected warmup as a fraction of the steps, from 0 to 1, received {warmup}")
    if not isinstance(steps, Real) or steps != int(steps) or steps < 1:
        raise KerasBertError(
            f"expected steps as a whole number of at least 1, received {steps!r}; leave it out for those of fit"
        )
    rising = round(warmup * steps)
    if decay == "constant":
        return WarmupConstant(peak, rising)
    return (WarmupLinearDecay if decay == "linear" else WarmupCosineDecay)(peak, rising, steps)
