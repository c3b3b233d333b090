"""First ranges of quantized activations, and factors of scaled channels, from data."""

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from kerasbert.compression.quantization.outlier_tokens import OutlierTokens
from kerasbert.compression.quantization.range_estimation import BINS, range_method
from kerasbert.errors import KerasBertError
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant, activation_quantizers
from kerasbert.layers.quantization.norms import IntegerLayerNorm
from kerasbert.layers.traversal import sublayers
from kerasbert.processors import Features

# What a scaled channel's largest size is brought down to, in sizes of the median channel.
OUTLIER_CEILING = 4.0
_FEW = 2  # batches that are run sooner than a trace is made
_EMPTY = 3  # tokens of a row in which no word stands, at most: those that begin and end one text or two


def calibrate(model, data, batch_size: int = 32, ranges: str = "min-max", ceiling: float = OUTLIER_CEILING) -> None:
    """Sets the factors of scaled channels, then every static range, from what is seen over `data`; nothing quantizes meanwhile.

    data: texts, or anything that the task predicts on. ranges: `min-max`, `percentile` (99.99 % of the values), `percentile:99.9`, or `mse`
    (the range whose 8-bit grid is nearest to the values). ceiling: no scaled channel is larger than this many median ones.

    Raises KerasBertError for data without tokens or of one text only, naming the points that saw nothing, or nothing but one value, and for
    an unknown method; the model then is as it was.
    """
    method = range_method(ranges)
    if ceiling <= 0:
        raise KerasBertError(f"expected a ceiling of scaled channels above 0, received {ceiling}")
    if isinstance(data, tf.data.Dataset):

        def run():
            model.predict(data, batch_size=batch_size)
    else:  # what is read, without what it is an answer to: a masked language model has none to texts without gaps
        rows = model.features(data, scoring=True)[1]
        _check_rows(rows)

        def run():
            if len(rows) <= _FEW * batch_size:
                model.serve_untraced()
            model.raw_results(rows, batch_size)

    statistics = [
        (variable, variable.numpy()) for point in activation_quantizers(model) for variable in point.variables
    ]
    try:
        _calibrate(model, run, method, ceiling)
    except BaseException:
        for variable, value in statistics:
            variable.assign(value)
        raise


def _check_rows(rows: Features) -> None:
    """Raises KerasBertError for rows from which no range can be known."""
    lists = rows.tokens.input_ids
    if not any(len(tokens) for tokens in lists):
        received = f"{len(lists)} rows of nothing but padding" if len(lists) else "no rows"
        raise KerasBertError(f"expected calibration data with tokens, received {received}")
    different = {tuple(tokens) for tokens in lists}
    (shortest,) = different if len(different) == 1 else ((),)
    if len(different) == 1 and (len(lists) > 1 or len(shortest) <= _EMPTY):
        raise KerasBertError(
            f"expected calibration texts that differ, received {len(lists)} rows of the same {len(shortest)} tokens"
        )


def _calibrate(model, run: Callable[[], None], method: Callable | None, ceiling: float) -> None:
    points = activation_quantizers(model)
    if scaled := [point for point in points if point.equalizer is not None]:
        for point in scaled:
            point.equalizer.assign(tf.zeros_like(point.equalizer))
        _observe(model, points, _Peaks(), run)
        for point in scaled:
            point.equalizer.assign(channel_factors(point.equalizer.numpy(), ceiling))
    static = [point for point in points if point.kind == "static"]
    for point in static:
        point.reset_ranges()
    _observe(model, static, Extremes(), run)
    if unseen := [point.path for point in static if not point.calibrated]:
        raise KerasBertError(
            f"expected calibration data to reach every point with different values, {len(unseen)} saw none or one: {', '.join(unseen[:3])}"
        )
    rows, histograms = OutlierTokens(sublayers(model, IntegerLayerNorm)), _Histograms()
    if observers := [*([rows] if rows.paths else []), *([histograms] if method is not None else [])]:
        _observe(model, static, _All(observers), run)
    if method is not None:
        histograms.set_ranges(method)
    rows.set_grids()
    for point in static:
        point.symmetrize_ranges()


def channel_factors(peaks: np.ndarray, ceiling: float) -> np.ndarray:
    """(H,) factors of at most 1 from the largest size of each channel: outliers come down to `ceiling` times the median channel."""
    limit = ceiling * float(np.median(peaks))
    return np.minimum(1.0, limit / np.maximum(peaks, 1e-9)).astype(np.float32) if limit > 0 else np.ones_like(peaks)


def _observe(model, points, observer, run: Callable[[], None]) -> None:
    for point in points:
        point.observer = observer
    model.forget_traces()  # whether a point observes is fixed in a trace
    try:
        run()
    finally:
        for point in points:
            point.observer = None
        model.forget_traces()


class _Peaks:
    """The largest size of each channel, into the equalizers."""

    before_scaling = True

    def __call__(self, point: ActivationFakeQuant, x):
        if point.equalizer is not None:
            peaks = tf.reduce_max(tf.abs(tf.cast(x, tf.float32)), axis=list(range(len(x.shape) - 1)))
            point.equalizer.assign(tf.maximum(point.equalizer, peaks))
        return x


class _All:
    """Several observers in one run."""

    before_scaling = False

    def __init__(self, observers):
        self._observers = observers

    def __call__(self, point: ActivationFakeQuant, x):
        for observer in self._observers:
            x = observer(point, x)
        return x


class Extremes:
    """The smallest and the largest value, into the ranges."""

    before_scaling = False

    def __call__(self, point: ActivationFakeQuant, x):
        if point.has_variable_range:
            point.minimum.assign(tf.minimum(point.minimum, tf.cast(tf.reduce_min(x), tf.float32)))
            point.maximum.assign(tf.maximum(point.maximum, tf.cast(tf.reduce_max(x), tf.float32)))
        return x


class _Histograms:
    """How often which value was seen, between the extremes that are known already."""

    before_scaling = False

    def __init__(self):
        self._counts: dict[tuple[str, int], tuple[ActivationFakeQuant, tf.Variable]] = {}

    def __call__(self, point: ActivationFakeQuant, x):
        if not point.has_variable_range or point.calibration_only:
            return x
        key = (point.path, point.call_index)
        if key not in self._counts:
            with tf.init_scope():
                self._counts[key] = point, tf.Variable(tf.zeros(BINS, tf.int64))
        bounds = tf.stack([point.minimum, point.maximum])
        seen = tf.histogram_fixed_width(tf.reshape(tf.cast(x, tf.float32), [-1]), bounds, BINS, tf.int64)
        self._counts[key][1].assign_add(seen)
        return x

    def set_ranges(self, method: Callable) -> None:
        """Narrows every range as the method finds it."""
        for (_, call), (point, counts) in self._counts.items():
            minimum, maximum = point.ranges[call]
            low, high = method(counts.numpy(), float(minimum), float(maximum))
            minimum.assign(min(low, point.must_include))
            maximum.assign(max(high, 0.0))
