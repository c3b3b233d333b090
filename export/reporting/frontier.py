"""A chart of models by cost and score, in which those are joined that no other one beats in both."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from kerasbert.export.reporting.charts import HEIGHT, SERIES, Frame, legend, svg

_RADIUS, _BARB = 4.5, 4.0
_LABEL = 9.0  # the size of a label's box, about that of a digit
# Places of a label beside its point, the first one free is taken.
_PLACES = ((10, 4), (-10, 4), (9, -8), (-9, -8), (9, 16), (-9, 16), (0, -12), (0, 20))


@dataclass(frozen=True)
class Point:
    """A model in a chart.

    Attributes:
        name: Its name.
        x: The cost, which is better if it is smaller.
        y: The score, which is better if it is larger.
        low: The lower bound of the score; None if it is not known.
        high: The upper bound of the score.
    """

    name: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None


def frontier(points: Sequence[Point]) -> list[Point]:
    """Return the points that no other one beats: none is as cheap and better, or as good and cheaper. The cheapest is the first."""
    best: list[Point] = []
    for point in sorted(points, key=lambda each: (each.x, -each.y)):
        if not best or point.y > best[-1].y:
            best.append(point)
    return best


def frontier_chart(points: Sequence[Point], x_label: str, y_label: str) -> str:
    """Draw numbered points with the bounds of their scores, and a line through the best ones.

    Args:
        points: The points. Those that are not finite are left out.
        x_label: The label of the x axis, which starts at 0.
        y_label: The label of the y axis.
    """
    shown = [each for each in points if math.isfinite(each.x) and math.isfinite(each.y)]
    if not shown:
        return ""
    lows = [each.y if each.low is None else each.low for each in shown]
    highs = [each.y if each.high is None else each.high for each in shown]
    margin = 0.06 * (max(highs) - min(lows)) or 0.02
    frame = Frame((0.0, 1.06 * max(each.x for each in shown)), (min(lows) - margin, max(highs) + margin))
    parts = frame.axes(x_label, y_label)
    line = " ".join(f"{frame.x(each.x):.1f},{frame.y(each.y):.1f}" for each in frontier(shown))
    parts.append(f'<polyline class="diagonal" points="{line}" fill="none"/>')
    taken = [(frame.x(each.x), frame.y(each.y)) for each in shown]
    for number, (point, low, high) in enumerate(zip(shown, lows, highs, strict=True)):
        color = SERIES[number % len(SERIES)]
        parts += _bounds(frame, point, low, high, color)
        parts += _marker(frame, point, number + 1, color, taken)
    return svg(parts, HEIGHT) + legend([f"{number} {each.name}" for number, each in enumerate(shown, 1)])


def _bounds(frame: Frame, point: Point, low: float, high: float, color: str) -> list[str]:
    if high <= low:
        return []
    x, top, bottom = frame.x(point.x), frame.y(high), frame.y(low)
    ends = "".join(f"M{x - _BARB:.1f} {y:.1f}h{2 * _BARB:.1f}" for y in (top, bottom))
    return [
        f'<path d="M{x:.1f} {top:.1f}V{bottom:.1f}{ends}" stroke="{color}" stroke-width="1.5" opacity=".6" fill="none"/>'
    ]


def _marker(frame: Frame, point: Point, number: int, color: str, taken: list[tuple[float, float]]) -> list[str]:
    """Draw a point and its number, where no other label or point is; `taken` gets the place of the number."""
    x, y = frame.x(point.x), frame.y(point.y)
    title = f"<title>{escape(point.name)}</title>"
    free = [
        (dx, dy)
        for dx, dy in _PLACES
        if all(math.hypot(x + dx - a, y + dy - 4 - b) > _LABEL for a, b in taken if (a, b) != (x, y))
    ]
    dx, dy = (free or _PLACES)[0]
    taken.append((x + dx, y + dy - 4))
    return [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}" fill="{color}">{title}</circle>',
        f'<text class="value" x="{x + dx:.1f}" y="{y + dy:.1f}" text-anchor="middle">{number}</text>',
    ]
