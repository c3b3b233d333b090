"""Learning rates that rise from 0, then fall or stay."""

import math
from numbers import Real

import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError


class _Warmup(keras.optimizers.schedules.LearningRateSchedule):
    """Up from 0 over `warmup_steps`, to `peak` at the last of them. Steps count from 0 on."""

    def __init__(self, peak: float, warmup_steps: int):
        self.peak, self.warmup_steps = float(peak), int(warmup_steps)

    def _rising(self, step):
        return (tf.cast(step, tf.float32) + 1.0) / max(self.warmup_steps, 1)

    def get_config(self):
        return {"peak": self.peak, "warmup_steps": self.warmup_steps}


class _WarmupDecay(_Warmup):
    """A rate that is 0 from step `steps` on."""

    def __init__(self, peak: float, warmup_steps: int, steps: int):
        super().__init__(peak, warmup_steps)
        self.steps = int(steps)

    def _left(self, step):
        """The share of the steps after the warm-up that is still to come; above 1 during the warm-up."""
        return (self.steps - tf.cast(step, tf.float32)) / max(self.steps - self.warmup_steps, 1)

    def get_config(self):
        return {**super().get_config(), "steps": self.steps}


@keras.utils.register_keras_serializable("kerasbert")
class WarmupLinearDecay(_WarmupDecay):
    """Up from 0 over `warmup_steps`, then linearly down to 0 at `steps` (Devlin et al. 2018, appendix A)."""

    def __call__(self, step):
        return self.peak * tf.maximum(tf.minimum(tf.minimum(self._rising(step), self._left(step)), 1.0), 0.0)


@keras.utils.register_keras_serializable("kerasbert")
class WarmupCosineDecay(_WarmupDecay):
    """Up from 0 over `warmup_steps`, then down to 0 at `steps` along half a cosine (Loshchilov & Hutter 2017, without restarts)."""

    def __call__(self, step):
        left = tf.clip_by_value(self._left(step), 0.0, 1.0)
        return self.peak * tf.minimum(self._rising(step), 0.5 - 0.5 * tf.cos(math.pi * left))


@keras.utils.register_keras_serializable("kerasbert")
class WarmupConstant(_Warmup):
    """Up from 0 over `warmup_steps`, then the same."""

    def __call__(self, step):
        return self.peak * tf.minimum(self._rising(step), 1.0)


def check_rate(name: str, value: float, where: str = "") -> None:
    """Raises KerasBertError for a rate that is negative, infinite or NaN."""
    if not isinstance(value, Real) or not 0 <= value < math.inf:
        raise KerasBertError(f"expected `{name}=` of at least 0 and finite, received {value!r}{where}")


DECAYS = ("linear", "cosine", "constant")


def schedule(decay: str, peak: float, warmup: float, steps: int) -> keras.optimizers.schedules.LearningRateSchedule:
    """The schedule of that name over `steps`, of which the share `warmup` has a rising rate.

    Raises KerasBertError for an unknown name, a peak that is no finite number of at least 0, a share that is none, and less than one step.
    """
    if decay not in DECAYS:
        raise KerasBertError(f"expected a decay of {', '.join(DECAYS)}, received {decay!r}")
    check_rate("peak", peak)
    if not 0 <= warmup <= 1:
        raise KerasBertError(f"expected warmup as a share of the steps, from 0 to 1, received {warmup}")
    if steps < 1:
        raise KerasBertError(f"expected at least 1 of the steps of a training, received {steps}")
    rising = round(warmup * steps)
    if decay == "constant":
        return WarmupConstant(peak, rising)
    return (WarmupLinearDecay if decay == "linear" else WarmupCosineDecay)(peak, rising, steps)
