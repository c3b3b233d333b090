"""Where a quantized model loses the signal: every point of it, in float and in 8 bits, side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import tensorflow as tf

from kerasbert.compression.words import check_words
from kerasbert.encoders.base import activation_points
from kerasbert.errors import KerasBertError
from kerasbert.layers.points import ActivationPoint


@dataclass(frozen=True)
class PointLoss:
    """What 8 bits do to one tensor, over the tokens that are no padding.

    signal_to_noise: of the tensor against the float one, in dB: what was lost up to here. own_signal_to_noise: of the tensor against
    itself before this point, what is lost here alone. cosine: of all values to the float ones. minimum, maximum: of the float values.
    range: what 8 bits are spread over, or None for one found at run time. outlier_share: of the values further from the mean than 6
    standard deviations. channel_ratio: the largest channel's peak over the median channel's. clipped_share: of the values out of range.
    """

    path: str
    call: int
    kind: str
    signal_to_noise: float
    own_signal_to_noise: float
    cosine: float
    minimum: float
    maximum: float
    range: tuple[float, float] | None
    outlier_share: float
    channel_ratio: float
    clipped_share: float


def diagnose(task, data, rows: int = 64) -> list[PointLoss]:
    """Runs a quantized task and the same weights in float side by side, and says of every point what was lost there, in the order of
    execution.

    data: texts, or anything that the task predicts on; the first `rows` token rows of it count. Of a task whose activations stay in float
    (a recipe that stores kernels in 8 or 4 bits, and no more) every point tells what kernels and tables lost up to there, and loses nothing
    itself.

    Raises KerasBertError for a task that is not quantized, for fewer than one row, and for data without a word.
    """
    if task.policy is None:
        raise KerasBertError("expected a quantized task, received one in float; quantize it first, or name a recipe")
    if rows < 1:
        raise KerasBertError(f"expected at least one row to run, received {rows}")
    inputs, attended = _inputs(task, data, rows)
    reference = task.with_policy(replace(task.policy, kernels=False, tables=False))
    for mine, theirs in zip(activation_points(reference), activation_points(task), strict=True):
        if theirs.equalizer is not None:
            mine.equalizer.assign(theirs.equalizer)
    in_float = all(point.kind == "float" for point in activation_points(task))
    plain, held = _Recorder(False, in_float), _Recorder(not in_float, in_float)
    plain.run(reference, inputs)
    held.run(task, inputs)
    return list(_losses(plain, held, attended))


def only_kernels(losses: Sequence[PointLoss]) -> bool:
    """Whether all that was lost is what kernels and tables in few bits cost: no point holds anything in 8 bits itself."""
    return all(loss.kind == "float" for loss in losses)


def worst_first(losses: Sequence[PointLoss]) -> list[PointLoss]:
    """Those first that lose most by themselves; where no point does, those that the kernels' loss reaches most."""
    kernels = only_kernels(losses)
    return sorted(losses, key=lambda loss: loss.signal_to_noise if kernels else loss.own_signal_to_noise)


def _inputs(task, data, rows: int) -> tuple[dict, np.ndarray]:
    found = task.rows(data, scoring=True)[1]
    check_words(task, found, "run float and 8 bits on them")
    wanted = range(min(rows, len(found)))
    longest = max(len(found.tokens.input_ids[i]) for i in wanted)
    packed = found.pack(wanted, min(-(-longest // 8) * 8, task.sequence_length), task.config.pad_token_id)
    flat = {name: tf.constant(values.reshape(-1, values.shape[-1])) for name, values in packed.items()}
    return flat, flat["attention_mask"].numpy().astype(bool)


class _Recorder:
    """An observer that keeps what points take and give. before_scaling: whether it is asked at points in float as well."""

    def __init__(self, quantizes: bool, before_scaling: bool):
        self.quantizes, self.before_scaling = quantizes, before_scaling
        self.found: dict[tuple[str, int], tuple[ActivationPoint, np.ndarray, np.ndarray]] = {}

    def run(self, task, inputs) -> None:
        points = activation_points(task)
        for point in points:
            point.observer = self
        try:
            task.serve(inputs)  # eagerly: what a point holds is there at once
        finally:
            for point in points:
                point.observer = None

    def __call__(self, point: ActivationPoint, x):
        given = point.quantized(x) if self.quantizes else x
        self.found[point.path, point.turn] = point, x.numpy(), given.numpy()
        return given


def _losses(plain: _Recorder, held: _Recorder, attended: np.ndarray) -> Iterator[PointLoss]:
    for (path, call), (point, before, after) in held.found.items():
        wanted = plain.found[path, call][1]
        wanted, before, after = (_attended(values, attended) for values in (wanted, before, after))
        bounds = tuple(map(float, point.ranges[call])) if point.ranges else None
        outside = 0.0 if bounds is None else float(((before < bounds[0]) | (before > bounds[1])).mean())
        peaks = np.abs(wanted.reshape(len(wanted), -1)).max(0)
        spread = float(wanted.std())
        yield PointLoss(
            path, call, point.kind,
            signal_to_noise=_decibels(wanted, after), own_signal_to_noise=_decibels(before, after), cosine=_cosine(wanted, after),
            minimum=float(wanted.min()), maximum=float(wanted.max()), range=bounds,
            outlier_share=float((np.abs(wanted - wanted.mean()) > 6 * spread).mean()) if spread else 0.0,
            channel_ratio=float(peaks.max() / max(np.median(peaks), 1e-12)), clipped_share=outside,
        )  # fmt: skip


def _attended(values: np.ndarray, attended: np.ndarray) -> np.ndarray:
    """The values of tokens that are no padding: (B, S, ...) -> (tokens, ...), attention's (B, N, S, S) by both; others as they are."""
    if values.ndim == 3 and values.shape[:2] == attended.shape:
        return values[attended]
    if values.ndim == 4 and values.shape[0] == len(attended) and values.shape[2:] == (attended.shape[1],) * 2:
        both = attended[:, None, :, None] & attended[:, None, None, :]
        return values[np.broadcast_to(both, values.shape)]
    return values


def _decibels(signal: np.ndarray, found: np.ndarray) -> float:
    noise = float(np.square(found - signal, dtype=np.float64).sum())
    power = float(np.square(signal, dtype=np.float64).sum())
    if noise == 0:
        return float("inf")
    return 10 * float(np.log10(max(power, 1e-30) / noise))


def _cosine(one: np.ndarray, other: np.ndarray) -> float:
    one, other = one.ravel().astype(np.float64), other.ravel().astype(np.float64)
    norms = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / norms if norms else float(not (one.any() or other.any()))
