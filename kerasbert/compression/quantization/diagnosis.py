"""Quantization loss of every tensor of a model: activations, kernels and tables, in float and in 8 bits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tensorflow as tf

from kerasbert.compression.quantization.known_tokens import check_known_tokens
from kerasbert.compression.quantization.observers import (
    Quantizer,
    QuantizerKey,
    attended_values,
    fake_quantize,
    observe_quantizers,
    pack_rows,
    quantizer_key,
    quantizer_kind,
)
from kerasbert.compression.quantization.signal_to_noise import cosine, decibels, signal_to_noise
from kerasbert.errors import KerasBertError
from kerasbert.layers.norms import LayerNorm
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant, activation_quantizers
from kerasbert.layers.quantization.embedding_table import QuantizedEmbeddingTable
from kerasbert.layers.quantization.norms import SQUARES
from kerasbert.layers.traversal import sublayers
from kerasbert.tasks.base import Task

STORED = ("kernel", "table")  # kinds of tensors that the file stores; all others are activations
NOTHING_LEFT = 6.0  # dB, or one bit: the noise is half of the signal


@dataclass(frozen=True)
class PointLoss:
    """The quantization loss of one tensor: an activation at all tokens but padding, a kernel or a table.

    A channel is an index of the last axis: a head for attention scores and probabilities, an output for a kernel. A row is a token for
    activations, an input for a kernel, a token id for a table. The two grids of a norm's sums of squares count as one tensor.

    Attributes:
        path: The quantizer's path.
        call: Index of the call of a layer with shared weights.
        kind: `static`, `dynamic`, `float`, `kernel` or `table`.
        signal_to_noise: Of the tensor against its float value, in dB, with every tensor in 8 bits: the loss accumulated up to here. For
            stored tensors the same as the next.
        own_signal_to_noise: Of the float tensor against itself on this quantizer's grid: the loss of this tensor alone. Large values
            dominate it.
        channel_signal_to_noise: `own_signal_to_noise` of the median channel. Where a norm only sums the squares of each row, it is
            `row_signal_to_noise`, since small channels do not matter there.
        row_signal_to_noise: `own_signal_to_noise` of the median row.
        lost_channels: Fraction of channels below 10 dB.
        cosine: Cosine similarity to the float tensor, with every tensor in 8 bits.
        minimum: Smallest float value.
        maximum: Largest float value.
        range: Range of the 8-bit grid. None where it is found at run time, and for kernels, which have one range a channel.
        outlier_share: Fraction of values more than 6 standard deviations from the mean.
        channel_ratio: Peak of the largest channel over the peak of the median channel.
        largest_channel: Index of the largest channel.
        row_ratio: Peak of the largest row over that of the median row; 1 for attention scores, whose rows are no tokens.
        largest_row: Index of the largest row; 0 for attention scores.
        clipped_share: Fraction of values outside of the range.

    Example:
        ```python
        from kerasbert.compression import diagnose
        worst = min(diagnose(int8, texts, rows=8), key=lambda point: point.least_signal_to_noise)
        worst.path, worst.own_signal_to_noise, worst.clipped_share
        ```
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
        """The smallest of this tensor's own ratios: of all values, of the median channel and of the median row."""
        return min(self.own_signal_to_noise, self.channel_signal_to_noise, self.row_signal_to_noise)

    @property
    def key(self) -> QuantizerKey:
        """Path and call index, as `measure_effects` takes them."""
        return self.path, self.call


