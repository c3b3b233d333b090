"""Pictures of what quantization costs where."""

import math
import os
from collections.abc import Sequence

from kerasbert.compression.quantization.diagnosis import STORED, PointLoss, worst_first
from kerasbert.compression.quantization.output_effects import OutputEffects
from kerasbert.files.atomic import atomic_file
from kerasbert.files.own_files import PLOT, check_own, mark

_LOUDEST = 80.0  # dB: what is drawn for a point without any loss


def plot_losses(losses: Sequence[PointLoss], path: str | os.PathLike, effects: OutputEffects | None = None) -> None:
    """Draws signal-to-noise over the tensors in the order of execution: what is lost up to each activation, and by each tensor alone.

    effects: adds a picture of the output's error with one tensor alone in 8 bits, of those that were run. .png or .svg.
    """
    from matplotlib.figure import Figure

    size = (min(max(8.0, 0.09 * len(losses)), 24.0), 5.2 if effects is None else 7.6)
    figure = Figure(figsize=size, layout="constrained")
    shares = {"height_ratios": [5] if effects is None else [5, 2]}
    upper, *others = figure.subplots(
        1 if effects is None else 2, sharex=True, squeeze=False, gridspec_kw=shares
    ).ravel()
    _draw_ratios(upper, losses)
    for lower in others:
        _draw_errors(lower, losses, effects)
    last = others[-1] if others else upper
    starts = [i for i in range(len(losses)) if _layer(losses[i].path) != _layer(losses[i - 1].path if i else "")]
    last.set_xticks(starts, [_layer(losses[i].path) for i in starts], rotation=60, ha="right", fontsize=7)
    check_own(path, PLOT, "a plot")
    with atomic_file(path) as partial:
        kind = os.fspath(path).rpartition(".")[2]
        figure.savefig(partial, format=kind, dpi=120, metadata={"Title" if kind == "svg" else "Software": mark(PLOT)})


def _draw_ratios(axes, losses: Sequence[PointLoss]) -> None:
    activations = [(i, loss) for i, loss in enumerate(losses) if loss.kind not in STORED]
    reached = [_shown(loss.signal_to_noise) for _, loss in activations]
    axes.plot([i for i, _ in activations], reached, color="tab:blue", label="all in 8 bits, up to here")
    kinds = {"tab:orange": ("activation alone", False), "tab:green": ("kernel, table or constant alone", True)}
    for color, (label, stored) in kinds.items():
        chosen = [
            (i, loss) for i, loss in enumerate(losses) if (loss.kind in STORED) == stored and loss.kind != "float"
        ]
        heights = [_shown(loss.least_signal_to_noise) for _, loss in chosen]
        axes.scatter([i for i, _ in chosen], heights, s=12, color=color, label=label)
    for loss in worst_first(losses)[:3]:
        place = losses.index(loss), _shown(loss.least_signal_to_noise)
        axes.annotate(loss.path, place, fontsize=7, rotation=20, xytext=(3, -8), textcoords="offset points")
    axes.set_ylabel(f"signal-to-noise, dB ({_LOUDEST:.0f}: nothing lost)")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, loc="upper center", ncols=3, bbox_to_anchor=(0.5, 1.1))


def _draw_errors(axes, losses: Sequence[PointLoss], effects: OutputEffects) -> None:
    """Bars of the output's error, and a line for all tensors together."""
    run = [(i, effects.alone[loss.key].error) for i, loss in enumerate(losses) if loss.key in effects.alone]
    axes.bar([i for i, _ in run], [100 * _finite(error) for _, error in run], color="tab:orange", width=0.8)
    axes.axhline(100 * _finite(effects.together.error), color="tab:blue", linewidth=1, label="all in 8 bits")
    axes.set_ylabel("output error, %\none alone in 8 bits")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, loc="upper right")


def _finite(error: float) -> float:
    return error if math.isfinite(error) else 1.0


def _shown(decibels: float) -> float:
    return min(decibels, _LOUDEST) if math.isfinite(decibels) else _LOUDEST


def _layer(path: str) -> str:
    """`layers.3` of `layers.3.attention.query.output`; else the first word."""
    words = path.split(".")
    return ".".join(words[:2]) if words[0] == "layers" else words[0]
