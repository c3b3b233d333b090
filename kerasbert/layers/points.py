"""Named quantization points: identity until a policy puts one of tfmot's quantizers there.

A *policy* (frozen, JSON-able) says which points are held in 8 bits and how. Every dense kernel, embedding table and activation
that a backend may hold in 8 bits passes through a point with a path such as `layers.3.attention.query`; the first matching rule
of the policy decides, and a point without a rule costs nothing.
"""

import fnmatch
from dataclasses import asdict, dataclass, replace

import tensorflow as tf
import tf_keras as keras

_NEVER_REACHED = 6e4  # in 16-bit floats as well
KINDS = ("static", "dynamic", "float")


@dataclass(frozen=True)
class QuantizationPolicy:
    """What is held in 8 bits while training, so that the exported file computes what was trained.

    recipe: the export recipe that this policy prepares for.
    kernels: dense kernels in int8, symmetric, one scale per output channel.
    tables: the word table in int8, symmetric, one scale in all.
    activations: `(pattern, kind)` rules over point paths (shell-style wildcards), first match wins; kind is `static` (one trained
        range per tensor), `dynamic` (one range per token, found at run time) or `float`. No match means `float`.
    equalized: patterns of points whose outlier channels are scaled down, and the rows of the kernels that read them scaled up: in float
        an identity, in 8 bits the other channels get the range that the outliers took (Xiao et al. 2022, SmoothQuant).
    """

    recipe: str
    kernels: bool = True
    tables: bool = True
    activations: tuple[tuple[str, str], ...] = ()
    equalized: tuple[str, ...] = ()

    def __post_init__(self):
        for pattern, kind in self.activations:
            if kind not in KINDS:
                raise ValueError(f"Expected a quantization kind of {KINDS} for points {pattern!r}. Received: {kind!r}")

    def kind(self, path: str) -> str:
        """The kind of the activation point at `path`."""
        return next((kind for pattern, kind in self.activations if fnmatch.fnmatchcase(path, pattern)), "float")

    def equalizes(self, path: str) -> bool:
        """Whether the outlier channels of the point at `path` are scaled down."""
        return any(fnmatch.fnmatchcase(path, pattern) for pattern in self.equalized)

    def in_float(self) -> "QuantizationPolicy":
        """The same graph with nothing in 8 bits: what is exported before the file is quantized."""
        return replace(self, kernels=False, tables=False, activations=())

    def get_config(self) -> dict:
        return asdict(self)

    @classmethod
    def from_config(cls, config: dict) -> "QuantizationPolicy":
        rules = tuple((pattern, kind) for pattern, kind in config.get("activations", ()))
        return cls(**{**config, "activations": rules, "equalized": tuple(config.get("equalized", ()))})


class ActivationPoint(keras.layers.Layer):
    """An activation that a policy may hold in 8 bits. Any shape in, the same shape out.

    Static points keep `minimum` and `maximum`, moved by tfmot's moving average while training. Calibration fills them before training
    starts: it sets `observing` to "channels" (collects the largest size of each channel) or "range" and runs data through the model.
    An equalized point gives its input times `equalizer` (H,), and the denses that read it divide their kernel rows by it.

    floor: a static range needs to reach no further down, because what follows is flat there.
    keeps_bias: what follows the dense that writes here is another dense, or the addition of a constant. The converter would take its bias
    away and fold it into that, and the tensor which it writes would not be the one that training gave a range: in the graph that is
    exported, a bound that no number reaches keeps the two apart.
    A point of a layer that is called several times has a range for each call (`share`), and `turn` says which call it is.
    """

    def __init__(
        self,
        policy: QuantizationPolicy | None,
        path: str,
        floor: float | None = None,
        keeps_bias: bool = False,
        **kwargs,
    ):
        super().__init__(name=path.replace(".", "_"), dtype="float32", autocast=False, **kwargs)
        self.path, self.floor = path, floor
        self.kind = policy.kind(path) if policy else "float"
        self.observing: str | None = None
        self.equalizer = None
        self.keeps_bias = keeps_bias and policy is not None
        self._equalized = bool(policy and policy.equalizes(path))
        self.calls, self.turn = 1, 0
        self._followed: set[int] = set()
        self.ranges: list[tuple[tf.Variable, tf.Variable]] = []
        if self.kind == "static":
            from tensorflow_model_optimization.quantization.keras import quantizers

            self._quantizer = quantizers.MovingAverageQuantizer(8, per_axis=False, symmetric=False, narrow_range=False)
            self.share(1)

    def share(self, calls: int) -> None:
        """Makes room for the ranges of so many calls. The equalizer stays one: it is part of the kernels, which are shared."""
        self.calls = calls
        if self.kind == "static":
            while len(self.ranges) < calls:
                names = ("minimum", "maximum")
                self.ranges.append(tuple(self._statistic(name, (), "zeros") for name in names))

    def build(self, input_shape):
        if self._equalized:
            self.equalizer = self._statistic("equalizer", (input_shape[-1],), "ones")
        super().build(input_shape)

    def _statistic(self, name: str, shape, initializer: str) -> tf.Variable:
        return self.add_weight(
            name, shape=shape, initializer=initializer, trainable=False, dtype="float32", experimental_autocast=False
        )

    def follow(self, point: "ActivationPoint", turn: int = 0) -> None:
        """Says that in one call what comes in is what `point` gave, unchanged: one tensor has one range, in a file as in training."""
        if self.kind == point.kind == "static":
            self._followed.add(turn)
            self.ranges[turn] = point.ranges[0]

    @property
    def minimum(self) -> tf.Variable:
        """The lower end of a static point's range, of the call whose turn it is."""
        return self.ranges[self.turn][0]

    @property
    def maximum(self) -> tf.Variable:
        """The upper end."""
        return self.ranges[self.turn][1]

    @property
    def step(self) -> tf.Tensor:
        """The distance of two 8-bit values of a static point."""
        return tf.maximum((self.maximum - self.minimum) / 255.0, 1e-9)

    @property
    def calibrated(self) -> bool:
        """False while a static point, in any of its calls, has never seen data."""
        return all(float(maximum) > float(minimum) for minimum, maximum in self.ranges)

    def statistics(self) -> dict[str, tf.Variable]:
        """What calibration finds, by name: `minimum` and `maximum` (`calls.2.minimum` where there are several), `equalizer`."""
        found = {} if self.equalizer is None else {"equalizer": self.equalizer}
        for i, (minimum, maximum) in enumerate(self.ranges):
            prefix = f"calls.{i}." if len(self.ranges) > 1 else ""
            found |= {f"{prefix}minimum": minimum, f"{prefix}maximum": maximum}
        return found

    def call(self, x, training=None):
        if self.observing == "channels":
            return self._observe_channels(x)
        if self.equalizer is not None:
            # Full rank: the converter folds a (H,) factor into the next dense, and equalization would be undone.
            x = x * tf.cast(tf.reshape(self.equalizer, [1] * (len(x.shape) - 1) + [-1]), x.dtype)
        if self.kind == "float" or self.turn in self._followed:
            return tf.minimum(x, tf.cast(_NEVER_REACHED, x.dtype)) if self.keeps_bias else x
        if self.kind == "dynamic":
            return per_token_fake_quant(x)
        if self.floor is not None:
            x = tf.maximum(x, tf.cast(self.floor, x.dtype))
        if self.observing == "range":
            self.minimum.assign(tf.minimum(self.minimum, tf.cast(tf.reduce_min(x), tf.float32)))
            self.maximum.assign(tf.maximum(self.maximum, tf.cast(tf.reduce_max(x), tf.float32)))
            return x
        weights = {"min_var": self.minimum, "max_var": self.maximum}
        return tf.cast(self._quantizer(tf.cast(x, tf.float32), bool(training), weights), x.dtype)

    def _observe_channels(self, x):
        if self.equalizer is not None:
            peaks = tf.reduce_max(tf.abs(tf.cast(x, tf.float32)), axis=list(range(len(x.shape) - 1)))
            self.equalizer.assign(tf.maximum(self.equalizer, peaks))
        return x