def diagnose(task: Task, data: Any, rows: int = 64) -> list[PointLoss]:
    """Run a quantized task in float and in 8 bits and measure the loss of every quantized tensor.

    In a weight-only task activations stay in float. They then have the loss accumulated from kernels and tables, and none of their own.

    Args:
        task: A quantized task.
        data: Texts, or anything that `predict` takes.
        rows: Number of rows to run, from the first on.

    Returns:
        The losses in order of execution.

    Raises:
        KerasBertError: When the task is not quantized, `rows` is below 1, or the data have no known token.

    Example:
        ```python
        from kerasbert.compression import diagnose
        for point in diagnose(int8, texts, rows=8)[:3]:
            print(point.path, f"{point.own_signal_to_noise:.1f} dB")
        ```
    """
    check_quantized(task, rows)
    features = task.features(data, scoring=True)[1]
    check_known_tokens(task, features, "run float and 8 bits on them")
    inputs = pack_rows(task, features, range(min(rows, len(features))))
    attended = inputs["attention_mask"].numpy().astype(bool)
    float_run = _FloatRun(task, attended)
    quantized_run = _QuantizedRun(float_run)
    for observer in (float_run, quantized_run):
        with observe_quantizers(task, observer):
            task.serve(inputs)  # eager: observers read values
    return [replace(loss, **quantized_run.accumulated.get(key, {})) for key, loss in float_run.losses.items()]


def check_quantized(task: Task, rows: int) -> None:
    """Check the arguments that `diagnose` and `measure_effects` share.

    Raises:
        KerasBertError: When the task is not quantized or `rows` is below 1.
    """
    if task.policy is None:
        raise KerasBertError("expected a quantized task, received one in float; quantize it first, or name a recipe")
    if rows < 1:
        raise KerasBertError(f"expected at least one row to run, received {rows}")


def is_weight_only(losses: Sequence[PointLoss]) -> bool:
    """Return True if only kernels and tables are quantized, and no activation."""
    return all(loss.kind in ("float", "kernel", "table") for loss in losses)


def worst_first(losses: Sequence[PointLoss]) -> list[PointLoss]:
    """Sort by `least_signal_to_noise`, smallest first.

    Losses below `NOTHING_LEFT` rank equally and keep the order of execution, so that the origin of a fault comes first.
    """
    return sorted(losses, key=lambda loss: max(loss.least_signal_to_noise, NOTHING_LEFT))


class _FloatRun:
    """Observer that keeps everything in float and measures the loss of each tensor on its own grid."""

    def __init__(self, task: Task, attended: np.ndarray):
        self.attended = attended
        self.before_scaling = all(quantizer.kind == "float" for quantizer in activation_quantizers(task))
        self._squared = {f"{norm.path}.unscaled" for norm in sublayers(task, LayerNorm)}
        self.losses: dict[QuantizerKey, PointLoss] = {}
        self.values: dict[QuantizerKey, np.ndarray] = {}
        self._fine: np.ndarray = np.zeros(0)

    def __call__(self, quantizer: Quantizer, x: tf.Tensor) -> tf.Tensor:
        if isinstance(quantizer, ActivationFakeQuant):
            self._measure_activation(quantizer, x)
        elif quantizer_key(quantizer) not in self.losses:
            self._measure_stored(quantizer, x)
        return x

    def _measure_activation(self, quantizer: ActivationFakeQuant, x: tf.Tensor) -> None:
        values, rows_are_tokens = attended_values(x.numpy(), self.attended)
        quantized = x if quantizer.kind == "float" else fake_quantize(quantizer, x)
        noisy = attended_values(quantized.numpy(), self.attended)[0]
        bounds = None
        if quantizer.ranges:
            low, high = quantizer.ranges[quantizer.call_index]
            bounds = (float(low), float(high))
        self.values[quantizer_key(quantizer)] = values
        parent, _, name = quantizer.path.rpartition(".")
        if name == SQUARES[0]:
            self._fine = noisy
        elif name == SQUARES[1]:  # a norm takes the larger of the two: see `IntegerLayerNorm`
            noisy = np.maximum(self._fine, noisy)
            fine = self.losses[f"{parent}.{SQUARES[0]}", quantizer.call_index]
            self.losses[fine.key] = _loss(fine.key, quantizer.kind, values, noisy, fine.range, rows_are_tokens)
        loss = _loss(quantizer_key(quantizer), quantizer.kind, values, noisy, bounds, rows_are_tokens)
        if quantizer.path in self._squared:
            loss = replace(loss, channel_signal_to_noise=loss.row_signal_to_noise)
        self.losses[loss.key] = loss

    def _measure_stored(self, quantizer: Quantizer, x: tf.Tensor) -> None:
        if isinstance(
            quantizer, QuantizedEmbeddingTable
        ):  # the whole table, not only the rows that these texts look up
            x = quantizer.float_table()
        values, noisy = (np.asarray(tensor, np.float32) for tensor in (x, fake_quantize(quantizer, x)))
        values, noisy = (array.reshape(-1, array.shape[-1]) for array in (values, noisy))
        bounds = None if quantizer_kind(quantizer) == "kernel" else (float(noisy.min()), float(noisy.max()))
        key = quantizer_key(quantizer)
        self.losses[key] = _loss(key, quantizer_kind(quantizer), values, noisy, bounds)


