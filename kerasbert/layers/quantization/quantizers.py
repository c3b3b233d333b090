"""Named quantization points: identity until a policy puts one of tfmot's quantizers there.

A *policy* (frozen, JSON-able) says which points are held in 8 bits and how. Every dense kernel, embedding table and activation
that a backend may hold in 8 bits passes through a point with a path such as `layers.3.attention.query`; the first matching rule
of the policy decides, and a point without a rule costs nothing.
"""

from collections.abc import Callable

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.quantization.fake_quant import (
    kernel_fake_quant,
    kernel_step,
    learned_fake_quant,
    per_token_fake_quant,
    without_learning,
)
from kerasbert.layers.quantization.policy import QuantizationPolicy

_NEVER_REACHED = 6e4  # in 16-bit floats as well

# What TFLite's integer operators write, whatever they read: softmax and logistic in steps of 1/256, tanh in steps of 1/128.
UNIT_BOUNDS = (0.0, 255 / 256)
TANH_BOUNDS = (-1.0, 127 / 128)


class ActivationPoint(keras.layers.Layer):
    """An activation that a policy may hold in 8 bits. Any shape in, the same shape out.

    Static points keep `minimum` and `maximum`, moved by tfmot's moving average while training, or learned by gradient where the policy has
    learned ranges. Calibration fills them before training starts: it sets `observer`, which is called with the point and its input and
    gives what the point gives instead, and runs data through the model. An observer that is `before_scaling` sees what comes in, others
    what would be quantized.
    An equalized point gives its input times `equalizer` (H,), and the denses that read it divide their kernel rows by it.

    floor: a static range needs to reach no further down, because what follows is flat there.
    keeps_bias: what follows the dense that writes here is another dense, or the addition of a constant. The converter would take its bias
    away and fold it into that, and the tensor which it writes would not be the one that training gave a range: in the graph that is
    exported, a bound that no number reaches keeps the two apart.
    reaches: a static range goes at least so far down, whatever was seen.
    bounds: the range that integer operators give what they write here, whatever the data.
    symmetric: 8 bits have their zero in the middle, and the range moves with data also where others are learned.
    kept: calibration alone decides the range, and training leaves it.
    stream: the layers that write here scale what they write by the equalizer's factors, and this point only finds them; and they leave
    the mean of each row out once it is known what is added to what (`centre`).
    phase: `waiting` quantizes nothing while training, `moving` lets data or gradients move the range, `frozen` does not; see
    `QuantizationPhases`.
    A point of a layer that is called several times has a range for each call (`share`), and `turn` says which call it is.
    """

    def __init__(
        self,
        policy: QuantizationPolicy | None,
        path: str,
        floor: float | None = None,
        keeps_bias: bool = False,
        reaches: float = 0.0,
        bounds: tuple[float, float] | None = None,
        stream: bool = False,
        symmetric: bool = False,
        kept: bool = False,
        **kwargs,
    ):
        super().__init__(name=path.replace(".", "_"), dtype="float32", autocast=False, **kwargs)
        self.path, self.floor = path, floor
        self.kind = policy.kind(path) if policy else "float"
        self.observer = None
        self.phase = "moving"
        self.equalizer = None
        self.keeps_bias = keeps_bias and policy is not None
        self.equalized = bool(policy and policy.equalizes(path))
        self._stream, self._bounds, self.reaches = stream, bounds, reaches
        self.calls, self.turn = 1, 0
        self._followed: set[int] = set()
        self._scaled_like: ActivationPoint | None = None
        self.kept = kept
        self._symmetric = symmetric and self.kind == "static" and policy.activation_bits == 8
        learned = bool(policy and policy.learned_ranges) and self.kind == "static"
        self.learns = learned and bounds is None and not symmetric and not kept
        self.offset: Callable | None = None
        self.ranges: list[tuple] = []
        if self.kind == "static":
            from tensorflow_model_optimization.quantization.keras import quantizers

            self.bits = policy.activation_bits
            wide = self.bits > 8  # TFLite's 16-bit activations have their zero in the middle
            self._quantizer = quantizers.MovingAverageQuantizer(
                self.bits, per_axis=False, symmetric=wide or self._symmetric, narrow_range=wide
            )
            self.share(1)

    def share(self, calls: int) -> None:
        """Makes room for the ranges of so many calls. The equalizer stays one: it is part of the kernels, which are shared."""
        self.calls = calls
        if self.kind == "static":
            while len(self.ranges) < calls:
                self.ranges.append(self._bounds or (self._end("minimum"), self._end("maximum")))

    def _end(self, name: str) -> tf.Variable:
        """An end of a range. Zero stays within one that is learned: it is what padding and bias are at."""
        if not self.learns:
            return self._statistic(name, (), "zeros")
        within = tf.minimum if name == "minimum" else tf.maximum
        least = self.reaches if name == "minimum" else 0.0
        return self._statistic(name, (), "zeros", trainable=True, constraint=lambda end: within(end, least))

    def build(self, input_shape):
        if self.equalized:
            self.equalizer = self._statistic("equalizer", (input_shape[-1],), "ones")
        super().build(input_shape)

    def _statistic(self, name: str, shape, initializer: str, trainable: bool = False, constraint=None) -> tf.Variable:
        return self.add_weight(
            name, shape=shape, initializer=initializer, trainable=trainable, constraint=constraint, dtype="float32",
            experimental_autocast=False,
        )  # fmt: skip

    def follow(self, point: "ActivationPoint", turn: int = 0, of: int = 0) -> None:
        """Says that in call number `turn` what comes in is what `point` gave in its call `of`, unchanged: one tensor has one range, in a
        file as in training."""
        if self.kind == point.kind == "static":
            self._followed.add(turn)
            mine = {id(end) for end in self.ranges[turn]}  # which nothing reads from now on, and no gradient reaches
            self._trainable_weights[:] = [variable for variable in self._trainable_weights if id(variable) not in mine]
            self.ranges[turn] = point.ranges[of]

    def scaled_like(self, stream: "ActivationPoint") -> None:
        """Says that what comes in has been scaled by the factors of a stream."""
        self._scaled_like = stream

    def centre(self, offset: Callable | None = None) -> None:
        """Says that what is written here has no mean in any row.

        offset: gives the constant mean of what else is added, such as a norm's beta, which a dense that writes here takes off too.
        """
        self.offset = offset or (lambda: 0.0)

    def forget_ranges(self) -> None:
        """Makes every range that data decide what it is before any were seen."""
        for minimum, maximum in self.moving:
            minimum.assign(self.reaches)
            maximum.assign(0.0)

    def settle_ranges(self) -> None:
        """Widens the ranges that data decided to what the point's grid can be."""
        for minimum, maximum in self.moving if self._symmetric else ():
            largest = max(float(maximum) / 127, -float(minimum) / 128)  # steps to either side of zero
            minimum.assign(-128 * largest)
            maximum.assign(127 * largest)

    def fix_ranges(self) -> None:
        """Makes constants of all ranges: what converters ask of a graph."""
        self.ranges = [tuple(map(float, bounds)) for bounds in self.ranges]

    @property
    def factors(self) -> tf.Variable | None:
        """What the channels that leave here have been multiplied by, (H,); None: nothing."""
        if self._scaled_like is not None and self._scaled_like.equalized:
            return self._scaled_like.factors
        return None if self._unscaled else self.equalizer

    @property
    def _unscaled(self) -> bool:
        return self.observer is not None and self.observer.before_scaling

    @property
    def minimum(self) -> tf.Variable | float:
        """The lower end of a static point's range, of the call whose turn it is."""
        return self.ranges[self.turn][0]

    @property
    def maximum(self) -> tf.Variable | float:
        """The upper end."""
        return self.ranges[self.turn][1]

    @property
    def step(self) -> tf.Tensor:
        """The distance of two values of a static point of 8 bits."""
        return tf.maximum((self.maximum - self.minimum) / 255.0, 1e-9)

    @property
    def moving(self) -> list[tuple[tf.Variable, tf.Variable]]:
        """The ranges that data decide."""
        return [bounds for bounds in self.ranges if not isinstance(bounds[0], float)]

    @property
    def learned(self) -> list[tuple[tf.Variable, tf.Variable]]:
        """The ranges that gradients decide, without those that are another point's."""
        turns = enumerate(self.ranges if self.learns else ())
        return [bounds for turn, bounds in turns if turn not in self._followed and not isinstance(bounds[0], float)]

    @property
    def moves(self) -> bool:
        """Whether data decide the range of the call whose turn it is."""
        return not isinstance(self.minimum, float)

    @property
    def calibrated(self) -> bool:
        """False while a static point, in any of its calls, has never seen data."""
        return all(float(maximum) > float(minimum) for minimum, maximum in self.ranges)

    def statistics(self) -> dict[str, tf.Variable]:
        """What calibration finds, by name: `minimum` and `maximum` (`calls.2.minimum` where there are several), `equalizer`."""
        found = {} if self.equalizer is None else {"equalizer": self.equalizer}
        for i, (minimum, maximum) in enumerate(self.moving):
            prefix = f"calls.{i}." if len(self.ranges) > 1 else ""
            found |= {f"{prefix}minimum": minimum, f"{prefix}maximum": maximum}
        return found

    def call(self, x, training=None):
        if self._unscaled:
            return self.observer(self, x)
        if self.equalizer is not None and not self._stream:
            x = x * channels(self.equalizer, x)
        if self.kind == "float" or self.turn in self._followed:
            return tf.minimum(x, tf.cast(_NEVER_REACHED, x.dtype)) if self.keeps_bias else x
        if self.floor is not None and self.kind == "static" and self.moves:  # a fixed range cuts by itself
            x = tf.maximum(x, tf.cast(self.floor, x.dtype))
        return self.quantized(x, training) if self.observer is None else self.observer(self, x)

    def quantized(self, x, training=None):
        """x as 8 bits hold it."""
        if self.kind == "dynamic":
            return per_token_fake_quant(x)
        if not self.moves:
            return tf.quantization.fake_quant_with_min_max_args(x, self.minimum, self.maximum)
        if self.learns and training and self.phase != "waiting":
            return self._learned(x)
        weights = {"min_var": self.minimum, "max_var": self.maximum}
        moves = bool(training) and self.phase != "frozen" and not self.kept
        quantized = tf.cast(self._quantizer(tf.cast(x, tf.float32), moves, weights), x.dtype)
        if moves and self.reaches:
            self.minimum.assign(tf.minimum(self.minimum, self.reaches))
        if not (training and self.phase == "waiting"):
            return quantized
        return without_learning(x, self.minimum, self.maximum) if self.learns else x

    def _learned(self, x):
        """x in 8 bits while its range is learned, or was and stays where it is."""
        data, low, high = tf.cast(x, tf.float32), self.minimum, self.maximum
        if self.phase == "moving":
            return tf.cast(learned_fake_quant(data, low, high), x.dtype)
        ends = tf.stop_gradient(low), tf.stop_gradient(high)
        grid = tf.quantization.fake_quant_with_min_max_vars(data, *ends)
        return tf.cast(without_learning(grid, low, high), x.dtype)