class KernelPoint(keras.layers.Layer):
    """A dense kernel (in, out) that a policy may hold in int8: symmetric, -127..127, one scale per output channel.

    tfmot's last-value quantizer reads the range from the kernel at every call, training or not: that is the grid on which the exporter
    stores the kernel, and no stale range can lie between the two.
    """

    def __init__(self, policy: QuantizationPolicy | None, path: str, channels: int, **kwargs):
        super().__init__(name=path.replace(".", "_"), dtype="float32", autocast=False, **kwargs)
        self.path = path
        self.enabled = bool(policy and policy.kernels)
        if self.enabled:
            from tensorflow_model_optimization.quantization.keras import quantizers

            self._quantizer = quantizers.LastValueQuantizer(8, per_axis=True, symmetric=True, narrow_range=True)
            options = {"shape": (channels,), "initializer": "zeros", "trainable": False, "experimental_autocast": False}
            self._range = {
                "min_var": self.add_weight("minimum", **options),
                "max_var": self.add_weight("maximum", **options),
            }

    def call(self, kernel):
        if not self.enabled:
            return kernel
        quantized = tf.cast(self._quantizer(tf.cast(kernel, tf.float32), True, self._range), kernel.dtype)
        # A channel of zeros (a pruned one) has no range; XLA's fake-quant makes NaN of it.
        return tf.where(tf.reduce_all(tf.equal(kernel, 0), axis=0), kernel, quantized)

    def step(self, kernel) -> tf.Tensor:
        """The distance of two int8 values of each channel, (out,)."""
        return tf.maximum(tf.reduce_max(tf.abs(tf.cast(kernel, tf.float32)), axis=0) / 127.0, 1e-9)


def table_fake_quant(rows, table):
    """Embedding rows on the int8 grid of their whole table: symmetric, -127..127, one scale a table.

    tfmot's quantizers would need the whole table as their input, which makes its gradient dense; the rows alone keep it sparse.
    """
    bound = tf.stop_gradient(tf.reduce_max(tf.abs(tf.cast(table, tf.float32))))
    quantized = tf.quantization.fake_quant_with_min_max_vars(
        tf.cast(rows, tf.float32), -bound, bound, 8, narrow_range=True
    )
    return tf.cast(quantized, rows.dtype)


def per_token_fake_quant(x):
    """What a dynamically quantized dense does to its input: int8 with one asymmetric range per row of the last axis.

    Gradients pass straight through (nothing is clipped: the range covers every value).
    """
    data = tf.cast(x, tf.float32)
    low = tf.minimum(tf.reduce_min(data, axis=-1, keepdims=True), 0.0)
    high = tf.maximum(tf.reduce_max(data, axis=-1, keepdims=True), 0.0)
    scale = tf.maximum((high - low) / 255.0, 1e-30)
    zero = tf.round(low / scale)
    grid = (tf.clip_by_value(tf.round(data / scale), zero, zero + 255.0)) * scale
    return tf.cast(data + tf.stop_gradient(grid - data), x.dtype)