class _QuantizedRun:
    """Observer that quantizes everything and compares activations with those of the float run."""

    def __init__(self, float_run: _FloatRun):
        self.before_scaling, self._float_run = float_run.before_scaling, float_run
        self.accumulated: dict[QuantizerKey, dict[str, float]] = {}
        self._fine: np.ndarray = np.zeros(0)

    def __call__(self, quantizer: Quantizer, x: tf.Tensor) -> tf.Tensor:
        if not isinstance(quantizer, ActivationFakeQuant):
            return fake_quantize(quantizer, x)
        quantized = x if quantizer.kind == "float" else fake_quantize(quantizer, x)
        values = attended_values(quantized.numpy(), self._float_run.attended)[0]
        key = quantizer_key(quantizer)
        self.accumulated[key] = self._compare_with_float(key, values)
        parent, _, name = quantizer.path.rpartition(".")
        if name == SQUARES[0]:
            self._fine = values
        elif name == SQUARES[1]:
            both = self._compare_with_float(key, np.maximum(self._fine, values))
            self.accumulated |= {key: both, (f"{parent}.{SQUARES[0]}", quantizer.call_index): both}
        return quantized

    def _compare_with_float(self, key: QuantizerKey, values: np.ndarray) -> dict[str, float]:
        reference = self._float_run.values[key]
        return {"signal_to_noise": decibels(reference, values), "cosine": cosine(reference, values)}


def _loss(
    key: QuantizerKey,
    kind: str,
    values: np.ndarray,
    noisy: np.ndarray,
    bounds: tuple[float, float] | None,
    rows_are_tokens: bool = True,
) -> PointLoss:
    """The loss from `values` to `noisy`, both `(rows, channels)`."""
    own = signal_to_noise(values, noisy, rows_are_tokens)
    clipped = 0.0
    if bounds is not None and kind == "static":
        clipped = float(((values < bounds[0]) | (values > bounds[1])).mean())
    magnitudes = np.abs(values)
    channels, rows = magnitudes.max(0), magnitudes.max(1) if rows_are_tokens else np.ones(1)
    deviation = float(values.std())
    return PointLoss(
        *key, kind,
        signal_to_noise=own.whole, own_signal_to_noise=own.whole, channel_signal_to_noise=own.channel,
        row_signal_to_noise=own.row, lost_channels=own.lost_channels, cosine=cosine(values, noisy),
        minimum=float(values.min()), maximum=float(values.max()), range=bounds,
        outlier_share=float((np.abs(values - values.mean()) > 6 * deviation).mean()) if deviation else 0.0,
        channel_ratio=_peak_ratio(channels), largest_channel=int(channels.argmax()),
        row_ratio=_peak_ratio(rows), largest_row=int(rows.argmax()), clipped_share=clipped,
    )  # fmt: skip


def _peak_ratio(peaks: np.ndarray) -> float:
    """The largest peak over the median one."""
    return float(peaks.max() / max(np.median(peaks), 1e-12))
