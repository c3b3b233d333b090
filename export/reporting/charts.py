"""Charts as inline SVG. The page's CSS variables colour them, so that they follow light and dark mode. All text is escaped."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from html import escape

import numpy as np

SERIES = ("var(--blue)", "var(--orange)", "var(--green)", "var(--violet)")
WIDTH, HEIGHT = 440, 270
_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 14, 14, 44
_BAR, _GAP, _LINE = 26, 12, 18
_BESIDE, _ABOVE = 22, 60  # the most characters of a label beside its bar, and above it; about 8 units each


def bar_chart(
    bars: Sequence[tuple[str, float]],
    format_value: Callable[[float], str],
    colors: Sequence[str] | None = None,
    floor: float = 0.0,
) -> str:
    """Draw horizontal bars with their value at the end. Bars of one label are grouped, and a long label is written above its bar.

    Args:
        bars: The label and the value of each bar.
        format_value: Formats a value.
        colors: CSS colours, used in turn.
        floor: The start of the axis, which is written below the bars if it is not 0.
    """
    values, colors = [value for _, value in bars], colors or SERIES[:1]
    span = max([value - floor for value in values if np.isfinite(value)], default=0) or 1.0
    longest = max((len(label) for label, _ in bars), default=1)
    is_beside = longest <= _BESIDE
    left = 14 + 8 * longest if is_beside else 0
    room = WIDTH - left - 84
    parts, y, previous = [], 4, None
    for number, (label, value) in enumerate(bars):
        width = max(0.0, min(1.0, (value - floor) / span)) * room if np.isfinite(value) else 0
        color = colors[number % len(colors)]
        if label == previous:
            y -= _GAP - 3  # bars of one label are grouped
        elif is_beside:
            parts.append(f'<text class="label" x="{left - 10}" y="{y + 17}" text-anchor="end">{escape(label)}</text>')
        else:
            for line in _wrapped(label):
                parts.append(f'<text class="label" x="0" y="{y + 12}">{escape(line)}</text>')
                y += _LINE
        parts.append(
            f'<rect x="{left}" y="{y}" width="{max(width, 1):.1f}" height="{_BAR}" rx="3" fill="{color}"/>'
            f'<text class="value" x="{left + max(width, 1) + 8:.1f}" y="{y + 17}">{escape(format_value(value))}</text>'
        )
        y += _BAR + _GAP
        previous = label
    if floor:
        parts.append(f'<text class="tick" x="{left}" y="{y + 8}">axis starts at {escape(format_value(floor))}</text>')
        y += 18
    return svg(parts, y)


def histogram(values: np.ndarray, x_label: str, bins: int = 30) -> str:
    """Draw a histogram. Counts have a square-root scale, so that single outliers stay visible."""
    values = np.asarray(values, np.float64)
    values = values[np.isfinite(values)]
    if not values.size:
        return ""
    counts, edges = np.histogram(values, bins=bins, range=(0, max(float(values.max()), 1e-12)))
    frame = Frame((0.0, float(edges[-1])), (0.0, float(np.sqrt(counts.max()))))
    parts = frame.axes(x_label, "count (square-root scale)", format_y=lambda v: f"{v * v:.0f}")
    for count, low, high in zip(counts, edges[:-1], edges[1:], strict=True):
        if count:
            x, top = frame.x(low), frame.y(np.sqrt(count))
            width = max(frame.x(high) - x - 1, 1)
            parts.append(
                f'<rect x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" '
                f'height="{frame.y(0) - top:.1f}" fill="{SERIES[0]}"/>'
            )
    return svg(parts, HEIGHT)


def scatter(pairs: Mapping[str, tuple[np.ndarray, np.ndarray]], x_label: str, y_label: str, most: int = 600) -> str:
    """Draw points against the diagonal, on which both sides agree.

    Args:
        pairs: The x and y values of each series by name.
        x_label: The label of the x axis.
        y_label: The label of the y axis.
        most: The most points of a series, sampled evenly.
    """
    finite = {name: _finite_pairs(*sides, most) for name, sides in pairs.items()}
    everything = np.concatenate([np.concatenate(sides) for sides in finite.values()]) if finite else np.zeros(0)
    if not everything.size:
        return ""
    low, high = float(everything.min()), float(everything.max())
    margin = 0.03 * (high - low) or 0.5
    frame = Frame((low - margin, high + margin), (low - margin, high + margin))
    parts = frame.axes(x_label, y_label)
    start, end = low - margin, high + margin
    parts.append(
        f'<line class="diagonal" x1="{frame.x(start):.1f}" y1="{frame.y(start):.1f}" '
        f'x2="{frame.x(end):.1f}" y2="{frame.y(end):.1f}"/>'
    )
    for number, (x, y) in enumerate(finite.values()):
        color = SERIES[number % len(SERIES)]
        parts += [
            f'<circle cx="{frame.x(a):.1f}" cy="{frame.y(b):.1f}" r="2.6" fill="{color}" opacity=".55"/>'
            for a, b in zip(x, y, strict=True)
        ]
    return svg(parts, HEIGHT) + (legend(list(finite)) if len(finite) > 1 else "")


def line_chart(series: Mapping[str, Sequence[tuple[float, float]]], x_label: str, y_label: str) -> str:
    """Draw one line for each series, such as a training history: `{"loss": [(epoch, value), ...]}`."""
    points = {name: [(x, y) for x, y in line if np.isfinite(x) and np.isfinite(y)] for name, line in series.items()}
    points = {name: line for name, line in points.items() if line}
    if not points:
        return ""
    xs, ys = zip(*(point for line in points.values() for point in line), strict=True)
    margin = 0.06 * (max(ys) - min(ys)) or 0.5
    frame = Frame((min(xs), max(xs)), (min(ys) - margin, max(ys) + margin))
    parts = frame.axes(x_label, y_label, whole=all(x == round(x) for x in xs))
    for number, line in enumerate(points.values()):
        color = SERIES[number % len(SERIES)]
        path = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in line)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        if len(line) <= 40:
            parts += [f'<circle cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="3" fill="{color}"/>' for x, y in line]
    return svg(parts, HEIGHT) + legend(list(points))


class Frame:
    """Maps data to picture coordinates and draws axes with round ticks.

    Args:
        x_range: The smallest and the largest x.
        y_range: The smallest and the largest y.
    """

    def __init__(self, x_range: tuple[float, float], y_range: tuple[float, float]):
        self.x_range, self.y_range = _non_empty(*x_range), _non_empty(*y_range)

    def x(self, value: float) -> float:
        """Return the place of an x in the picture."""
        low, high = self.x_range
        return _LEFT + (value - low) / (high - low) * (WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        """Return the place of a y in the picture, which counts from the top."""
        low, high = self.y_range
        return HEIGHT - _BOTTOM - (value - low) / (high - low) * (HEIGHT - _TOP - _BOTTOM)

    def axes(
        self, x_label: str, y_label: str, format_y: Callable[[float], str] | None = None, whole: bool = False
    ) -> list[str]:
        """Return the markup of both axes. `whole`: whether the x axis has ticks at whole numbers only."""
        parts = []
        for value in _ticks(*self.y_range):
            y, text = self.y(value), (format_y or _tick)(value)
            parts.append(f'<line class="grid" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{escape(text)}</text>')
        bottom = HEIGHT - _BOTTOM
        for value in _ticks(*self.x_range):
            if whole and value != round(value):
                continue
            parts.append(
                f'<text class="tick" x="{self.x(value):.1f}" y="{bottom + 17}" '
                f'text-anchor="middle">{escape(_tick(value))}</text>'
            )
        middle = (_TOP + bottom) / 2
        parts.append(
            f'<text class="axis" x="{(_LEFT + WIDTH - _RIGHT) / 2}" y="{HEIGHT - 6}" '
            f'text-anchor="middle">{escape(x_label)}</text>'
        )
        parts.append(
            f'<text class="axis" transform="translate(12 {middle}) rotate(-90)" '
            f'text-anchor="middle">{escape(y_label)}</text>'
        )
        return parts


def svg(parts: Sequence[str], height: float) -> str:
    """Return a picture of `WIDTH` by `height` units that fills its box."""
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img">{"".join(parts)}</svg>'


def legend(names: Sequence[str]) -> str:
    """Return a legend of names, coloured in the order of `SERIES`."""
    keys = (
        f'<span><i style="background:{SERIES[number % len(SERIES)]}"></i>{escape(name)}</span>'
        for number, name in enumerate(names)
    )
    return f'<p class="legend">{"".join(keys)}</p>'


def _ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers inside a range, spaced by 1, 2 or 5 times a power of ten."""
    step = 10.0 ** np.floor(np.log10((high - low) / most))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= most)
    return [number * step for number in range(int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9)) + 1)]


def _tick(value: float) -> str:
    return "0" if abs(value) < 1e-15 else f"{value:.3g}"


def _non_empty(low: float, high: float) -> tuple[float, float]:
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _finite_pairs(x: np.ndarray, y: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.ravel(x).astype(np.float64), np.ravel(y).astype(np.float64)
    keep = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(keep) > most:
        keep = keep[np.linspace(0, len(keep) - 1, most).round().astype(int)]
    return x[keep], y[keep]


def _wrapped(text: str) -> list[str]:
    """Return lines that fit above a bar, broken at blanks where there are any."""
    return textwrap.wrap(text, _ABOVE) or [""]
