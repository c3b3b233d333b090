"""AdamW as BERT is fine-tuned with it."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.arguments import argument
from kerasbert.errors import KerasBertError
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.optimizers.fit_schedule import FitSchedule, compiled_optimizer
from kerasbert.optimizers.parameter_groups import lr_multipliers, rate_shares, trainable_variables_by_path
from kerasbert.optimizers.schedules import WarmupLinearDecay, check_rate, schedule

# An end of a learned range moves by about this number of learning rates, times the width of the range, in a step: at 2e-5 by a twentieth of
# a scale of 8 bits.
RANGE_RATE = 10.0

__all__ = ["FusedAdamW", "WarmupLinearDecay", "adamw", "fused_adamw_of"]


@keras.utils.register_keras_serializable("kerasbert")
class FusedAdamW(keras.optimizers.AdamW):
    """Keras' AdamW with TensorFlow's fused Adam kernel and a learning rate per variable.

    A small BERT on short texts spends more time in its optimizer than in its layers: the token table has half of the parameters, and all
    are updated in every step. The kernel computes the same formula (Kingma & Ba 2015, with epsilon outside the bias correction) in one
    pass. Learned ranges move in fractions of their width (`RANGE_RATE`), and only in the phase that moves them.

    Args:
        learning_rate: a rate or a schedule.
        exclude: parts of the names of variables without weight decay.
        layer_decay: see `kerasbert.optimizers.parameter_groups.lr_multipliers`. It needs a task, whose `compile` calls `bind`.
        shares: (name, factor) pairs, see there.
        **kwargs: options of Keras' AdamW.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        *,
        exclude: Sequence[str] = (),
        layer_decay: float = 1.0,
        shares: Sequence[tuple[str, float]] = (),
        **kwargs,
    ):
        super().__init__(learning_rate, **kwargs)
        self.exclude = tuple(exclude)
        self.exclude_from_weight_decay(var_names=list(self.exclude))
        self.layer_decay, self.shares = float(layer_decay), tuple((name, float(share)) for name, share in shares)
        self._factors = self._no_dependency({})
        self._depths = self._no_dependency({})
        self._ranges = self._no_dependency({})
        self._open_to = None
        self._common: Any = self._no_dependency({})

    def get_config(self) -> dict[str, Any]:
        parts = {"layer_decay": self.layer_decay, "shares": [list(share) for share in self.shares]}
        return {**super().get_config(), "exclude": list(self.exclude), **parts}

    def bind(self, task: keras.Model) -> None:
        """Find the rate of each of the task's variables.

        Raises:
            KerasBertError: when a name of `shares` matches none of them.
        """
        factors = lr_multipliers(task, self.layer_decay, dict(self.shares))
        self._factors = self._no_dependency(self._by_key(factors, task))
        learned = [(quantizer, ends) for quantizer in activation_quantizers(task) for ends in quantizer.learned_ranges]
        ranges = {self._var_key(end): (quantizer, ends) for quantizer, ends in learned for end in ends}
        self._ranges = self._no_dependency(ranges)
        self._depths, self._open_to = self._no_dependency({}), None
        if isinstance(self._learning_rate, FitSchedule):
            with task.distribute_strategy.scope():
                self._learning_rate.make_variables()

    def _by_key(self, values: Mapping[str, Any], task: keras.Model) -> dict[str, Any]:
        """Turn values by path into values by variable."""
        variables = trainable_variables_by_path(task)
        return {self._var_key(variable): value for path, value in values.items() for variable in variables[path]}

    def open_by(self, depths: Mapping[str, int], task: keras.Model) -> tf.Variable:
        """Train a variable only while its depth is at most the value of the returned variable.

        Args:
            depths: the depth of each variable, by path.
            task: the task that is trained.
        """
        self._depths = self._no_dependency(self._by_key(depths, task))
        with task.distribute_strategy.scope():
            deepest = tf.constant(max(depths.values()), tf.int32)
            self._open_to = tf.Variable(deepest, trainable=False, name="open_to")
        return self._open_to

    def _clip_gradients(self, grads: list) -> list:
        # The gradient of a token is one row, whose norm counts, and not its terms of every position of the token.
        return super()._clip_gradients(super()._deduplicate_sparse_grad(grads))

    def _deduplicate_sparse_grad(self, grads: list) -> list:
        """Return the gradients: they are deduplicated before they are clipped."""
        return grads

    def _apply_weight_decay(self, variables: Sequence[tf.Variable]) -> None:
        """Do nothing: `update_step` applies it, at the rate of the variable."""

    def apply_gradients(self, *arguments: Any, **options: Any) -> Any:
        self._common = self._no_dependency({})
        try:
            return super().apply_gradients(*arguments, **options)
        finally:
            self._common = self._no_dependency({})  # it would keep the graph of a trace

    def update_step(self, gradient: tf.Tensor, variable: tf.Variable) -> None:
        key = self._var_key(variable)
        factor = self._factor(key)
        quantizer, ends = self._ranges.get(key, (None, None))
        if factor == 0 or quantizer is not None and quantizer.phase != "moving":  # a trace is of one phase
            return
        index = self._index_dict[key]
        momentum, velocity = self._momentums[index], self._velocities[index]
        rate, decay, constants = self._values_of_step(variable.dtype)
        if factor != 1:
            rate = rate * tf.cast(factor, variable.dtype)
        if ends is not None:
            rate = rate * RANGE_RATE * (ends[1] - ends[0])
        if self._open_to is not None:
            # A frozen variable has rate 0, and its moments go on. New moments would make the first steps after unfreezing three times too
            # long, because the bias correction of the common step count is over by then.
            rate = rate * tf.cast(self._depths[key] <= self._open_to, variable.dtype)
        if self.weight_decay and self._use_weight_decay(variable):
            # One product: half of the memory traffic of a product and a difference.
            variable.assign(variable * (1.0 - decay * rate))
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=momentum.handle,
            v=velocity.handle,
            lr=rate,
            grad=tf.convert_to_tensor(gradient),
            **constants,
        )

    def _values_of_step(self, dtype: tf.DType) -> tuple[tf.Tensor, tf.Tensor, dict[str, tf.Tensor]]:
        """Return what all variables of a type have in common in a step: the rate, the weight decay, and constants of the kernel.

        They are computed once a step. A graph inside of the step's graph has its own.
        """
        place = (None if tf.executing_eagerly() else id(tf.compat.v1.get_default_graph()), dtype)
        if place not in self._common:
            step = tf.cast(self.iterations + 1, dtype)
            beta_1, beta_2, epsilon, decay = (
                tf.cast(value, dtype) for value in (self.beta_1, self.beta_2, self.epsilon, self.weight_decay or 0)
            )
            powers = {"beta1_power": tf.pow(beta_1, step), "beta2_power": tf.pow(beta_2, step)}
            constants = {**powers, "beta1": beta_1, "beta2": beta_2, "epsilon": epsilon}
            self._common[place] = (tf.cast(self.learning_rate, dtype), decay, constants)
        return self._common[place]

    def _factor(self, key: str) -> float:
        if self.layer_decay == 1 and not self.shares:
            return 1.0
        if key not in self._factors:
            raise KerasBertError(
                "expected variables of a task that was compiled with this optimizer, received others; compile the task with it"
            )
        return self._factors[key]


