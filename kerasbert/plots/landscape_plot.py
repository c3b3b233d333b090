"""The loss around a start and what was trained from it: along the line between both, and over a plane through a third model."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from kerasbert.arguments import check_whole_number
from kerasbert.console.progress import Progress
from kerasbert.errors import KerasBertError
from kerasbert.export.reporting import markup
from kerasbert.export.reporting.charts import line_chart
from kerasbert.plots.labelled_data import labelled_data
from kerasbert.plots.loss_surface import LossSurface, difference, weights_of
from kerasbert.plots.plot import Plot
from kerasbert.processors.embedding import Embedding
from kerasbert.tasks.base import Task, check_task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LINE = (-1.0, 2.0)  # steps along a line: 0 is its start, 1 its end
_PLANE = (-0.5, 1.5)
_SIZE = 440  # of the picture of a page


@dataclass(frozen=True, eq=False)
class LandscapePlot(Plot):
    """The loss on lines from a start to what was trained from it, and on a plane through three models.

    Attributes:
        steps: The points of each line, `(points,)`: 0 is the start, and 1 is what was trained from it.
        lines: The losses of each line by its name, `(points,)`.
        plane_steps: The points of both axes of the plane, `(points,)`; none without a third model.
        plane: The losses of the plane, `(points, points)`. The second axis goes from the start to what was trained from it, and the first
            one to the third model; the start is at 0 of both.
        names: The names of the three models.

    Example:
        ```python
        start = kb.TextClassifier.from_pretrained("small-en", **task.head_config())
        plot = kb.plots.landscape(start, task, (texts, labels), points=3)
        plot.lines
        ```
    """

    steps: np.ndarray
    lines: Mapping[str, np.ndarray]
    plane_steps: np.ndarray
    plane: np.ndarray
    names: tuple[str, str, str] = ("start", "fine-tuned", "third")
    height = 700

    def title(self) -> str:
        return "The loss around a model"

    def points(self) -> list[tuple[str, float, float]]:
        """Return the name and the place of each model on the plane."""
        return [(name, float(x), float(y)) for name, x, y in zip(self.names, (0, 1, 0), (0, 0, 1), strict=True)]

    def figure(self) -> "Figure":
        from matplotlib.figure import Figure

        count = 2 if self.plane.size else 1
        figure = Figure(figsize=(5.6 * count, 4.4), layout="constrained")
        left, *others = figure.subplots(1, count, squeeze=False).ravel()
        for name, losses in self.lines.items():
            left.plot(self.steps, losses, marker="o", markersize=3, label=name)
        left.set_xlabel("0: start, 1: trained")
        left.set_ylabel("loss")
        left.grid(alpha=0.3)
        left.legend(frameon=False)
        for axes in others:
            filled = axes.contourf(self.plane_steps, self.plane_steps, self.plane, levels=20, cmap="Blues")
            axes.contour(self.plane_steps, self.plane_steps, self.plane, levels=20, colors="black", linewidths=0.3)
            for name, x, y in self.points():
                axes.plot(x, y, "o", color="tab:orange")
                axes.annotate(name, (x, y), xytext=(5, 5), textcoords="offset points", fontsize=9, parse_math=False)
            axes.set_xlabel(f"towards {self.names[1]}", parse_math=False)
            axes.set_ylabel(f"towards {self.names[2]}", parse_math=False)
            figure.colorbar(filled, ax=axes, label="loss")
        return figure

    def to_dict(self) -> dict[str, Any]:
        lines = {name: losses.tolist() for name, losses in self.lines.items()}
        plane = {"steps": self.plane_steps.tolist(), "losses": self.plane.tolist()} if self.plane.size else None
        return {"models": list(self.names), "steps": self.steps.tolist(), "lines": lines, "plane": plane}

    def body(self) -> str:
        series = {
            name: list(zip(self.steps.tolist(), losses.tolist(), strict=True)) for name, losses in self.lines.items()
        }
        note = "<p class='note'>At 0 stands the start of each line, and at 1 what was trained from it.</p>"
        cards = [markup.card("Along lines", line_chart(series, "step", "loss"), note)]
        if self.plane.size:
            low, high = np.nanmin(self.plane), np.nanmax(self.plane)
            text = f"Loss from {low:.3f} to {high:.3f}; the stronger the colour, the higher."
            cards.append(markup.card("Over a plane", self._picture(), f"<p class='note'>{text}</p>"))
        return markup.grid(cards)

    def _picture(self) -> str:
        """Return the plane as SVG."""
        count, (low, high) = len(self.plane_steps), (self.plane_steps[0], self.plane_steps[-1])
        cell = _SIZE / count
        lowest, span = float(np.nanmin(self.plane)), float(np.nanmax(self.plane) - np.nanmin(self.plane)) or 1.0
        parts = []
        for (row, column), loss in np.ndenumerate(self.plane):
            place = f'x="{column * cell:.2f}" y="{(count - 1 - row) * cell:.2f}" width="{cell:.2f}" height="{cell:.2f}"'
            share = float(np.nan_to_num((loss - lowest) / span, nan=1.0))
            shown = f"{loss:.4f}" if np.isfinite(loss) else "not finite"
            parts.append(f'<rect {place} fill="var(--blue)" fill-opacity="{share:.3f}"><title>{shown}</title></rect>')
        for name, x, y in self.points():
            across, up = ((value - low) / (high - low) * (_SIZE - cell) + cell / 2 for value in (x, y))
            anchor, shift = ("end", -9) if across > _SIZE / 2 else ("start", 9)
            parts.append(
                f'<circle class="mark" cx="{across:.1f}" cy="{_SIZE - up:.1f}" r="5"/>'
                f'<text class="name" x="{across + shift:.1f}" y="{_SIZE - up - 7:.1f}" text-anchor="{anchor}">{escape(name)}</text>'
            )
        return f'<svg viewBox="0 0 {_SIZE} {_SIZE}" role="img">{"".join(parts)}</svg>'


def landscape(
    start: Task,
    tuned: Task,
    data: Any,
    *,
    random: tuple[Task, Task] | None = None,
    other: Task | None = None,
    points: int = 25,
    plane_points: int = 9,
    progress: Progress | None = None,
) -> LandscapePlot:
    """Compute the loss on the line from a start to what was trained from it, and on a plane (Hao et al. 2019).

    The lines go on to both sides: from -1 to 2. The plane goes through `start`, `tuned` and a third model, from -0.5 to 1.5 on both axes.

    Args:
        start: The task before its training, such as a checkpoint with a new head.
        tuned: The same task afterwards.
        data: Labelled data: a dataset of `kb.data`, a file, or a pair of examples and labels. Some hundred rows are enough.
        random: The same task with random weights, and what was trained from it: adds a line, and is the third model.
        other: A third model for the plane in place of that, such as one of another seed.
        points: Points of a line.
        plane_points: Points of each axis of the plane.
        progress: Receives the progress.

    Returns:
        The plot.

    Raises:
        KerasBertError: When the models have other sizes, are quantized, or labels cannot be used.

    Example:
        ```python
        start = kb.TextClassifier.from_pretrained("small-en", **task.head_config())
        plot = kb.plots.landscape(start, task, (texts, labels), points=7)
        plot.save("landscape.png")
        ```
    """
    progress = progress or Progress()
    _check_models(start, tuned, *(random or ()), *([] if other is None else [other]))
    steps = np.linspace(*_LINE, check_whole_number(points, "points", 2))
    plane_steps = np.linspace(*_PLANE, check_whole_number(plane_points, "points of the plane", 2))
    dataset = labelled_data(tuned, data)
    origin = weights_of(start)
    towards = difference(weights_of(tuned), origin)
    surface = LossSurface(tuned.with_dropout(0.0), dataset, progress)
    lines = {"fine-tuned from the checkpoint": surface.line(origin, towards, steps.tolist(), "loss along the line")}
    third = other
    if random is not None:
        at_random = weights_of(random[0])
        lines["trained from random weights"] = surface.line(
            at_random, difference(weights_of(random[1]), at_random), steps.tolist(), "loss from random weights"
        )
        third = other or random[1]
    plane = np.zeros((0, 0))
    if third is not None:
        plane = surface.plane(
            origin, towards, difference(weights_of(third), origin), plane_steps.tolist(), "loss over the plane"
        )
    names = ("start", "fine-tuned", "third model" if other is not None else "trained from random")
    return LandscapePlot(steps, lines, plane_steps[: len(plane)], plane, names)


def _check_models(start: Task, tuned: Task, *others: Task) -> None:
    """Check that tasks are in float, and that they learn labels."""
    for each in (start, tuned, *others):
        check_task(each)
        if each.policy:
            raise KerasBertError(
                "expected models in float, received a quantized one; name the one that it was quantized from"
            )
    if tuned.processor.self_supervised or isinstance(tuned.processor, Embedding):
        raise KerasBertError(
            f"expected a task that learns labels, such as kb.TextClassifier, received {type(tuned).__name__}; name another"
        )
