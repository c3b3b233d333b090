"""Plots of the quantization loss by tensor."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kerasbert.compression.quantization.diagnosis import STORED, PointLoss, worst_first
from kerasbert.compression.quantization.output_effects import OutputEffects
from kerasbert.files.atomic import atomic_file
from kerasbert.files.own_files import PLOT, check_own, mark

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CEILING = 80.0  # dB: the height of a tensor without loss


def plot_losses(losses: Sequence[PointLoss], path: str | os.PathLike, effects: OutputEffects | None = None) -> None:
    """Plot signal-to-noise ratios in order of execution: accumulated at each activation, and of each tensor alone.

    Args:
        losses: What `diagnose` returns.
        path: The file to write, `.png` or `.svg`.
        effects: Adds a plot of the output error with one tensor alone in 8 bits.

    Raises:
        KerasBertError: When `path` exists and is no plot of kerasbert's.
    """
    from matplotlib.figure import Figure

    size = (min(max(8.0, 0.09 * len(losses)), 24.0), 5.2 if effects is None else 7.6)
    figure = Figure(figsize=size, layout="constrained")
    grid = {"height_ratios": [5] if effects is None else [5, 2]}
    upper, *others = figure.subplots(1 if effects is None else 2, sharex=True, squeeze=False, gridspec_kw=grid).ravel()
    _draw_ratios(upper, losses)
    if effects is not None:
        _draw_errors(others[0], losses, effects)
    last = others[-1] if others else upper
    starts = [i for i in range(len(losses)) if _layer(losses[i].path) != _layer(losses[i - 1].path if i else "")]
    last.set_xticks(starts, [_layer(losses[i].path) for i in starts], rotation=60, ha="right", fontsize=7)
    check_own(path, PLOT, "a plot")
    with atomic_file(path) as partial:
        suffix = os.fspath(path).rpartition(".")[2]
        metadata = {"Title" if suffix == "svg" else "Software": mark(PLOT)}
        figure.savefig(partial, format=suffix, dpi=120, metadata=metadata)


def _draw_ratios(axes: Axes, losses: Sequence[PointLoss]) -> None:
    activations = [(i, loss) for i, loss in enumerate(losses) if loss.kind not in STORED]
    accumulated = [_height(loss.signal_to_noise) for _, loss in activations]
    axes.plot([i for i, _ in activations], accumulated, color="tab:blue", label="all in 8 bits, up to here")
    series = {"tab:orange": ("activation alone", False), "tab:green": ("kernel or table alone", True)}
    for color, (label, stored) in series.items():
        selected = [
            (i, loss) for i, loss in enumerate(losses) if (loss.kind in STORED) == stored and loss.kind != "float"
        ]
        heights = [_height(loss.least_signal_to_noise) for _, loss in selected]
        axes.scatter([i for i, _ in selected], heights, s=12, color=color, label=label)
    for loss in worst_first(losses)[:3]:
        point = losses.index(loss), _height(loss.least_signal_to_noise)
        axes.annotate(loss.path, point, fontsize=7, rotation=20, xytext=(3, -8), textcoords="offset points")
    axes.set_ylabel(f"signal-to-noise, dB ({_CEILING:.0f}: nothing lost)")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, loc="upper center", ncols=3, bbox_to_anchor=(0.5, 1.1))


def _draw_errors(axes: Axes, losses: Sequence[PointLoss], effects: OutputEffects) -> None:
    """Bars of the output error of each tensor, and a line for all tensors together."""
    errors = [(i, effects.alone[loss.key].error) for i, loss in enumerate(losses) if loss.key in effects.alone]
    axes.bar([i for i, _ in errors], [100 * _finite(error) for _, error in errors], color="tab:orange", width=0.8)
    axes.axhline(100 * _finite(effects.together.error), color="tab:blue", linewidth=1, label="all in 8 bits")
    axes.set_ylabel("output error, %\none alone in 8 bits")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, loc="upper right")


def _finite(error: float) -> float:
    return error if math.isfinite(error) else 1.0


def _height(decibels: float) -> float:
    return min(decibels, _CEILING) if math.isfinite(decibels) else _CEILING


def _layer(path: str) -> str:
    """The layer of a path: `layers.3` for `layers.3.attention.query.output`, else the first component."""
    components = path.split(".")
    return ".".join(components[:2]) if components[0] == "layers" else components[0]