def channels(values, x):
    """(H,) values to multiply or add to x (..., H), of its full rank: converters fold a vector into the next dense, and the tensor that
    training gave a range would be another."""
    return tf.cast(tf.reshape(values, [1] * (len(x.shape) - 1) + [-1]), x.dtype)


class ConstantPoint(keras.layers.Layer):
    """A constant beside an activation: in a model without any float it lies on the 8-bit grid from its smallest to its largest value.

    observer: called with the point and the values of an enabled point, and gives what the point gives instead.
    """

    def __init__(self, policy: QuantizationPolicy | None, path: str, **kwargs):
        super().__init__(name=path.replace(".", "_"), dtype="float32", autocast=False, **kwargs)
        self.path, self.observer = path, None
        self.enabled = bool(policy and policy.integer_only and policy.kernels)

    def call(self, values):
        if not self.enabled:
            return values
        return self.quantized(values) if self.observer is None else self.observer(self, values)

    def quantized(self, values):
        """The values as 8 bits hold them."""
        low, high = (tf.stop_gradient(reduce(tf.cast(values, tf.float32))) for reduce in (tf.reduce_min, tf.reduce_max))
        low, high = tf.minimum(low, 0.0), tf.maximum(high, 0.0)
        return tf.quantization.fake_quant_with_min_max_vars(values, low, high)


class KernelPoint(keras.layers.Layer):
    """A dense kernel (in, out) that a policy may hold in int8: symmetric, -127..127 (4 bits: -7..7), one scale per output channel.

    The range is read from the kernel at every call, training or not: that is the grid on which the exporter stores the kernel, and no stale
    range can lie between the two.
    observer: called with the point and the kernel of an enabled point, and gives what the point gives instead.
    """

    def __init__(self, policy: QuantizationPolicy | None, path: str, **kwargs):
        super().__init__(name=path.replace(".", "_"), dtype="float32", autocast=False, **kwargs)
        self.path, self.observer = path, None
        self.enabled = bool(policy and policy.kernels)
        self.bits = policy.kernel_bits if self.enabled else None

    def call(self, kernel):
        if not self.enabled:
            return kernel
        return self.quantized(kernel) if self.observer is None else self.observer(self, kernel)

    def quantized(self, kernel):
        """The kernel as the file stores it."""
        return tf.cast(kernel_fake_quant(tf.cast(kernel, tf.float32), self.bits), kernel.dtype)

    def step(self, kernel) -> tf.Tensor:
        """The distance of two values of the grid of each channel, (out,)."""
        return kernel_step(tf.cast(kernel, tf.float32), self.bits)
