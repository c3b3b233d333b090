"""Where a quantized model loses the signal: every tensor of it, in float and in 8 bits, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kerasbert.compression.quantization.known_tokens import check_words
from kerasbert.compression.quantization.observers import (
    Key,
    Place,
    attended_values,
    key_of,
    kind_of,
    observed,
    packed,
    quantized,
)
from kerasbert.compression.quantization.signal_to_noise import cosine, decibels, signal_to_noise
from kerasbert.errors import KerasBertError
from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.norms import LayerNorm
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant, activation_quantizers
from kerasbert.layers.quantization.norms import SQUARES
from kerasbert.layers.traversal import sublayers

STORED = ("kernel", "table", "constant")  # kinds of what the file holds; the others are activations
NOTHING_LEFT = 6.0  # dB, or one bit: noise is half of the signal


@dataclass(frozen=True)
class PointLoss:
    """What 8 bits do to one tensor: an activation over the tokens that are no padding, a kernel, a table or a constant.

    A channel is a value of the last axis (of attention's scores and probabilities: a head; of a kernel: an output). A row is a token, of
    a kernel an input, of a table a word. The two grids of a norm's sums of squares are one tensor: each row is judged on its own grid.

    Attributes:
      path, call: the point, and which of the calls of a layer that is called several times.
      kind: `static`, `dynamic`, `float`, `kernel`, `table` or `constant`.
      signal_to_noise: of the tensor against the float one, in dB: what was lost up to here. Of what is stored, the same as the next.
      own_signal_to_noise: of the float tensor in this point's 8 bits: what is lost here alone. Large values decide it.
      channel_signal_to_noise, row_signal_to_noise: the same of the median channel and of the median row. Of what a norm only squares and
        adds up by rows, such as a stream without its scales, small channels do not count: both are the row's.
      lost_channels: share of channels below 10 dB.
      cosine: of all values to the float ones.
      minimum, maximum: of the float values.
      range: what 8 bits are spread over; None for one found at run time, and of kernels, whose channels have their own.
      outlier_share: share of the values further from the mean than 6 standard deviations.
      channel_ratio: the largest channel's peak over the median channel's.
      largest_channel: the number of that channel.
      row_ratio, largest_row: the same of rows; 1 and 0 where a row is no unit of its own (attention's scores).
      clipped_share: share of the values out of range.
    """

    path: str
    call: int
    kind: str
    signal_to_noise: float
    own_signal_to_noise: float
    channel_signal_to_noise: float
    row_signal_to_noise: float
    lost_channels: float
    cosine: float
    minimum: float
    maximum: float
    range: tuple[float, float] | None
    outlier_share: float
    channel_ratio: float
    largest_channel: int
    row_ratio: float
    largest_row: int
    clipped_share: float

    @property
    def least_signal_to_noise(self) -> float:
        """The smallest of what is lost here alone over all values, in the median channel and in the median row."""
        return min(self.own_signal_to_noise, self.channel_signal_to_noise, self.row_signal_to_noise)

    @property
    def key(self) -> Key:
        """Path and call: what `measure_effects` takes."""
        return self.path, self.call


def diagnose(task, data, rows: int = 64) -> list[PointLoss]:
    """Runs a quantized task in float and in 8 bits, and says of every tensor in 8 bits what was lost there, in the order of execution.

    data: texts, or anything that the task predicts on; the first `rows` token rows of it count. Of a task whose activations stay in float
    (a recipe that stores kernels in 8 or 4 bits, and no more) activations tell what kernels and tables lost up to there, and lose nothing
    themselves.

    Raises KerasBertError for a task that is not quantized, for fewer than one row, and for data without a word.
    """
    check_quantized(task, rows)
    found = task.features(data, scoring=True)[1]
    check_words(task, found, "run float and 8 bits on them")
    inputs = packed(task, found, range(min(rows, len(found))))
    attended = inputs["attention_mask"].numpy().astype(bool)
    in_float = _InFloat(task, attended)
    in_bits = _InBits(in_float)
    for observer in (in_float, in_bits):
        with observed(task, observer):
            task.serve(inputs)  # eagerly: what a point holds is there at once
    return [replace(loss, **in_bits.reached.get(key, {})) for key, loss in in_float.losses.items()]


def check_quantized(task, rows: int) -> None:
    """Raises KerasBertError for a task that is not quantized, and for fewer than one row."""
    if task.policy is None:
        raise KerasBertError("expected a quantized task, received one in float; quantize it first, or name a recipe")
    if rows < 1:
        raise KerasBertError(f"expected at least one row to run, received {rows}")


def only_kernels(losses: Sequence[PointLoss]) -> bool:
    """Whether all that was lost is what kernels and tables in few bits cost: no activation is held in 8 bits itself."""
    return all(loss.kind in ("float", "kernel", "table") for loss in losses)


def worst_first(losses: Sequence[PointLoss]) -> list[PointLoss]:
    """Those first that lose most by themselves, in all values or in their typical channel or row.

    What loses a bit more or less than all of its signal is in the order of execution: where the fault begins comes first.
    """
    return sorted(losses, key=lambda loss: max(loss.least_signal_to_noise, NOTHING_LEFT))


class _InFloat:
    """An observer that leaves everything in float, and judges what 8 bits would make of each tensor."""

    def __init__(self, task, attended: np.ndarray):
        self.attended = attended
        self.before_scaling = all(point.kind == "float" for point in activation_quantizers(task))
        self._squared = {f"{norm.path}.unscaled" for norm in sublayers(task, LayerNorm)}
        self.losses: dict[Key, PointLoss] = {}
        self.values: dict[Key, np.ndarray] = {}
        self._fine: np.ndarray | None = None

    def __call__(self, place: Place, x):
        if isinstance(place, ActivationFakeQuant):
            self._activation(place, x)
        elif key_of(place) not in self.losses:
            self._stored(place, x)
        return x

    def _activation(self, point: ActivationFakeQuant, x) -> None:
        values, units = attended_values(x.numpy(), self.attended)
        given = x if point.kind == "float" else quantized(point, x)
        after = attended_values(given.numpy(), self.attended)[0]
        bounds = tuple(map(float, point.ranges[point.call_index])) if point.ranges else None
        self.values[key_of(point)] = values
        parent, _, name = point.path.rpartition(".")
        if name == SQUARES[0]:
            self._fine = after
        elif name == SQUARES[1]:  # a norm takes the larger of the two: see `LayerNorm`
            after = np.maximum(self._fine, after)
            fine = self.losses[f"{parent}.{SQUARES[0]}", point.call_index]
            self.losses[fine.key] = _loss(fine.key, point.kind, values, after, fine.range, units)
        loss = _loss(key_of(point), point.kind, values, after, bounds, units)
        if point.path in self._squared:
            loss = replace(loss, channel_signal_to_noise=loss.row_signal_to_noise)
        self.losses[loss.key] = loss

    def _stored(self, place: Place, x) -> None:
        if isinstance(place, EmbeddingTable):  # all of it, and not only the rows that these texts look up
            x = place.float_table()
        before, after = (np.asarray(values, np.float32) for values in (x, quantized(place, x)))
        before, after = (values.reshape(-1, values.shape[-1]) for values in (before, after))
        bounds = None if kind_of(place) == "kernel" else (float(after.min()), float(after.max()))
        self.losses[key_of(place)] = _loss(key_of(place), kind_of(place), before, after, bounds)


class _InBits:
    """An observer that quantizes everything, and compares activations with what they were in float."""

    def __init__(self, in_float: _InFloat):
        self.before_scaling, self._in_float = in_float.before_scaling, in_float
        self.reached: dict[Key, dict[str, float]] = {}
        self._fine: np.ndarray | None = None

    def __call__(self, place: Place, x):
        if not isinstance(place, ActivationFakeQuant):
            return quantized(place, x)
        given = x if place.kind == "float" else quantized(place, x)
        values = attended_values(given.numpy(), self._in_float.attended)[0]
        self.reached[key_of(place)] = self._against_float(key_of(place), values)
        parent, _, name = place.path.rpartition(".")
        if name == SQUARES[0]:
            self._fine = values
        elif name == SQUARES[1]:
            both = self._against_float(key_of(place), np.maximum(self._fine, values))
            self.reached |= {key_of(place): both, (f"{parent}.{SQUARES[0]}", place.call_index): both}
        return given

    def _against_float(self, key: Key, values: np.ndarray) -> dict[str, float]:
        wanted = self._in_float.values[key]
        return {"signal_to_noise": decibels(wanted, values), "cosine": cosine(wanted, values)}


def _loss(
    key: Key, kind: str, values: np.ndarray, after: np.ndarray, bounds: tuple[float, float] | None, units: bool = True
) -> PointLoss:
    """Of (rows, channels) before and after 8 bits. units: whether a row is one token."""
    own = signal_to_noise(values, after, units)
    clips = bounds is not None and kind == "static"
    outside = float(((values < bounds[0]) | (values > bounds[1])).mean()) if clips else 0.0
    sizes = np.abs(values)
    channels, rows = sizes.max(0), sizes.max(1) if units else np.ones(1)
    spread = float(values.std())
    return PointLoss(
        *key, kind,
        signal_to_noise=own.whole, own_signal_to_noise=own.whole, channel_signal_to_noise=own.channel,
        row_signal_to_noise=own.row, lost_channels=own.lost_channels, cosine=cosine(values, after),
        minimum=float(values.min()), maximum=float(values.max()), range=bounds,
        outlier_share=float((np.abs(values - values.mean()) > 6 * spread).mean()) if spread else 0.0,
        channel_ratio=_ratio(channels), largest_channel=int(channels.argmax()),
        row_ratio=_ratio(rows), largest_row=int(rows.argmax()), clipped_share=outside,
    )  # fmt: skip


def _ratio(peaks: np.ndarray) -> float:
    return float(peaks.max() / max(np.median(peaks), 1e-12))