def adamw(
    learning_rate: float,
    warmup: float = 0.1,
    steps: int | None = None,
    weight_decay: float = 0.01,
    clip_norm: float = 1.0,
    decay: str = "linear",
    layer_decay: float = 1.0,
    rates: Mapping[str, float] | None = None,
) -> FusedAdamW:
    """Make AdamW (Loshchilov & Hutter 2019) with BERT's settings: warm-up, decay to 0, gradients clipped to a global norm.

    Biases, norms and learned ranges have no weight decay. All rates rise and fall together.

    Args:
        learning_rate: The peak learning rate.
        warmup: The fraction of the steps with a linear warm-up, from 0 to 1.
        steps: The number of optimizer steps of the training. None: that of each `fit` of a task, epochs times batches. Outside `fit` the
            rate is then constant.
        weight_decay: The decoupled weight decay, a factor of the learning rate.
        clip_norm: The largest global norm of the gradients; 0 disables clipping.
        decay: `linear`, `cosine` or `constant` after the warm-up.
        layer_decay: The peak rate of each layer as a share of the one above it (Howard & Ruder 2018, section 3.2). The head has
            `learning_rate`.
        rates: Peak rates of parts, instead of `layer_decay`: `{"layers.-1": 1e-3, "head": 0.1}`. A part is `embeddings`, `layers.N` (from
            the bottom; `layers.-1` is the top one), `layer_mix`, `pooler`, `head`, `encoder` (embeddings and layers), or a pattern over the
            paths of `task.variables_by_path()`. Of several that match a variable the last one decides. The others have `learning_rate`, so
            `{"*": 0, "head": 0.1}` trains the head alone.

    Returns:
        The optimizer, for `compile` of a task.

    Raises:
        KerasBertError: When a number is out of range; and from the task's `compile`, when the task lacks a part.

    Example:
        ```python
        task.compile(optimizer=kb.adamw(5e-4, warmup=0.1, layer_decay=0.9))
        task.fit(texts, labels, batch_size=16, epochs=3)
        ```
    """
    settings = {"learning_rate": learning_rate, "weight_decay": weight_decay, "clip_norm": clip_norm}
    for name, value in settings.items():
        if value is not None or name == "learning_rate":
            check_rate(name, value)
    if not 0 < layer_decay <= 1:
        raise KerasBertError(f"expected {argument('layer_decay')} above 0 and at most 1, received {layer_decay}")
    return FusedAdamW(
        _learning_rate(decay, learning_rate, warmup, steps),
        weight_decay=weight_decay,
        epsilon=1e-8,
        global_clipnorm=clip_norm,
        exclude=("bias", "gamma", "beta", "minimum", "maximum"),
        layer_decay=layer_decay,
        shares=rate_shares(learning_rate, rates or {}),
    )


def _learning_rate(decay: str, peak: float, warmup: float, steps: int | None) -> Any:
    """Return a schedule over a number of steps, or over those of `fit`; a number for a constant rate without warm-up."""
    if steps is not None:
        return schedule(decay, peak, warmup, steps)
    learned = FitSchedule(decay, peak, warmup)
    return peak if decay == "constant" and not warmup else learned


def fused_adamw_of(task: keras.Model) -> FusedAdamW:
    """Return the optimizer that a task was compiled with.

    Raises:
        KerasBertError: when it is not a `FusedAdamW`.
    """
    optimizer = compiled_optimizer(task)
    if not isinstance(optimizer, FusedAdamW):
        raise KerasBertError(
            f"expected a task that was compiled with kb.adamw, received {'none' if optimizer is None else type(optimizer).__name__}"
        )
    return optimizer
