"""Pictures of what quantization costs where."""

import math
import os
from collections.abc import Sequence

from kerasbert.compression.diagnosis import PointLoss, only_kernels, worst_first
from kerasbert.files import atomic_file

_LOUDEST = 80.0  # dB: what is drawn for a point without any loss


def plot_losses(losses: Sequence[PointLoss], path: str | os.PathLike) -> None:
    """Draws signal-to-noise over the points in the order of execution: what is lost up to each, and by each alone; .png or .svg."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(min(max(8.0, 0.09 * len(losses)), 24.0), 5.2), layout="constrained")
    axes = figure.subplots()
    places = range(len(losses))
    axes.plot(places, [_shown(loss.signal_to_noise) for loss in losses], color="tab:blue", label="up to here")
    alone = not only_kernels(losses)
    if alone:
        own = [_shown(loss.own_signal_to_noise) for loss in losses]
        axes.scatter(places, own, s=12, color="tab:orange", label="by this point alone")
    for loss in worst_first(losses)[:5]:
        height = _shown(loss.own_signal_to_noise if alone else loss.signal_to_noise)
        axes.annotate(
            loss.path, (losses.index(loss), height), fontsize=7, rotation=20, xytext=(3, -8), textcoords="offset points"
        )
    starts = [
        place for place in places if _layer(losses[place].path) != _layer(losses[place - 1].path if place else "")
    ]
    axes.set_xticks(starts, [_layer(losses[place].path) for place in starts], rotation=60, ha="right", fontsize=7)
    axes.set_ylabel(f"signal-to-noise, dB ({_LOUDEST:.0f}: nothing lost)")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, loc="upper center", ncols=2, bbox_to_anchor=(0.5, 1.1))
    with atomic_file(path) as partial:
        figure.savefig(partial, format=os.fspath(path).rpartition(".")[2], dpi=120)


def _shown(decibels: float) -> float:
    return min(decibels, _LOUDEST) if math.isfinite(decibels) else _LOUDEST


def _layer(path: str) -> str:
    """`layers.3` of `layers.3.attention.query.output`; else the first word."""
    words = path.split(".")
    return ".".join(words[:2]) if words[0] == "layers" else words[0]
