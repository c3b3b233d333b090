"""A comparison as a picture: score against size and against latency."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kerasbert.export.comparison.page import cost_points
from kerasbert.export.comparison.results import ComparisonRecord
from kerasbert.export.reporting.frontier import Point, frontier
from kerasbert.files.atomic import atomic_file
from kerasbert.files.own_files import PLOT, check_own, mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

_COLORS = ("tab:blue", "tab:orange", "tab:green", "tab:purple")


def write_picture(path: Path, comparison: ComparisonRecord) -> Path:
    """Write the picture.

    Args:
        path: The file, `.png` or `.svg`.
        comparison: The comparison.

    Raises:
        KerasBertError: When a file is there that is no plot of kerasbert's.
    """
    from matplotlib.figure import Figure

    charts = cost_points(comparison)
    figure = Figure(figsize=(5.2 * len(charts), 4.4), layout="constrained")
    all_axes = figure.subplots(1, len(charts), sharey=True, squeeze=False).ravel()
    for axes, (label, points) in zip(all_axes, charts.items(), strict=True):
        _draw(axes, points, label)
    all_axes[0].set_ylabel(f"{comparison.metric} on {comparison.data}")
    handles, names = all_axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=min(len(names), 3), frameon=False)
    check_own(path, PLOT, "a plot")
    with atomic_file(path) as partial:
        suffix = path.suffix.removeprefix(".")
        metadata = {"Title" if suffix == "svg" else "Software": mark(PLOT)}
        figure.savefig(partial, format=suffix, dpi=120, metadata=metadata)
    return path


def _draw(axes: Axes, points: Sequence[Point], label: str) -> None:
    best, widest = frontier(points), max(each.x for each in points)
    axes.plot([each.x for each in best], [each.y for each in best], color="grey", linestyle="--", linewidth=1, zorder=1)
    for number, point in enumerate(points):
        low, high = (point.y if bound is None else bound for bound in (point.low, point.high))
        axes.errorbar(
            [point.x], [point.y], yerr=[[max(point.y - low, 0.0)], [max(high - point.y, 0.0)]], fmt="o", capsize=3,
            color=_COLORS[number % len(_COLORS)], label=f"{number + 1} {point.name}",
        )  # fmt: skip
        # Numbers of points in the same place stand above each other.
        above = sum(abs(other.x - point.x) < 0.03 * widest and other.y == point.y for other in points[:number])
        axes.annotate(str(number + 1), (point.x, point.y), xytext=(6, 4 + 11 * above), textcoords="offset points")
    axes.set_xlim(0, 1.08 * widest)
    axes.set_xlabel(label)
    axes.grid(alpha=0.3)
