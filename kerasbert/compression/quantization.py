"""Quantization-aware training: the same task, with tfmot's quantizers at its named points."""

import numpy as np
import tensorflow as tf

from kerasbert.encoders.base import activation_points
from kerasbert.errors import KerasBertError
from kerasbert.layers.points import QuantizationPolicy

# Q8BERT (Zafrir et al. 2019): softmax, norms and GELU stay in float; the denses of attention and the pooler are int8 with trained ranges.
# The denses of the feed-forward network find their ranges at run time: one reads the few channels that are 10 to 30 times the median one,
# the other writes them, and one static range for such a tensor leaves the other channels a handful of values. The head's logits decide,
# and cost nothing. An adapter reads what a feed-forward network writes, and what it writes itself is near zero until it is trained.
_STATIC = (
    ("*.feed_forward.input", "dynamic"),
    ("*.feed_forward.intermediate.output", "float"),
    ("*.feed_forward.hidden", "dynamic"),
    ("*.feed_forward.output_dense.output", "float"),
    ("classifier.input", "dynamic"),
    ("classifier.output", "float"),
    ("*adapter.input", "dynamic"),
    ("*adapter.hidden", "dynamic"),
    ("*adapter.*.output", "float"),
    ("*", "static"),
)

# What the first feed-forward dense reads is scaled channel by channel, so that no channel is larger than this many median ones.
_EQUALIZED = ("*.feed_forward.input",)
OUTLIER_CEILING = 4.0

POLICIES = {
    "static_wi8_ai8": QuantizationPolicy("static_wi8_ai8", activations=_STATIC, equalized=_EQUALIZED),
    "dynamic_wi8_afp32": QuantizationPolicy("dynamic_wi8_afp32"),
}


def quantize(model, recipe: str | QuantizationPolicy = "static_wi8_ai8", calibration=None, batch_size: int = 32):
    """The same class of task, weights copied, whose dense kernels, tables and activations are held in 8 bits while it trains.

    recipe: `static_wi8_ai8` or `dynamic_wi8_afp32` (weights only), or a policy of your own. calibration: texts (or anything `predict`
    takes) that set the first ranges of static points; a few hundred of the training texts will do. Then `compile` and `fit` as usual.

    Raises KerasBertError for an unknown recipe, and when a static recipe gets no calibration data.
    """
    if isinstance(recipe, str):
        if recipe not in POLICIES:
            raise KerasBertError(f"expected a recipe with a training policy of {sorted(POLICIES)}, received {recipe!r}")
        recipe = POLICIES[recipe]
    quantized = model.with_policy(recipe)
    if any(point.kind == "static" for point in activation_points(quantized)):
        if calibration is None or (isinstance(calibration, list | tuple | np.ndarray) and len(calibration) == 0):
            raise KerasBertError(
                f"expected calibration texts for {recipe.recipe!r}, received none: its activation ranges start from data"
            )
        calibrate(quantized, calibration, batch_size)
    return quantized


def calibrate(model, data, batch_size: int = 32) -> None:
    """Sets equalizers, then every static range to the smallest and largest value seen over `data`; nothing quantizes meanwhile.

    Raises KerasBertError naming the points that saw nothing, or nothing but zeros; the model then is as it was.
    """
    statistics = [(variable, variable.numpy()) for point in activation_points(model) for variable in point.variables]
    try:
        _calibrate(model, data, batch_size)
    except BaseException:
        for variable, value in statistics:
            variable.assign(value)
        raise


def _calibrate(model, data, batch_size: int) -> None:
    points = activation_points(model)
    equalized = [point for point in points if point.equalizer is not None]
    if equalized:
        for point in equalized:
            point.equalizer.assign(tf.zeros_like(point.equalizer))
        _observe(model, points, "channels", data, batch_size)
        for point in equalized:
            point.equalizer.assign(_equalizer(point.equalizer.numpy()))
    static = [point for point in points if point.kind == "static"]
    for point in static:
        for bound in (bound for bounds in point.ranges for bound in bounds):
            bound.assign(0.0)
    _observe(model, static, "range", data, batch_size)
    unseen = [point.path for point in static if not point.calibrated]
    if unseen:
        raise KerasBertError(
            f"expected calibration data to reach every point, {len(unseen)} saw none or only zeros: {', '.join(unseen[:3])}"
        )


def _observe(model, points, what: str, data, batch_size: int) -> None:
    for point in points:
        point.observing = what
    model.forget_traces()  # whether a point observes is fixed in a trace
    try:
        if isinstance(data, tf.data.Dataset):
            model.predict(data, batch_size=batch_size)
        else:  # what is read, without what it is an answer to: a masked language model has none to texts without gaps
            model.readings(model.rows(data, scoring=True)[1], batch_size)
    finally:
        for point in points:
            point.observing = None
        model.forget_traces()


def _equalizer(peaks: np.ndarray) -> np.ndarray:
    """(H,) factors of at most 1 from the largest size of each channel: outliers come down to a few times the median channel."""
    ceiling = OUTLIER_CEILING * float(np.median(peaks))
    return np.minimum(1.0, ceiling / np.maximum(peaks, 1e-9)).astype(np.float32) if ceiling > 0 else np.ones_like(peaks)
