"""Fake quantizers of activations: one class per kind of range, chosen by a policy."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.norms import per_channel
from kerasbert.layers.quantization.fake_quant import learned_fake_quant, per_token_fake_quant, without_learning
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part
from kerasbert.layers.traversal import sublayers

# The ranges that TFLite's integer operators write, whatever they read: softmax and logistic in steps of 1/256, tanh in steps of 1/128.
SOFTMAX_RANGE = (0.0, 255 / 256)
TANH_RANGE = (-1.0, 127 / 128)
_NEVER_REACHED = 6e4  # in 16-bit floats as well

Range = tuple[Any, Any]  # minimum and maximum: variables, or numbers where they are fixed


class ActivationFakeQuant(keras.layers.Layer):
    """A named activation that a policy may quantize; this class leaves it in float. Any shape in, the same shape out.

    Attributes:
        path: the name that policies match, such as `layers.3.attention.input`.
        kind: `float`, `dynamic` or `static`.
        observer: called with the quantizer and its input instead of quantizing. An observer that is `before_scaling` gets the input before
            equalization, also in float.
        equalized: whether outlier channels are scaled by `equalizer` (H,) (SmoothQuant, Xiao et al. 2022). Set before it is built.
        residual: whether it is the sum of a residual connection. The layers that write to it scale their outputs for it.
        peak_ceiling: the largest peak of an equalized channel, as a multiple of the median one, if it is to be lower than calibration's.
        mean_offset: of a centered residual, a function that returns the constant mean of the other summand; None: not centered.
        call_index: the next call of a shared layer; each call has a range of its own.
        num_calls: the number of calls.
    """

    kind = "float"

    def __init__(
        self, path: str, *, equalized: bool = False, residual: bool = False, prevent_bias_folding: bool = False
    ):
        super().__init__(name=path.replace(".", "_"), dtype="float32", autocast=False)
        self.path, self.equalized, self.residual = path, equalized, residual
        self.prevent_bias_folding = prevent_bias_folding
        self.observer: Any = None
        self.peak_ceiling = float("inf")
        self.equalizer: tf.Variable | None = None
        self.mean_offset: Callable[[], Any] | None = None
        self._carried: ActivationFakeQuant | None = None
        self.num_calls, self.call_index = 1, 0
        self.ranges: list[Range] = []

    def build(self, input_shape: tf.TensorShape) -> None:
        if self.equalized:
            self.equalizer = self._statistic("equalizer", (input_shape[-1],), "ones")
        super().build(input_shape)

    def _statistic(
        self, name: str, shape: tuple[int | None, ...] = (), initializer: str = "zeros", **options: Any
    ) -> tf.Variable:
        options = {"trainable": False, **options, "dtype": "float32", "experimental_autocast": False}
        return self.add_weight(name, shape=shape, initializer=initializer, **options)

    def __call__(self, x: Any, *arguments: Any, **options: Any) -> Any:
        # Keras' call takes longer than most operators, and a float model has one at every activation.
        if self._changes_nothing:
            return x
        return super().__call__(x, *arguments, **options)

    @property
    def _changes_nothing(self) -> bool:
        if type(self) is not ActivationFakeQuant or self.prevent_bias_folding:
            return False
        return self.observer is None and self.equalizer is None and not self.equalized

    def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        if self._observes_unscaled:
            return self.observer(self, x)
        if self.equalizer is not None and not self.residual:
            x = x * per_channel(self.equalizer, x)
        return self._quantize(x, training)

    def _quantize(self, x: tf.Tensor, training: bool | None) -> tf.Tensor:
        if not self.prevent_bias_folding:
            return x
        # A bound that no number reaches. Without it the converter folds the bias of the previous layer into the next Dense layer, and the
        # file would not hold the tensor whose range was trained.
        return tf.minimum(x, tf.cast(_NEVER_REACHED, x.dtype))

    def quantized(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        """Round x to the quantization grid."""
        return x

    def carry_scales(self, residual: "ActivationFakeQuant") -> None:
        """Declare that the input carries the equalization scales of a residual."""
        self._carried = residual

    def set_num_calls(self, calls: int) -> None:
        """Make a range for each call. Equalization scales stay one vector: they are a part of the kernels, which are shared."""
        self.num_calls = calls

    def freeze_ranges(self) -> None:
        """Turn all ranges into constants, which the converter needs."""
        self.ranges = [(float(low), float(high)) for low, high in self.ranges]

    @property
    def _observes_unscaled(self) -> bool:
        return self.observer is not None and self.observer.before_scaling

    @property
    def channel_scales(self) -> tf.Variable | None:
        """The scales that the channels of the output carry, (H,), or None."""
        if self._carried is not None and self._carried.equalized:
            return self._carried.channel_scales
        return None if self._observes_unscaled else self.equalizer

    @property
    def learned_ranges(self) -> list[Range]:
        """The ranges that gradients train, without those shared from another quantizer."""
        return []

    def statistics(self) -> dict[str, tf.Variable]:
        """Return the variables that calibration sets: `equalizer`, `minimum` and `maximum`, or `calls.2.minimum` with several calls."""
        return {} if self.equalizer is None else {"equalizer": self.equalizer}


class DynamicFakeQuant(ActivationFakeQuant):
    """int8 with a range per token, computed at run time."""

    kind = "dynamic"

    def _quantize(self, x: tf.Tensor, training: bool | None) -> tf.Tensor:
        return self.quantized(x, training) if self.observer is None else self.observer(self, x)

    def quantized(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        return per_token_fake_quant(x)


class StaticFakeQuant(ActivationFakeQuant):
    """8 or 16 bits with one range per call: set by calibration, and a moving average of the data in training (Jacob et al. 2018).

    Attributes:
        bits: 8, or 16, which are symmetric.
        clip_min: the range need not reach below this value: the next function is flat there.
        clip_max: nor above this one.
        must_include: the range reaches at least this far down.
        calibration_only: whether training leaves the range as calibration set it.
        phase: in training, `waiting` quantizes nothing, `moving` moves the range, `frozen` keeps it; see `QuantizationSchedule`.
    """

    kind = "static"

    def __init__(
        self,
        path: str,
        bits: int,
        *,
        symmetric: bool = False,
        clip_min: float | None = None,
        clip_max: float | None = None,
        must_include: float = 0.0,
        calibration_only: bool = False,
        **options: Any,
    ):
        super().__init__(path, **options)
        # tfmot is slow to import and its modules are loaded lazily, so that a type checker cannot find them.
        from tensorflow_model_optimization.quantization.keras.quantizers import (  # pyright: ignore[reportMissingImports]
            MovingAverageQuantizer,
        )

        self.bits, self.clip_min, self.clip_max, self.must_include = bits, clip_min, clip_max, must_include
        self.calibration_only = calibration_only
        self.phase = "moving"
        wide = bits > 8  # TFLite's 16-bit activations are symmetric
        self._symmetric = symmetric and not wide
        self._average = MovingAverageQuantizer(bits, per_axis=False, symmetric=wide or symmetric, narrow_range=wide)
        self._shared_calls: set[int] = set()
        self.set_num_calls(1)

    def set_num_calls(self, calls: int) -> None:
        super().set_num_calls(calls)
        while len(self.ranges) < calls:
            self.ranges.append(self._new_range())

    def _new_range(self) -> Range:
        return self._statistic("minimum"), self._statistic("maximum")

    def share_range(self, source: ActivationFakeQuant, call: int = 0, source_call: int = 0) -> None:
        """Share the range of `source`, whose output arrives unchanged: one tensor has one range, in a file as in training.

        Args:
            source: the quantizer that writes the tensor.
            call: the call of this quantizer that reads the tensor.
            source_call: the call of `source` that writes it.
        """
        self._shared_calls.add(call)
        own = {id(end) for end in self.ranges[call]}  # no longer read, so no gradient reaches it
        self._trainable_weights[:] = [variable for variable in self._trainable_weights if id(variable) not in own]
        self.ranges[call] = source.ranges[source_call]

    def _quantize(self, x: tf.Tensor, training: bool | None) -> tf.Tensor:
        if self.call_index in self._shared_calls:
            return super()._quantize(x, training)
        if self.has_variable_range:  # a fixed range clips by itself
            x = x if self.clip_min is None else tf.maximum(x, tf.cast(self.clip_min, x.dtype))
            x = x if self.clip_max is None else tf.minimum(x, tf.cast(self.clip_max, x.dtype))
        return self.quantized(x, training) if self.observer is None else self.observer(self, x)

    def quantized(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        if not self.has_variable_range:
            return tf.quantization.fake_quant_with_min_max_args(x, self.minimum, self.maximum)
        moves = bool(training) and self.phase != "frozen" and not self.calibration_only
        variables = {"min_var": self.minimum, "max_var": self.maximum}
        quantized = tf.cast(self._average(tf.cast(x, tf.float32), moves, variables), x.dtype)
        if moves and self.must_include:
            self.minimum.assign(tf.minimum(self.minimum, self.must_include))
        return x if training and self.phase == "waiting" else quantized

    @property
    def minimum(self) -> Any:
        """The lower end of the range of the call at `call_index`."""
        return self.ranges[self.call_index][0]

    @property
    def maximum(self) -> Any:
        """The upper end of the range of the call at `call_index`."""
        return self.ranges[self.call_index][1]

    @property
    def scale(self) -> tf.Tensor:
        """The distance of two values on the 8-bit grid, for the call at `call_index`."""
        return tf.maximum((self.maximum - self.minimum) / 255.0, 1e-9)

    @property
    def has_variable_range(self) -> bool:
        """Whether the range of the call at `call_index` comes from data."""
        return not isinstance(self.minimum, float)

    @property
    def variable_ranges(self) -> list[Range]:
        """The ranges that come from data."""
        return [ends for ends in self.ranges if not isinstance(ends[0], float)]

    @property
    def calibrated(self) -> bool:
        """False while any call has seen no data."""
        return all(float(maximum) > float(minimum) for minimum, maximum in self.ranges)

    def statistics(self) -> dict[str, tf.Variable]:
        variables = super().statistics()
        for i, (minimum, maximum) in enumerate(self.variable_ranges):
            prefix = f"calls.{i}." if len(self.ranges) > 1 else ""
            variables |= {f"{prefix}minimum": minimum, f"{prefix}maximum": maximum}
        return variables

    def reset_ranges(self) -> None:
        """Reset the ranges that come from data to those of a new quantizer."""
        for minimum, maximum in self.variable_ranges:
            minimum.assign(self.must_include)
            maximum.assign(0.0)

    def symmetrize_ranges(self) -> None:
        """Widen the ranges of a symmetric quantizer to -128..127 scales.

        Also those that equalization has left with ends of one size: zero would lie between two values of the grid, and Keras and a
        converter may round it to either side.
        """
        for minimum, maximum in self.variable_ranges:
            equal = self.peak_ceiling < float("inf") and abs(float(minimum + maximum)) < 1e-3 * float(maximum)
            if not self._symmetric and not equal:
                continue
            scale = max(float(maximum) / 127, -float(minimum) / 128)
            minimum.assign(-128 * scale)
            maximum.assign(127 * scale)


class LearnedRangeFakeQuant(StaticFakeQuant):
    """8 bits with ranges that gradients train (Bhalgat et al. 2020, LSQ+)."""

    def _new_range(self) -> Range:
        """Zero stays within the range: padding and biases are there."""
        low = self._statistic("minimum", trainable=True, constraint=lambda end: tf.minimum(end, self.must_include))
        high = self._statistic("maximum", trainable=True, constraint=lambda end: tf.maximum(end, 0.0))
        return low, high

    def quantized(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        if not self.has_variable_range or not training:
            return super().quantized(x, training)
        if self.phase == "waiting":
            return without_learning(super().quantized(x, training), self.minimum, self.maximum)
        data, low, high = tf.cast(x, tf.float32), self.minimum, self.maximum
        if self.phase == "moving":
            return tf.cast(learned_fake_quant(data, low, high), x.dtype)
        grid = tf.quantization.fake_quant_with_min_max_vars(data, tf.stop_gradient(low), tf.stop_gradient(high))
        return tf.cast(without_learning(grid, low, high), x.dtype)

    @property
    def learned_ranges(self) -> list[Range]:
        own = (ends for call, ends in enumerate(self.ranges) if call not in self._shared_calls)
        return [ends for ends in own if not isinstance(ends[0], float)]


class FixedRangeFakeQuant(StaticFakeQuant):
    """8 bits with the range that an integer operator always writes."""

    def __init__(self, path: str, bits: int, fixed_range: tuple[float, float], **options: Any):
        self._fixed_range = fixed_range
        super().__init__(path, bits, **options)

    def _new_range(self) -> Range:
        return self._fixed_range


class TableFakeQuant(StaticFakeQuant):
    """8 bits on the grid of the embedding table whose rows arrive unchanged: one tensor has one grid.

    Between two grids a converter puts an operator, and what that rounds differs from kernel to kernel.

    Args:
        path: the name that policies match.
        bits: 8.
        bound: returns the largest magnitude of the table.
        options: those of `StaticFakeQuant`.
    """

    def __init__(self, path: str, bits: int, bound: Callable[[], Any], **options: Any):
        self._bound = bound
        super().__init__(path, bits, **options)

    @property
    def ranges(self) -> list[Range]:
        """The range of the table as it is now, for each call; or what `freeze_ranges` has set."""
        return self._frozen or [self._table_range()] * self.num_calls

    @ranges.setter
    def ranges(self, ranges: list[Range]) -> None:
        self._frozen = ranges

    def _table_range(self) -> Range:
        scale = tf.stop_gradient(self._bound()) / 127.0  # -127..127
        return -128.0 * scale, 127.0 * scale

    def quantized(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        if isinstance(self.minimum, float):
            return super().quantized(x, training)
        data = tf.cast(x, tf.float32)
        return tf.cast(tf.quantization.fake_quant_with_min_max_vars(data, self.minimum, self.maximum), x.dtype)

    @property
    def has_variable_range(self) -> bool:
        return False

    @property
    def variable_ranges(self) -> list[Range]:
        return []


def activation_quantizer(
    policy: QuantizationPolicy | None,
    path: str,
    *,
    integer_only: bool = False,
    residual: bool = False,
    prevent_bias_folding: bool = False,
    fixed_range: tuple[float, float] | None = None,
    symmetric: bool = False,
    calibration_only: bool = False,
    clip_min: float | None = None,
    clip_max: float | None = None,
    must_include: float = 0.0,
    table_bound: Callable[[], Any] | None = None,
) -> ActivationFakeQuant:
    """Make the fake quantizer of an activation.

    Args:
        policy: the quantization policy, or None for float.
        path: the name that policies match.
        integer_only: whether the activation is quantized in integer-only models alone.
        residual: whether it is the sum of a residual connection.
        prevent_bias_folding: stops the converter from folding the bias of the previous layer into the next one.
        fixed_range: the range that an integer operator always writes.
        symmetric: whether the zero point is in the middle of 8 bits.
        calibration_only: see `StaticFakeQuant`, like the last two.
        clip_min: the lowest value that the range must reach.
        clip_max: the highest value that the range must reach.
        must_include: a value that the range always includes.
        table_bound: of rows of a table, a function that returns its largest magnitude.
    """
    if integer_only:
        policy = integer_part(policy)
    if policy is None:
        return ActivationFakeQuant(path, residual=residual)
    kind = policy.kind(path)
    common = {
        "equalized": policy.equalizes(path), "residual": residual, "prevent_bias_folding": prevent_bias_folding
    }  # fmt: skip
    if kind != "static":
        return (DynamicFakeQuant if kind == "dynamic" else ActivationFakeQuant)(path, **common)
    static = {
        **common, "symmetric": symmetric, "clip_min": clip_min, "clip_max": clip_max, "must_include": must_include,
        "calibration_only": calibration_only,
    }  # fmt: skip
    if table_bound is not None:
        return TableFakeQuant(path, policy.activation_bits, table_bound, **static)
    if fixed_range is not None:
        return FixedRangeFakeQuant(path, policy.activation_bits, fixed_range, **static)
    learned = policy.learned_ranges and not symmetric and not calibration_only
    return (LearnedRangeFakeQuant if learned else StaticFakeQuant)(path, policy.activation_bits, **static)


def share_range(
    quantizer: ActivationFakeQuant, source: ActivationFakeQuant | None, call: int = 0, source_call: int = 0
) -> None:
    """Share the range of `source` with a quantizer whose input is its output, where both are static."""
    if isinstance(quantizer, StaticFakeQuant) and isinstance(source, StaticFakeQuant):
        quantizer.share_range(source, call, source_call)


def activation_quantizers(model: keras.layers.Layer) -> list[ActivationFakeQuant]:
    """Return every activation quantizer of a model."""
    return sublayers(model, ActivationFakeQuant)
