"""Initial activation ranges and equalization scales, from data."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kerasbert.compression.quantization.calibration_rows import CALIBRATION_ROWS, FEW_ROWS
from kerasbert.compression.quantization.observers import Observer
from kerasbert.compression.quantization.outlier_tokens import OutlierTokenObserver
from kerasbert.compression.quantization.range_estimation import BINS, RangeEstimator, range_estimator
from kerasbert.console.output import note
from kerasbert.data.dataset import examples_of
from kerasbert.data.sampling import sample_evenly, spread
from kerasbert.errors import KerasBertError
from kerasbert.layers.quantization.activation_quantizers import (
    ActivationFakeQuant,
    StaticFakeQuant,
    activation_quantizers,
)
from kerasbert.layers.quantization.norms import IntegerLayerNorm
from kerasbert.layers.traversal import sublayers
from kerasbert.processors import Features
from kerasbert.tasks.base import Task
from kerasbert.tasks.inputs import is_packed

# The largest peak that equalization leaves in a channel, as a multiple of the median channel's peak.
OUTLIER_CEILING = 4.0
_EAGER_BATCHES = 2  # up to this many batches run faster eagerly than after tracing
_SPECIAL_TOKENS = 3  # the most tokens of an empty text or pair: [CLS] [SEP] [SEP]


def calibrate(
    model: Task,
    data: Any,
    batch_size: int = 32,
    ranges: str = "min-max",
    ceiling: float = OUTLIER_CEILING,
    rows: int | None = CALIBRATION_ROWS,
) -> None:
    """Set the equalization scales, then every static activation range, from `data`.

    Nothing is quantized while the data run. If an error is raised, the model is unchanged.

    Args:
        model: A quantized task.
        data: Texts, or anything that `predict` takes.
        batch_size: Rows in a batch.
        ranges: `min-max`; `percentile` (99.99 % of the values) or `percentile:99.9`; or `mse`, the range with the least squared error on
            its 8-bit grid.
        ceiling: Equalization leaves no channel a peak above this multiple of the median channel's peak.
        rows: Number of examples to use, sampled evenly; None for all. A `tf.data.Dataset` is always used whole.

    Raises:
        KerasBertError: When the data have no tokens or only one distinct text; when a quantizer saw less than two distinct values; when
            the method is unknown; when the ceiling is not above 0; and when `rows` is below 1.

    Example:
        ```python
        from kerasbert.compression import calibrate
        calibrate(int8, texts, ranges="percentile:99.9")
        ```
    """
    estimator = range_estimator(ranges)
    if ceiling <= 0:
        raise KerasBertError(f"expected an equalization ceiling above 0, received {ceiling}")
    run = _make_run(model, data, batch_size, rows)
    saved = [
        (variable, variable.numpy()) for quantizer in activation_quantizers(model) for variable in quantizer.variables
    ]
    try:
        _calibrate(model, run, estimator, ceiling)
    except BaseException:
        for variable, value in saved:
            variable.assign(value)
        raise


def _make_run(model: Task, data: Any, batch_size: int, rows: int | None) -> Callable[[], None]:
    """Check the data and return a function that runs the model over them."""
    spread(1, rows)  # checks the number
    if isinstance(data, tf.data.Dataset):
        if next(iter(data.take(1)), None) is None:
            raise KerasBertError(_message_of_no_rows("no rows"))
        return lambda: model.predict(data, batch_size=batch_size)
    data = _sample(model, data, rows)
    # Scoring features: a masked language model makes no prediction for a text without a mask, and so has no other rows for it.
    features = model.features(data, scoring=True)[1]
    _check_features(features)

    def run() -> None:
        if len(features) <= _EAGER_BATCHES * batch_size:
            model.serve_untraced()
        model.raw_results(features, batch_size)

    return run


def _sample(model: Task, data: Any, rows: int | None) -> Any:
    """Choose some of the examples, spread evenly, and print how many if these are not all, or few."""
    data = examples_of(data)
    examples = data if is_packed(data) else model.processor.examples(data)
    total = len(examples["input_ids"]) if is_packed(examples) else len(examples)
    count = total if rows is None else min(rows, total)
    if count < total:
        note(f"note: {count:,} of {total:,} examples are used for calibration, sampled evenly")
    if 0 < count < FEW_ROWS:
        note(
            f"note: calibration on {count:,} example{'s' * (count > 1)}: {CALIBRATION_ROWS} are recommended, as other texts may have "
            "values outside of the ranges"
        )
    return sample_evenly(examples, rows)


def _message_of_no_rows(received: str) -> str:
    return f"expected calibration data with tokens, received {received}; pass texts of the task"


def _check_features(features: Features) -> None:
    """Check that the rows determine a range."""
    token_lists = features.token_lists.input_ids
    if not any(len(tokens) for tokens in token_lists):
        received = f"{len(token_lists)} rows of nothing but padding" if len(token_lists) else "no rows"
        raise KerasBertError(_message_of_no_rows(received))
    distinct = {tuple(tokens) for tokens in token_lists}
    (shortest,) = distinct if len(distinct) == 1 else ((),)
    if len(distinct) == 1 and (len(token_lists) > 1 or len(shortest) <= _SPECIAL_TOKENS):
        raise KerasBertError(
            f"expected calibration texts that differ, received {len(token_lists)} rows of the same {len(shortest)} tokens; "
            "pass a few hundred texts of the task"
        )


def _calibrate(model: Task, run: Callable[[], None], estimator: RangeEstimator | None, ceiling: float) -> None:
    quantizers = activation_quantizers(model)
    _set_equalizers(model, quantizers, run, ceiling)
    static = [quantizer for quantizer in quantizers if isinstance(quantizer, StaticFakeQuant)]
    for quantizer in static:
        quantizer.reset_ranges()
    _observe(model, static, MinMaxObserver(), run)
    if uncalibrated := [quantizer.path for quantizer in static if not quantizer.calibrated]:
        raise KerasBertError(
            f"expected calibration data with different values at every quantizer, received none or one value at {len(uncalibrated)}: "
            f"{', '.join(uncalibrated[:3])}; pass more texts of the task"
        )
    outlier_tokens, histograms = OutlierTokenObserver(sublayers(model, IntegerLayerNorm)), _HistogramObserver()
    observers: list[Observer] = []
    if outlier_tokens.paths:
        observers.append(outlier_tokens)
    if estimator is not None:
        observers.append(histograms)
    if observers:
        _observe(model, static, _ObserverList(observers), run)
    if estimator is not None:
        histograms.set_ranges(estimator)
    outlier_tokens.set_grids()
    for quantizer in static:
        quantizer.symmetrize_ranges()


def _set_equalizers(
    model: Task, quantizers: Sequence[ActivationFakeQuant], run: Callable[[], None], ceiling: float
) -> None:
    equalizers = [(quantizer, quantizer.equalizer) for quantizer in quantizers if quantizer.equalizer is not None]
    if not equalizers:
        return
    for _, equalizer in equalizers:
        equalizer.assign(tf.zeros_like(equalizer))
    # At all quantizers: an observer before scaling also suspends the scales that other layers carry.
    _observe(model, quantizers, _ChannelPeakObserver(), run)
    for quantizer, equalizer in equalizers:
        equalizer.assign(channel_factors(equalizer.numpy(), min(ceiling, quantizer.peak_ceiling)))


def channel_factors(peaks: np.ndarray, ceiling: float) -> np.ndarray:
    """Return the equalization scale of each channel, `(H,)`, at most 1.

    Args:
        peaks: The largest magnitude of each channel, `(H,)`.
        ceiling: Scaled peaks are at most this multiple of the median peak.
    """
    limit = ceiling * float(np.median(peaks))
    return np.minimum(1.0, limit / np.maximum(peaks, 1e-9)).astype(np.float32) if limit > 0 else np.ones_like(peaks)


def _observe(
    model: Task, quantizers: Sequence[ActivationFakeQuant], observer: Observer, run: Callable[[], None]
) -> None:
    for quantizer in quantizers:
        quantizer.observer = observer
    model.forget_traces()  # a trace fixes whether a quantizer has an observer
    try:
        run()
    finally:
        for quantizer in quantizers:
            quantizer.observer = None
        model.forget_traces()


class _ChannelPeakObserver:
    """Observer that stores the largest magnitude of each channel in the equalizers."""

    before_scaling = True

    def __call__(self, quantizer: ActivationFakeQuant, values: tf.Tensor) -> tf.Tensor:
        if quantizer.equalizer is not None:
            magnitudes = tf.abs(tf.cast(values, tf.float32))
            peaks = tf.reduce_max(magnitudes, axis=list(range(len(values.shape) - 1)))
            quantizer.equalizer.assign(tf.maximum(quantizer.equalizer, peaks))
        return values


class _ObserverList:
    """Several observers in one run."""

    before_scaling = False

    def __init__(self, observers: Sequence[Observer]):
        self._observers = observers

    def __call__(self, quantizer: ActivationFakeQuant, values: tf.Tensor) -> tf.Tensor:
        for observer in self._observers:
            values = observer(quantizer, values)
        return values


class MinMaxObserver:
    """Observer that widens variable ranges to the smallest and the largest value."""

    before_scaling = False

    def __call__(self, quantizer: StaticFakeQuant, values: tf.Tensor) -> tf.Tensor:
        if quantizer.has_variable_range:
            minimum, maximum = quantizer.minimum, quantizer.maximum
            minimum.assign(tf.minimum(minimum, tf.cast(tf.reduce_min(values), tf.float32)))
            maximum.assign(tf.maximum(maximum, tf.cast(tf.reduce_max(values), tf.float32)))
        return values


class _HistogramObserver:
    """Observer of histograms between the minimum and the maximum, which are known already."""

    before_scaling = False

    def __init__(self):
        self._counts: dict[tuple[str, int], tuple[StaticFakeQuant, tf.Variable]] = {}

    def __call__(self, quantizer: StaticFakeQuant, values: tf.Tensor) -> tf.Tensor:
        if not quantizer.has_variable_range or quantizer.calibration_only:
            return values
        key = (quantizer.path, quantizer.call_index)
        if key not in self._counts:
            with tf.init_scope():
                self._counts[key] = quantizer, tf.Variable(tf.zeros(BINS, tf.int64))
        bounds = tf.stack([quantizer.minimum, quantizer.maximum])
        counts = tf.histogram_fixed_width(tf.reshape(tf.cast(values, tf.float32), [-1]), bounds, BINS, tf.int64)
        self._counts[key][1].assign_add(counts)
        return values

    def set_ranges(self, estimator: RangeEstimator) -> None:
        """Narrow every observed range to the estimator's."""
        for (_, call), (quantizer, counts) in self._counts.items():
            minimum, maximum = quantizer.ranges[call]
            low, high = estimator(counts.numpy(), float(minimum), float(maximum))
            minimum.assign(min(low, quantizer.must_include))
            maximum.assign(max(high, 0.0))
