"""Stochastic gradient descent with a learning rate for each part of a task."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.optimizers.parameter_groups import lr_multipliers, rate_shares, trainable_variables_by_path
from kerasbert.optimizers.schedules import check_rate


@keras.utils.register_keras_serializable("kerasbert")
class PartSGD(keras.optimizers.SGD):
    """Keras' SGD with a learning rate per variable.

    Args:
        learning_rate: A rate or a schedule.
        shares: (name, factor) pairs of parts; see `kerasbert.optimizers.parameter_groups.lr_multipliers`.
        kwargs: Options of Keras' SGD.
    """

    def __init__(self, learning_rate: Any = 0.01, *, shares: Sequence[tuple[str, float]] = (), **kwargs: Any) -> None:
        super().__init__(learning_rate, **kwargs)
        self.shares = tuple((name, float(share)) for name, share in shares)
        self._factors: Any = None

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "shares": [list(share) for share in self.shares]}

    def bind(self, task: keras.Model) -> None:
        """Find the rate of each of the task's variables.

        Args:
            task: The task that is compiled.

        Raises:
            KerasBertError: When a name of `shares` matches none of them.
        """
        variables, factors = trainable_variables_by_path(task), lr_multipliers(task, 1.0, dict(self.shares))
        found = {self._var_key(each): factor for path, factor in factors.items() for each in variables[path]}
        self._factors = self._no_dependency(found)

    def update_step(self, gradient: Any, variable: tf.Variable) -> None:
        if self.shares and self._factors is None:
            raise KerasBertError(
                "expected a task that was compiled with this optimizer, received other variables; compile the task with it"
            )
        factor = (self._factors or {}).get(self._var_key(variable), 1.0)
        if factor == 0:
            return
        super().update_step(_scaled(gradient, factor), variable)


def sgd(
    learning_rate: float, momentum: float = 0.0, clip_norm: float = 0.0, rates: Mapping[str, float] | None = None
) -> PartSGD:
    """Make stochastic gradient descent with a constant rate, and with rates of parts.

    BERT is fine-tuned better with `kb.adamw`. This is for comparisons, and for a head on a frozen encoder.

    Args:
        learning_rate: The learning rate.
        momentum: The momentum, at least 0 and below 1.
        clip_norm: The largest global norm of the gradients; 0 disables clipping.
        rates: Rates of parts in place of it, as those of `kb.adamw`: `{"layers.-1": 0.01, "head": 0.1}`.

    Returns:
        The optimizer, for `compile` of a task.

    Raises:
        KerasBertError: When a number is out of range; and from the task's `compile`, when the task lacks a part.

    Example:
        ```python
        from kerasbert.training import sgd
        task.compile(optimizer=sgd(0.01, rates={"embeddings": 0, "head": 0.1}))
        ```
    """
    for name, value in (("learning_rate", learning_rate), ("clip_norm", clip_norm), ("momentum", momentum)):
        check_rate(name, value)
    if momentum >= 1:
        raise KerasBertError(f"expected `momentum=` from 0 to below 1, received {momentum}; take a smaller one")
    shares = rate_shares(learning_rate, rates or {})
    return PartSGD(learning_rate, momentum=momentum, global_clipnorm=clip_norm or None, shares=shares)


def _scaled(gradient: Any, factor: float) -> Any:
    """Scale a gradient: with any momentum that is the same as another rate."""
    if factor == 1:
        return gradient
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    return gradient * factor
